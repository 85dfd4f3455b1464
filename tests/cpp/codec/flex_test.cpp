// The values of flexible messages: vectors, bounds, what does not travel, and bytes that lie. The Python
// tests read the same files.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>

#include "flex_notation.hpp"
#include "mf/codec/flex/attributes.hpp"

namespace mf::flex {
namespace {

using testing::bytes_of;
using testing::load_vectors;
using testing::text_of;
using testing::value_of;
namespace json = boost::json;

Bytes bytes(std::string_view hex) {
  return testing::bytes_of(json::value(std::string(hex)));
}

using ByName = std::map<std::string, int>;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.execution(), Execution::not_executed);
    return error.message();
  }
  return "nothing was refused";
}

TEST(FlexValues, HaveTheBytesOfTheirVectorsAndAreReadFromThem) {
  const auto vectors = load_vectors("values.json");
  ASSERT_GE(vectors.as_array().size(), 70U);
  for (const auto& vector : vectors.as_array()) {
    SCOPED_TRACE(text_of(vector.at("name")));
    const auto value = value_of(vector.at("value"));
    const auto written = encode(value);
    EXPECT_EQ(codec::to_hex(written.span()), codec::to_hex(bytes_of(vector.at("hex")).span()));
    const auto read = decode(bytes_of(vector.at("hex")));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, value);
  }
}

TEST(FlexValues, OfMessagesHaveTheBytesOfTheirVectorsAndAreReadFromThem) {
  const auto vectors = load_vectors("messages.json");
  for (const auto& vector : vectors.as_array()) {
    SCOPED_TRACE(text_of(vector.at("name")));
    Attributes attributes;
    for (const auto& [name, value] : vector.at("attributes").as_object())
      attributes.set(std::string(name), value_of(value));
    EXPECT_EQ(codec::to_hex(encode_attributes(attributes).span()),
              codec::to_hex(bytes_of(vector.at("hex")).span()));
    const auto read = decode_attributes(bytes_of(vector.at("hex")));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, attributes);
  }
}

template <class Read>
void expect_refusals(const char* kind, Read&& read) {
  const auto vectors = load_vectors("hostile.json");
  for (const auto& vector : vectors.at(kind).as_array()) {
    SCOPED_TRACE(text_of(vector.at("name")));
    const auto value = read(bytes_of(vector.at("hex")));
    ASSERT_FALSE(value);
    std::string fault(to_string(value.error().fault));
    for (auto& each : fault) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
    EXPECT_EQ(fault, text_of(vector.at("fault")));
    EXPECT_EQ(value.error().offset, vector.at("offset").to_number<std::size_t>());
    EXPECT_EQ(value.error().path, text_of(vector.at("path")));
  }
}

TEST(FlexValues, FromHostileBytesAreRefusedWithFaultPlaceAndPath) {
  expect_refusals("values", [](const Bytes& bytes) { return decode(bytes); });
  expect_refusals("messages", [](const Bytes& bytes) { return decode_attributes(bytes); });
}

TEST(FlexValues, AreRefusedWhenTheyAreCutOff) {
  const auto vectors = load_vectors("values.json");
  for (const auto& vector : vectors.as_array()) {
    SCOPED_TRACE(text_of(vector.at("name")));
    const auto whole = bytes_of(vector.at("hex"));
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(decode(Bytes(whole.span().first(size)))) << "of " << size << " bytes";
  }
}

TEST(FlexValues, OfChangedBytesAreRefusedOrWrittenAsTheseBytes) {
  std::vector<Bytes> vectors;
  const auto all = load_vectors("values.json");
  for (const auto& vector : all.as_array())
    if (auto each = bytes_of(vector.at("hex")); each.size() < 100) vectors.push_back(std::move(each));
  std::mt19937 dice(20'261'125);
  const auto below = [&dice](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(dice);
  };
  int read = 0;
  constexpr int kRuns = 20'000;
  for (int run = 0; run < kRuns; ++run) {
    auto changed = vectors[below(vectors.size())].to_vector();
    for (auto changes = below(3) + 1; changes != 0; --changes)
      changed[below(changed.size())] = static_cast<std::byte>(below(2) == 0 ? below(20) : below(256));
    const Bytes bytes(changed);
    const auto value = decode(bytes);
    if (!value) {
      EXPECT_LE(value.error().offset, bytes.size());
      continue;
    }
    ++read;
    EXPECT_EQ(codec::to_hex(encode(*value).span()), codec::to_hex(bytes.span()));
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, kRuns);
}

