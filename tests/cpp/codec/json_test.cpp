// tests/vectors/json: texts that are read, and what is refused, which the Python tests read too; and floats
// whose digits others gave.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <boost/json.hpp>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/json_custom.hpp"
#include "vectors/json.json.hpp"

namespace plane {

struct Point {
  int x = 0;
};

struct Codec {
  static std::size_t size(const Point& /*point*/) { return 1; }
  static void write(std::span<std::byte> to, const Point& point) { to[0] = static_cast<std::byte>(point.x); }
  static bool read(std::span<const std::byte> from, Point& point) {
    point.x = from.size() == 1 ? std::to_integer<int>(from[0]) : 0;
    return from.size() == 1;
  }
};

}  // namespace plane

namespace mf::codec {

template <>
struct Custom<plane::Point> {
  using Codec = plane::Codec;
};

namespace {

namespace json = boost::json;
namespace types = vectors::json;

struct Case {
  std::string type;
  std::string text;
  std::optional<std::string> canonical;
  std::string fault;
  std::uint64_t offset = 0;
  std::string path;
};

json::value read_file(const std::string& name) {
  std::ifstream stream(MF_SOURCE_DIR "/tests/vectors/json/" + name);
  std::stringstream text;
  text << stream.rdbuf();
  return json::parse(text.str());
}

std::string text_of(const json::object& from) {
  if (const auto* text = from.if_contains("text")) {
    return std::string(text->as_string());
  }
  const ByteVector bytes = from_hex(from.at("hex").as_string());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  const json::value all = read_file("cases.json");
  for (const json::value& each : all.as_array()) {
    const json::object& from = each.as_object();
    Case made{std::string(from.at("type").as_string()), text_of(from), {}, {}, 0, {}};
    if (const auto* canonical = from.if_contains("canonical")) {
      made.canonical = std::string(canonical->as_string());
    } else {
      made.fault = from.at("fault").as_string();
      made.offset = from.at("offset").to_number<std::uint64_t>();
      made.path = from.at("path").as_string();
    }
    cases.push_back(made);
  }
  return cases;
}

template <class T>
void check(const Case& given) {
  const auto read = from_json<T>(given.text);
  if (!given.canonical) {
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(to_string(read.error().fault), given.fault) << read.error().message();
    EXPECT_EQ(read.error().offset, given.offset) << read.error().message();
    EXPECT_EQ(read.error().path, given.path) << read.error().message();
    return;
  }
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(to_json(*read), *given.canonical);
  const auto again = from_json<T>(*given.canonical);
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(to_json(*again), *given.canonical);
}

const std::map<std::string, std::function<void(const Case&)>>& checks() {
  static const std::map<std::string, std::function<void(const Case&)>> known{
      {"bool", check<bool>},
      {"u8", check<std::uint8_t>},
      {"i8", check<std::int8_t>},
      {"u16", check<std::uint16_t>},
      {"i16", check<std::int16_t>},
      {"u32", check<std::uint32_t>},
      {"i32", check<std::int32_t>},
      {"u64", check<std::uint64_t>},
      {"i64", check<std::int64_t>},
      {"f32", check<float>},
      {"f64", check<double>},
      {"string", check<std::string>},
      {"bytes", check<Bytes>},
      {"timestamp", check<Timestamp>},
      {"duration", check<Duration>},
      {"uuid", check<Uuid>},
      {"Rank", check<types::Rank>},
      {"Sign", check<types::Sign>},
      {"Lang", check<types::Lang>},
      {"Serial", check<types::Serial>},
      {"Part", check<types::Part>},
      {"Wide", check<types::Wide>},
      {"Empty", check<types::Empty>},
      {"Point", check<types::Point>},
      {"Hit", check<types::Hit>},
      {"Tree", check<types::Tree>},
      {"Defaults", check<types::Defaults>},
      {"Figure", check<types::Figure>},
      {"Maps", check<types::Maps>},
      {"Containers", check<types::Containers>},
      {"Words", check<types::Words>},
      {"Gone", check<types::Gone>},
      {"Node", check<Graph<types::Node>>},
      {"Atlas", check<types::Atlas>},
  };
  return known;
}

TEST(Json, ReadsAndRefusesTextsAsTheLawSays) {
  const std::vector<Case> cases = read_cases();
  EXPECT_GT(cases.size(), 400U);
  for (const Case& each : cases) {
    SCOPED_TRACE(each.type + " " + each.text.substr(0, 200));
    checks().at(each.type)(each);
  }
}

/// Every text of the corpus cut short, or with a byte changed: a value or a clean failure, never more.
TEST(Json, SurvivesWhateverATextIs) {
  for (const Case& each : read_cases()) {
    if (each.text.size() > 400) {
      continue;
    }
    for (std::size_t at = 0; at < each.text.size(); ++at) {
      Case changed{each.type, each.text.substr(0, at), {}, {}, 0, {}};
      for (const char byte : {'\0', '"', '}', ']', ',', ':', '9', '\\', '\x80'}) {
        changed.text = each.text;
        changed.text[at] = byte;
        const auto read = from_json<types::Containers>(changed.text);
        EXPECT_TRUE(read.ok() || read.error().fault != Fault::none);
        EXPECT_TRUE(read.ok() || read.error().offset <= changed.text.size());
      }
    }
  }
}

template <class T, class Bits>
void check_floats(const char* name) {
  const json::value all = read_file("floats.json");
  for (const json::value& each : all.as_object().at(name).as_array()) {
    const std::string_view pattern = each.as_array()[0].as_string();
    const std::string text(each.as_array()[1].as_string());
    Bits bits = 0;
    std::from_chars(pattern.data(), pattern.data() + pattern.size(), bits, 16);
    EXPECT_EQ(to_json(std::bit_cast<T>(bits)), text) << pattern;
    EXPECT_EQ(std::bit_cast<Bits>(from_json<T>(text).value()), bits) << pattern;
  }
}

TEST(Json, GivesFloatsTheDigitsThatOthersGaveThem) {
  check_floats<float, std::uint32_t>("f32");
  check_floats<double, std::uint64_t>("f64");
}

TEST(Json, OffersNamesThatAreNearlyRight) {
  EXPECT_NE(from_json<types::Hit>(R"({"titel":"x"})").error().reason.find("`title`"), std::string::npos);
  EXPECT_NE(from_json<types::Rank>(R"("bm52")").error().reason.find("`bm25`"), std::string::npos);
  EXPECT_NE(from_json<types::Figure>(R"({"circel":1})").error().reason.find("`circle`"), std::string::npos);
  EXPECT_EQ(from_json<types::Hit>(R"({"qqqqq":"x"})").error().reason, "`qqqqq` is not a field");
}

TEST(Json, RefusesToWriteWhatReadersWouldRefuse) {
  types::Tree tree;
  for (int i = 0; i < 40; ++i) {
    types::Tree parent;
    parent.children.push_back(std::move(tree));
    tree = std::move(parent);
  }
  EXPECT_THROW((void)to_json(tree), Error);
  EXPECT_THROW((void)to_json(std::string("\xff")), Error);
  EXPECT_THROW((void)to_json(std::map<std::string, bool>{{"\xc3", true}}), Error);
}

TEST(Json, BoundsMemory) {
  std::string text(1, '[');
  for (int i = 0; i < 20'000; ++i) {
    text += i == 0 ? "{}" : ",{}";
  }
  text += ']';
  EXPECT_EQ(from_json<std::vector<types::Defaults>>(text).value().size(), 20'000U);
  const auto read = from_json<std::vector<types::Defaults>>(text, {.decoded_bytes = 1U << 20U});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().fault, Fault::budget_exceeded);
}

TEST(Json, WritesCustomValuesAsTheirBytes) {
  EXPECT_EQ(to_json(std::vector<plane::Point>{{1}, {255}}), R"(["AQ==","/w=="])");
  EXPECT_EQ(from_json<plane::Point>(R"("/w==")").value().x, 255);
  const auto refused = from_json<std::vector<plane::Point>>(R"(["AQ==", ""])");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault, Fault::custom_codec_failed);
  EXPECT_EQ(refused.error().offset, 9U);
  EXPECT_EQ(refused.error().path, "[1]");
}

TEST(Json, RefusesToWriteAReferenceThatIsNull) {
  Graph<types::Node> graph;
  graph->others.emplace_back();
  EXPECT_THROW((void)to_json(graph), Error);
  EXPECT_THROW((void)to_json(types::Site{.name = "s", .owner = graph.make<types::Node>()}), Error);
}

TEST(Json, ReadsChainsOfAnyLength) {
  Graph<types::Node> graph;
  Ref<types::Node> last(graph.root());
  for (int i = 0; i < 100'000; ++i) {
    last->next = graph.make<types::Node>();
    last = last->next;
  }
  const std::string text = to_json(graph);
  EXPECT_EQ(to_json(from_json<Graph<types::Node>>(text).value()), text);
}

TEST(Json, ReadsIntoContainersOfTypes) {
  const auto read = from_json<std::map<types::Rank, std::vector<std::optional<types::Point>>>>(
      R"({"class":[null,{"x":1,"y":2}]})");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(to_json(*read), R"({"class":[null,{"x":1.0,"y":2.0}]})");
  EXPECT_EQ(to_json(std::vector<Boolean>{true, false}), "[true,false]");
}

}  // namespace
}  // namespace mf::codec
