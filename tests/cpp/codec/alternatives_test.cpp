// tests/vectors/codec/alternatives.json: flags and unions in the bytes that both runtimes agree on. The
// values are written here, the bytes there.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>

#include "bytes.hpp"
#include "vectors/alternatives.hpp"

namespace vectors::alternatives {
namespace {

namespace codec = mf::codec;

template <mf::Tier kTier, class T>
std::function<void(std::string_view)> writes(const T& value) {
  return [value](std::string_view hex) { codec::expect_bytes<kTier>(value, hex); };
}

template <class T>
std::function<void(std::string_view)> febird(const T& value) {
  return writes<mf::Tier::febird>(value);
}

template <class T>
std::function<void(std::string_view)> memcpy_tier(const T& value) {
  return writes<mf::Tier::memcpy>(value);
}

Holder full() {
  return {.value = Value::of_number(1.0),
          .maybe = Value::of_text("a"),
          .all = {Tiny::of_a(1), Tiny::of_b(1)},
          .by_number = {{1, Tiny::of_a(2)}, {300, Tiny::of_b(0)}},
          .two = {Tiny::of_a(0), Tiny::of_b(-1)},
          .part = Part::title | Part::body,
          .parts = {Part::title, Part::url},
          .maybe_part = Part::body,
          .small_ = Small::off,
          .smalls = {Small::on, static_cast<Small>(255)},
          .fixed = {.small_ = Small::on, .part = Part::title, .wide = Wide{}}};
}

Holder bare() {
  Holder holder;
  holder.value = Value::of_part(Part{});
  return holder;
}

std::map<std::string, std::function<void(std::string_view)>> vectors() {
  const Value nested =
      Value::of_nested({Value::of_text("ab"), Value::of_nested({}), Value::of_tiny(Tiny::of_a(255))});
  return {
      {"an alternative is its number, then its value", febird(Tiny::of_a(7))},
      {"the value of an alternative is packed like a field", febird(Tiny::of_b(-65))},
      {"a number of the schema, not a place", febird(Value::of_part(Part::title | Part::url))},
      {"bits without a name survive", febird(Value::of_part(static_cast<Part>(4)))},
      {"a number above 127 takes two bytes; unions nest", febird(nested)},
      {"a list of memcpy structs in an alternative", febird(Value::of_points({{.x = 1.0F, .y = -1.5F}}))},
      {"a map of unions", febird(Value::of_named({{"a", Value::of_number(0)}, {"b", Value::of_text("x")}}))},
      {"flags in a layout: 0 small, 2 part, 8 wide; 16",
       memcpy_tier(Fixed{.small_ = Small::on | Small::off,
                         .part = Part::title | Part::body | Part::url,
                         .wide = Wide::low | Wide::high})},
      {"every place where a union or flags may stand", febird(full())},
      {"an absent union is one byte", febird(bare())},
      {"an error that holds a union", febird(Refused(Value::of_text("no"), Part::body))},
      {"parameters",
       febird(AlternativesTurnRequest{.value = Value::of_tiny(Tiny::of_a(1)), .part = Part::body})},
      {"a union as the only result", febird(Tiny::of_b(1))},
      {"flags alone are fixed", memcpy_tier(Part::title | Part::url)},
  };
}

TEST(Alternatives, WriteTheBytesOfTheVectors) {
  std::ifstream stream(MF_SOURCE_DIR "/tests/vectors/codec/alternatives.json");
  std::stringstream text;
  text << stream.rdbuf();
  const boost::json::value theirs = boost::json::parse(text.str());
  auto ours = vectors();
  for (const boost::json::value& each : theirs.as_array()) {
    const std::string name(each.at("name").as_string());
    SCOPED_TRACE(name);
    const auto found = ours.find(name);
    ASSERT_NE(found, ours.end()) << "there is no value of this name here";
    found->second(std::string_view(each.at("hex").as_string()));
    ours.erase(found);
  }
  EXPECT_TRUE(ours.empty());
}

TEST(Alternatives, AreRefusedWithThePlace) {
  EXPECT_EQ(codec::refusal<Value>("c9 01 00"),
            "Value, at byte 0: a union has an alternative that its type does not know");
  EXPECT_EQ(codec::refusal<Holder>("04 00").substr(0, 26), "Holder.value, at byte 0: a");
  EXPECT_EQ(codec::violation(Value::of_number(11)), "number: 11 is not in -10.0..10.0");
}

}  // namespace
}  // namespace vectors::alternatives
