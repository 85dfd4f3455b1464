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
#include <stdexcept>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/custom.hpp"
#include "mf/codec/json.hpp"
#include "vectors/json.hpp"

namespace plane {

struct Point {
  int x = 0;
};

struct Codec {
  static std::size_t size(const Point& point) {
    if (point.x == 14) throw std::runtime_error("14 has no size");
    return 1;
  }
  static void write(std::span<std::byte> to, const Point& point) {
    if (point.x == 13) throw std::runtime_error("13 cannot be written");
    to[0] = static_cast<std::byte>(point.x);
  }
  static bool read(std::span<const std::byte> from, Point& point) {
    point.x = from.size() == 1 ? std::to_integer<int>(from[0]) : 0;
    if (point.x == 13) throw std::runtime_error("13 cannot be read");
    return from.size() == 1;
  }
};

}  // namespace plane

namespace mf::codec {

template <>
inline constexpr TypeInfo kTypeInfo<plane::Point>{.tier = Tier::custom, .name = "Point"};
template <>
struct Custom<plane::Point> {
  using Codec = plane::Codec;
};
template <>
struct Febird<plane::Point> : CustomInFebird<plane::Point> {};

}  // namespace mf::codec

namespace mf {

inline constexpr CustomType kPlaneCustoms[] = {{"plane.Point", &codec::custom_refusal<plane::Point>}};
inline constexpr ModuleTexts kPlaneTexts = {
    .types = "type plane.Point struct custom\n", .annex = "", .customs = kPlaneCustoms, .imports = {}};

template <>
struct SchemaType<plane::Point> {
  static constexpr std::string_view kName = "plane.Point";
  static constexpr Fingerprint kFingerprint{};
  static constexpr const ModuleTexts& kModule = kPlaneTexts;
};

}  // namespace mf

namespace mf::codec {
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

/// What to_json() throws.
template <class T>
std::string refusal_of_json(const T& value) {
  try {
    return to_json(value);
  } catch (const Error& thrown) {
    return std::string(name(thrown.code())) + " " + thrown.message();
  }
}

TEST(Json, SaysWhatACustomCodecHasThrown) {
  const std::string thrown = "INVALID_ARGUMENT the codec of a type of tier custom has thrown: ";
  EXPECT_EQ(refusal_of_json(std::vector<plane::Point>{{1}, {13}}), thrown + "13 cannot be written");
  EXPECT_EQ(refusal_of_json(std::vector<plane::Point>{{1}, {14}}), thrown + "14 has no size");
  EXPECT_EQ(refusal_of_json(plane::Point{13}),
            "INVALID_ARGUMENT Point: the codec of a type of tier custom has thrown: 13 cannot be written");
  EXPECT_EQ(to_json(plane::Point{1}), R"("AQ==")");  // that is over

  const auto refused = from_json<std::map<std::string, plane::Point>>(R"({"z": "AQ==", "a": "DQ=="})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault, Fault::custom_codec_failed);
  EXPECT_EQ(refused.error().reason, "the codec of a type of tier custom has thrown: 13 cannot be read");
  EXPECT_EQ(refused.error().offset, 19U);
  EXPECT_EQ(refused.error().path, "[1]");
}

TEST(Json, NamesTheFieldThatReadersWouldRefuse) {
  types::Gone gone;
  gone.name = "\xff";
  EXPECT_EQ(refusal_of_json(gone), "INVALID_ARGUMENT Gone.name: a string is not UTF-8");
  types::Hit hit;
  hit.title = "abc\xc3";
  EXPECT_EQ(refusal_of_json(std::vector<types::Hit>{{}, hit}),
            "INVALID_ARGUMENT [1].title: a string is not UTF-8");
  types::Defaults defaults;
  defaults.rank = static_cast<types::Rank>(99);
  EXPECT_EQ(refusal_of_json(defaults),
            "INVALID_ARGUMENT Defaults.rank: an enum has a value that its type does not know");
}

TEST(Json, RefusesToWriteAReferenceThatIsNull) {
  Graph<types::Node> graph;
  graph->others.emplace_back();
  EXPECT_EQ(refusal_of_json(graph), "INVALID_ARGUMENT Node.node[0].others[0]: the reference is null");
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

/// Members in any order, at each of many levels: no value is read more than twice.
TEST(Json, ReadsDeepTextsInAnyOrder) {
  types::Tree tree;
  for (int i = 0; i < 31; ++i) {
    types::Tree parent;
    parent.value = i;
    parent.children.push_back(std::move(tree));
    parent.children.emplace_back().value = -i;
    tree = std::move(parent);
  }
  std::string text = to_json(tree);
  std::string turned;  // "value" comes last, where it comes first in the schema
  std::vector<std::string> values;
  constexpr std::string_view kValue = R"("value":)";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, kValue.size(), kValue) == 0) {
      const std::size_t comma = text.find(',', at);
      values.push_back(text.substr(at, comma - at));
      at = comma;
    } else if (text[at] == '}') {
      turned += "," + values.back() + "}";
      values.pop_back();
    } else {
      turned += text[at];
    }
  }
  const auto read = from_json<types::Tree>(turned);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(to_json(*read), text);
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