TEST(FlexValues, ThatWouldTakeMoreMemoryThanAllowedAreRefused) {
  std::string map = "1064";
  for (int i = 0; i < 100; ++i) map += "03" + codec::to_hex(std::vector{static_cast<std::byte>(i)}) + "00";
  for (const auto& hex : {"0de807" + std::string(2000, '0'), "0ea01f" + std::string(2000, '0'), map}) {
    EXPECT_TRUE(decode(bytes(hex)));
    const auto value = decode(bytes(hex), {.decoded_bytes = 10'000});
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().fault, Fault::budget_exceeded);
  }
}

TEST(FlexValues, SayWhatTheyAre) {
  EXPECT_EQ(Value().kind(), Kind::none);
  EXPECT_EQ(Value(nullptr).kind(), Kind::none);
  EXPECT_EQ(Value(true).kind(), Kind::boolean);
  EXPECT_EQ(Value(1).kind(), Kind::integer);
  EXPECT_EQ(Value(~std::uint64_t{0}).kind(), Kind::integer);
  EXPECT_EQ(Value(1.0).kind(), Kind::f64);
  EXPECT_EQ(Value("a").kind(), Kind::text);
  EXPECT_EQ(Value(std::vector<std::byte>{}).kind(), Kind::bytes);
  EXPECT_EQ(Value(Uuid()).kind(), Kind::uuid);
  EXPECT_EQ(Value(Timestamp()).kind(), Kind::timestamp);
  EXPECT_EQ(Value({1, 2, "three"}).kind(), Kind::list);
  EXPECT_EQ(Value(Map{{"a", 1}}).kind(), Kind::map);
  EXPECT_EQ(Value(Array(std::vector<double>{1, 2})).kind(), Kind::array);
  EXPECT_EQ(Value(Typed("a.B", {}, {})).kind(), Kind::declared);
  EXPECT_EQ(Value(std::optional<int>()).kind(), Kind::none);
  EXPECT_TRUE(Value(5).is<int>());
  EXPECT_TRUE(Value("a").is<std::string>());
  EXPECT_FALSE(Value(5).is<double>());
  EXPECT_TRUE(Value(List{1}).is<List>());
}

TEST(FlexValues, AreEqualIfKindAndValueAre) {
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value(1), Value(true));
  EXPECT_NE(Value(0.0), Value(-0.0));
  EXPECT_EQ(Value(std::uint8_t{7}), Value(std::int64_t{7}));
  EXPECT_EQ(Value(std::numeric_limits<double>::quiet_NaN()), Value(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_EQ(Value(std::vector<int>{1, 2}), Value({1, 2}));
  EXPECT_EQ(Value(std::map<std::string, int>{{"b", 1}, {"a", 2}}), Value(Map{{"a", 2}, {"b", 1}}));
  EXPECT_NE(Value(Map{{"a", 2}}), Value(Map{{"a", 3}}));
}

TEST(FlexValues, BecomeValuesOfCppIfTheyFit) {
  EXPECT_EQ(Value(200).to<std::uint8_t>(), 200);
  EXPECT_EQ(Value(~std::uint64_t{0}).to<std::uint64_t>(), ~std::uint64_t{0});
  EXPECT_EQ(Value(3).to<double>(), 3.0);
  EXPECT_EQ(Value({1, 2}).to<std::vector<int>>(), (std::vector<int>{1, 2}));
  EXPECT_EQ(Value(Array(std::vector<double>{1, 2})).to<std::vector<double>>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(Value(Map{{"a", 1}}).to<ByName>(), (std::map<std::string, int>{{"a", 1}}));
  EXPECT_EQ(Value().to<std::optional<int>>(), std::nullopt);
  EXPECT_EQ(Value(5).to<std::optional<int>>(), 5);
  EXPECT_EQ(refusal([] { (void)Value(256).to<std::uint8_t>(); }), "the integer is not from 0 to 255: 256");
  EXPECT_EQ(refusal([] { (void)Value(-1).to<std::uint64_t>(); }),
            "the integer is not from 0 to 18446744073709551615: -1");
  EXPECT_EQ(refusal([] { (void)Value(~std::uint64_t{0}).to<std::int64_t>(); }),
            "the integer is not from -9223372036854775808 to 9223372036854775807: 18446744073709551615");
  EXPECT_EQ(refusal([] { (void)Value("five").to<int>(); }), "the value is of text, not of integer: 'five'");
  EXPECT_EQ(refusal([] { (void)Value(1.5).get<List>(); }), "the value is of f64, not of list: 1.5");
}

TEST(FlexValues, ThatDoNotTravelAreRefusedWithTheirPath) {
  const Value no_text("\xff");
  EXPECT_EQ(refusal([&] { (void)encode(Value({1, Map{{"a", List{no_text}}}}), "data"); }),
            "data[1]['a'][0]: a text that is no UTF-8 does not travel: make it Bytes");
  Value deep(List{});
  for (int i = 0; i < 63; ++i) deep = Value(List{deep});
  EXPECT_EQ(decode(encode(deep)).value(), deep);
  EXPECT_TRUE(refusal([&] { (void)encode(Value(List{deep})); }).ends_with("nested deeper than 64"));
  EXPECT_EQ(refusal([] { (void)encode_attributes({{"src", 1}}); }),
            "'src' is no attribute of a program: the runtime sets it");
  EXPECT_EQ(refusal([] { (void)encode_attributes({{"", 1}}); }),
            "the name of an attribute has 1 to 255 bytes, not 0");
  EXPECT_EQ(refusal([] { (void)Attributes{{"a", 1}, {"a", 2}}; }), "the attribute 'a' is given twice");
  EXPECT_EQ(refusal([] { (void)Map{{1.5, 1}}; }), "a key is of f64: keys are integer, text, bytes or uuid");
}

TEST(FlexArrays, OfAMessageLookIntoItsBytesIfTheyAreLarge) {
  std::vector<double> numbers(10'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  const auto message = encode_attributes({{"n", 1}, {"x", Array(numbers, {100, 100})}});
  const auto read = decode_attributes(message).value();
  const auto& array = read.find("x")->get<Array>();
  EXPECT_TRUE(array.bytes().shares_with(message));
  EXPECT_EQ(array.shape(), (Array::Shape{100, 100}));
  EXPECT_EQ(array.view<double>().to_vector(), numbers);
  ASSERT_TRUE(array.view<double>().span());  // these bytes begin at an aligned address
  EXPECT_EQ(array.view<double>().span()->data(), reinterpret_cast<const double*>(array.bytes().data()));
}

TEST(FlexArrays, AreWhatTheirShapeSays) {
  EXPECT_EQ(refusal([] { (void)Array(std::vector<float>{1, 2, 3}, {2, 2}); }),
            "12 bytes are not the elements of an array of float32 in this shape");
  EXPECT_EQ(refusal([] { (void)Array(std::vector<float>{}, Array::Shape(17, 0)); }),
            "an array of 17 dimensions does not travel: at most 16");
  EXPECT_EQ(refusal([] { (void)Array(Dtype::boolean, {1}, Bytes{std::byte{2}}); }),
            "an array of bool has an element that is neither 0 nor 1");
  EXPECT_EQ(refusal([] { (void)Array(std::vector<float>{1}).view<double>(); }),
            "the array is of float32, not of float64");
  EXPECT_EQ(Array(std::vector<float>{}, {0, 3}).size(), 0U);
}

TEST(FlexValues, AreShownInWords) {
  EXPECT_EQ(to_string(Value({1, "it's", Map{{"a", 2.0}}, nullptr, true})),
            "[1, 'it\\'s', {'a': 2.0}, none, true]");
  EXPECT_EQ(to_string(Value(std::vector<int>(9))), "<list of 9>");
  EXPECT_EQ(to_string(Value(Array(std::vector<float>{1, 2}, {2, 1}))), "<array float32 2x1>");
  EXPECT_EQ(to_string(Value(Typed("a.B", {}, {}))), "<a.B of 0 bytes>");
}

}  // namespace
}  // namespace mf::flex
