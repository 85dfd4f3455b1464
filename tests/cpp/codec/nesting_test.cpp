// Types that are declared within others: the golden tree `nesting`, by both of their names, in all tiers and
// as JSON.
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/graph.hpp"
#include "mf/codec/json.hpp"
#include "nesting/away.hpp"

namespace mf::codec {
namespace {

using nesting::Place;
using nesting::Record;

TEST(TypesWithinOthers, HaveAWordInTheClassForEach) {
  static_assert(std::is_same_v<Place::Point, nesting::Place_Point>);
  static_assert(std::is_same_v<Place::Shape::Circle, nesting::Place_Shape_Circle>);
  static_assert(std::is_same_v<Place::Path, std::vector<Place::Point>>);
  static_assert(std::is_same_v<Record::Entry::Kind, nesting::Record_Entry_Kind>);
  static_assert(std::is_same_v<nesting::Tree::Forest, std::vector<mf::Graph<nesting::Tree>>>);
}

TEST(TypesWithinOthers, HideThoseOfTheModuleOnlyThere) {
  static_assert(std::is_same_v<decltype(nesting::Atlas_Filter::status), nesting::Atlas_Filter::Status_>);
  static_assert(std::is_same_v<decltype(nesting::Atlas_Filter::outer), nesting::Status_>);
  static_assert(std::is_same_v<decltype(nesting::away::Trip::own), nesting::away::Trip::Precision>);
  static_assert(std::is_same_v<decltype(nesting::away::Trip::other), Place::Precision>);
}

TEST(TypesWithinOthers, StandInMemcpyBytes) {
  expect_bytes<Tier::memcpy>(Place::Point{.x = 1, .y = 2}, "000000000000f03f 0000000000000040");
}

TEST(TypesWithinOthers, StandInFebirdBytes) {
  Place place{.at = {.x = 1, .y = 2}, .precision = Place::Precision::exact, .known = Place::Known::city};
  place.shape.set_circle({.at = {.x = 0, .y = 0}, .radius = 1, .status = Place::Shape::Status_::closed});
  expect_febird(place,
                "000000000000f03f 0000000000000040 00 02"
                "02 0000000000000000 0000000000000000 000000000000f03f 0100000000000000 00");
}

TEST(TypesWithinOthers, StandInArchives) {
  Record record;
  record.entries.emplace_back().kind = Record::Entry::Kind::removed;
  const ByteVector bytes = to_bytes<Tier::archive>(record);
  Record back;
  DecodeError error;
  EXPECT_TRUE(from_bytes<Tier::archive>(bytes, back, error)) << error.message();
  EXPECT_TRUE(back == record);
  EXPECT_EQ(back.last, Record::Entry::Kind::removed);
}

TEST(TypesWithinOthers, AreNamedInMessagesByTheirPlaceInTheValue) {
  EXPECT_NE(refusal<Place>("000000000000f03f 0000000000000040 07").find("precision"), std::string::npos);
}

TEST(TypesWithinOthers, AreJsonLikeAllOthers) {
  const nesting::away::Trip trip;
  EXPECT_EQ(trip.to, Place::Shape::Status_::closed);
  EXPECT_EQ(to_json(Place::Point{.x = 1, .y = 2}), R"({"x":1.0,"y":2.0})");
}

}  // namespace
}  // namespace mf::codec
