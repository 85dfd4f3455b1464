#include "values.hpp"

#include <limits>
#include <string>

namespace interop_test {

using namespace interop;

namespace {

mf::Uuid uuid(int number) {
  mf::Uuid id;
  for (std::size_t i = 0; i < id.bytes.size(); ++i) {
    id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(number) + i);
  }
  return id;
}

void fill_scalars(Everything& all, int number) {
  all.flag = number % 2 == 0;
  all.tiny = std::numeric_limits<std::int8_t>::min();
  all.small_ = std::numeric_limits<std::int16_t>::min();
  all.middle = std::numeric_limits<std::int32_t>::max() - number;
  all.large = -std::numeric_limits<std::int64_t>::max() + number;
  all.natural8 = std::numeric_limits<std::uint8_t>::max();
  all.natural16 = std::numeric_limits<std::uint16_t>::max();
  all.natural32 = std::numeric_limits<std::uint32_t>::max();
  all.natural64 = std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(number);
  all.single = 0.5F * static_cast<float>(number);
  all.double_ = 1e300;
  all.name = "name " + std::to_string(number) + " \xE2\x82\xAC" + '\0';
  std::vector<std::byte> raw;
  for (int i = 0; i < number; ++i) raw.push_back(static_cast<std::byte>(i));
  all.raw = std::move(raw);
  all.at = mf::Timestamp(mf::Duration(-1));
  all.ttl = mf::Duration::max();
  all.id = uuid(number);
  all.rank = Rank::high;
  all.language = Language{77};
}

void fill_containers(Everything& all, int number) {
  const auto natural = static_cast<std::uint32_t>(number);
  all.numbers = {1, -2, 300, -70000, number};
  all.flags = {true, false, number % 2 == 0};
  for (int i = 0; i < number; ++i) all.points.push_back(point(i));
  for (std::uint32_t i = 0; i < natural; ++i) all.hits.push_back(hit(i));
  all.maybe = {std::nullopt, 0.0, std::numeric_limits<double>::infinity()};
  all.tags = {"b", "a", "\xE2\x82\xAC"};
  all.keys = {4294967295U, 0, natural};
  all.counts = {{"one", 1}, {"", 0}, {"many", 4294967294U}};
  all.by_rank = {{Rank::low, {}}, {Rank::high, {hit(1), hit(2)}}};
  all.by_id = {{uuid(number), point(1)}, {uuid(number + 1), point(2)}};
  all.grid = {Cell{1, 2, 3}, Cell{4, 5, 6}};
  all.names = {"", "second"};
}

}  // namespace

Point point(int number) {
  return {.x = number / 2.0,
          .y = static_cast<double>(-number),
          .rank = static_cast<Rank>(number % 3 + 1),
          .visible = number % 2 == 1};
}

Hit hit(std::uint32_t number) {
  return {.doc = number,
          .score = static_cast<float>(number) / 4,
          .title = "hit " + std::to_string(number) + " \xC3\xA9"};
}

Tree tree(std::int32_t number) {
  const Tree leaf{.value = number};
  Tree last{.value = -1, .children = {leaf}};
  last.left = leaf;
  Tree whole{.value = number, .children = {leaf, last}};
  whole.left = Tree{.value = 7};
  return whole;
}

Moment moment(int number) {
  return {.id = uuid(number),
          .at = mf::Timestamp(mf::Duration(1'700'000'000'000'000'000 + number)),
          .ttl = mf::Duration(-5 * number),
          .rank = static_cast<Rank>(number % 3 + 1),
          .cells = {static_cast<std::uint16_t>(number), 2, 65535},
          .language = static_cast<Language>(number),  // 2 and more are no members
          .place = point(number)};
}

Everything everything(int number) {
  Everything all;
  fill_scalars(all, number);
  fill_containers(all, number);
  const bool even = number % 2 == 0;
  if (!even) all.note = "a note";
  if (!even) all.best = hit(static_cast<std::uint32_t>(number));
  if (even) all.corner = point(number);
  all.tree = tree(number);
  all.moment = moment(number);
  all.pair = {.a = static_cast<std::uint32_t>(number), .b = -number};
  return all;
}

mf::Bytes bytes(std::string_view text) {
  return mf::Bytes(std::string(text));
}

}  // namespace interop_test
