// Values of tests/cpp/codec/archive/archive.mfidl, and what the tests of archives do with bytes.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "archive/now.hpp"
#include "bytes.hpp"
#include "mf/codec/value.hpp"

namespace mf::codec {

namespace now = ::archive::now;

/// Some value of every field, none of them its zero or default.
inline now::All filled() {
  now::All all{
      .flag = true,
      .small_ = 200,
      .signed_ = -300,
      .big = ~std::uint64_t{0},
      .long_ = -9'223'372'036'854'775'807 - 1,
      .wait = Duration(-1),
      .since = Timestamp(Duration(5)),
      .f = 1.5F,
      .d = -2.0,
      .text = "h\u00e9",
      .raw = from_hex("00 ff"),
      .id = {{1, 2, 3}},
      .rank = now::Rank::pagerank,
      .depth = now::Depth::low,
      .lang = static_cast<now::Lang>(77),
      .fields = now::Field::body | now::Field::url,
      .point = {.x = 1, .y = 2},
      .hit = {.doc = 300, .title = "t"},
      .geo = {.latitude = 37'500, .longitude = -127'000},
      .pair = {.a = 1, .b = 2, .note = "n"},
      .choice = now::Choice::of_numbers({1, 300}),
  };
  all.limit = 11;
  all.name = "";
  all.maybe = 0;
  all.maybe_pair = now::Pair{.a = 3, .b = 4};
  all.maybe_list = std::vector<std::uint32_t>{};
  all.numbers = {0, 127, 128, 4'294'967'295};
  all.texts = {"", "a", "a text that is longer than strings keep in place"};
  all.pairs = {{.a = 5, .b = 6}, {.a = 7, .b = 8, .note = ""}};
  all.axes = {-1, 0, 1};
  all.words = {{"", "x"}, {"k", ""}};
  all.ids = {-5, 0, 5'000'000'000};
  all.names = {"a", "b"};
  all.flags = {true, false, true};
  all.floats = {0.5, -0.0};
  all.ranks = {now::Rank::bm25, now::Rank::pagerank};
  all.rows = {{1, 2}, {}, {300}};
  all.sparse = {1U, std::nullopt, 0U};
  all.by_id = {{{{9}}, {.a = 1, .b = 1}}};
  all.lists = {{1, {"x", "y"}}, {2, {}}};
  all.points = {{.x = 3, .y = 4}};
  all.depths = {{now::Depth::high, {1, 2}}};
  all.times = {Timestamp(Duration(-1))};
  all.choices = {now::Choice::of_text("a"), now::Choice::of_far(true), now::Choice::of_at({.x = 1, .y = 1})};
  all.grid = {{{.a = 1, .b = 2}, {.a = 3, .b = 4}}};
  all.by_lang = {{now::Lang::ko, std::nullopt}, {static_cast<now::Lang>(9), 1U}};
  return all;
}

/// "decoded", or the fault, its offset and path.
template <class T>
std::string told(const ByteVector& bytes) {
  const auto value = mf::from_bytes<T>(bytes);
  if (value) return "decoded";
  const DecodeError& error = value.error();
  return std::string(to_string(error.fault)) + " at " + std::to_string(error.offset) + " in " + error.path;
}
template <class T>
std::string told(std::string_view hex) {
  return told<T>(from_hex(hex));
}

/// The value of bytes that are one.
template <class T>
T decoded(std::string_view hex) {
  auto value = mf::from_bytes<T>(from_hex(hex));
  EXPECT_TRUE(value) << value.error().message();
  return value ? *value : T{};
}

template <class T>
void expect_archive(const T& value, std::string_view hex) {
  EXPECT_EQ(to_hex(mf::to_bytes(value)), to_hex(from_hex(hex)));
  EXPECT_TRUE(decoded<T>(hex) == value);
}

}  // namespace mf::codec
