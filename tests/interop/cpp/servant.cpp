#include "servant.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "mf/core/current_call.hpp"

namespace interop_test {

using namespace interop;

namespace {

std::int64_t length(const std::string& text) {
  return static_cast<std::int64_t>(text.size());
}
std::int64_t length(const mf::Bytes& bytes) {
  return static_cast<std::int64_t>(bytes.size());
}

/// All numbers of a tree: its own, its children's, and twice what is on its left.
std::int64_t weight(const Tree& tree) {
  std::int64_t sum = tree.value;
  for (const auto& child : tree.children) sum += weight(child);
  return tree.left ? sum + 2 * weight(*tree.left) : sum;
}

}  // namespace

template <class... Numbers>
void Room::leave(Numbers... numbers) {
  const std::scoped_lock lock(mutex_);
  (notes_.push_back(static_cast<std::int64_t>(numbers)), ...);
}

std::vector<std::int64_t> Room::take_notes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(notes_, {});
}

void Room::in0_out0() {
  leave(100);
}
void Room::in1_out0(const std::string& a) {
  leave(length(a));
}
void Room::in2_out0(std::uint8_t a, const Point& b) {
  leave(10 * a + static_cast<int>(b.rank));
}
void Room::in3_out0(std::int32_t a, const std::vector<std::int32_t>& b, const std::string& c) {
  leave(std::accumulate(b.begin(), b.end(), std::int64_t{a}) + length(c));
}
void Room::in4_out0(std::int8_t a, std::uint16_t b, std::int32_t c, std::uint64_t d) {
  leave(a + b + std::int64_t{c} + static_cast<std::int64_t>(d));
}
void Room::in5_out0(const Pair& a, const std::optional<Pair>& b, const mf::Bytes& c, Rank d, bool e) {
  leave(a.a + (b ? b->b : -1) + length(c) + static_cast<int>(d) + (e ? 1 : 0));
}
void Room::in6_out0(double a, double b, double c, double d, double e, float f) {
  leave(a + b + c + d + e + double{f});
}

std::uint64_t Room::in0_out1() {
  return 4242;
}
std::int64_t Room::in1_out1(std::int32_t a) {
  return std::int64_t{a} * 1'000'000'007;
}
std::vector<std::int32_t> Room::in2_out1(const std::vector<std::int32_t>& a, std::int32_t b) {
  std::vector<std::int32_t> result(a.rbegin(), a.rend());
  for (auto& each : result) each *= b;
  return result;
}
std::optional<std::string> Room::in3_out1(double a, double b, double c) {
  return c > a + b ? std::optional<std::string>("more") : std::nullopt;
}
double Room::in4_out1(const std::string& a, const mf::Bytes& b, bool c, float d) {
  return static_cast<double>(length(a)) + static_cast<double>(length(b)) / 4 + (c ? 0.5 : 0.0) + double{d};
}
std::map<std::uint32_t, std::vector<std::string>> Room::in5_out1(
    const std::set<std::string>& a, const std::map<std::string, std::uint32_t>& b, const Cell& c, Language d,
    const std::optional<Rank>& e) {
  std::map<std::uint32_t, std::vector<std::string>> result;
  result[static_cast<std::uint32_t>(d)].assign(a.begin(), a.end());
  for (const auto& [key, value] : b) result[value].push_back(key);
  result[std::accumulate(c.begin(), c.end(), std::uint32_t{0})].push_back(
      e ? "rank " + std::to_string(static_cast<int>(*e)) : "no rank");
  return result;
}
std::int64_t Room::in6_out1(std::int8_t a, std::int16_t b, std::int32_t c, std::int64_t d, std::uint32_t e,
                            std::uint64_t f) {
  return a - b + std::int64_t{c} - d + e - static_cast<std::int64_t>(f);
}

ShapesIn0Out2Result Room::in0_out2() {
  return {.name = name_, .count = 7};
}
ShapesIn1Out2Result Room::in1_out2(const Moment& a) {
  auto later = a;
  later.at += a.ttl;
  return {.later = later, .rank = a.rank};
}
ShapesIn2Out2Result Room::in2_out2(const Point& a, const Point& b) {
  return {.middle = {.x = (a.x + b.x) / 2, .y = (a.y + b.y) / 2, .rank = b.rank, .visible = a.visible},
          .same = a == b};
}
ShapesIn3Out2Result Room::in3_out2(const std::string& a, const std::string& b, std::uint32_t c) {
  return {.joined = a + "-" + b, .times = std::vector<std::string>(c, b)};
}
ShapesIn4Out2Result Room::in4_out2(std::int64_t a, std::int64_t b, std::uint64_t c, double d) {
  return {.sum = a + b + static_cast<std::int64_t>(c), .scaled = static_cast<double>(a) * d};
}
ShapesIn5Out2Result Room::in5_out2(const Tree& a, const Hit& b, const std::vector<Hit>& c,
                                   const std::map<Rank, Hit>& d, const std::optional<std::int64_t>& e) {
  auto best = b;
  const auto better = [&best](const Hit& hit) {
    if (hit.score > best.score) best = hit;
  };
  for (const auto& hit : c) better(hit);
  for (const auto& [rank, hit] : d) better(hit);
  return {.best = best, .weight = weight(a) + e.value_or(-1)};
}
ShapesIn6Out2Result Room::in6_out2(bool a, std::uint8_t b, std::uint16_t c, std::uint32_t d, std::uint64_t e,
                                   std::int64_t f) {
  const auto sum = (a ? 1 : 0) + b + c + std::int64_t{d} + static_cast<std::int64_t>(e) + f;
  return {.sum = sum, .odd = {b % 2 == 1, c % 2 == 1, d % 2 == 1, e % 2 == 1}};
}

void Room::note0() {
  leave(0);
}
void Room::note1(std::int64_t a) {
  leave(a);
}
void Room::note2(const std::string& a, const std::vector<std::int64_t>& b) {
  const std::scoped_lock lock(mutex_);
  notes_.insert(notes_.end(), b.begin(), b.end());
  notes_.push_back(length(a));
}
void Room::note3(std::uint8_t a, std::uint8_t b, std::uint8_t c) {
  leave(a * b * c);
}
void Room::note4(const Point& a, const Point& b, bool c, Rank d) {
  leave(static_cast<int>(a.rank) + static_cast<int>(b.rank) + (c ? 1 : 0) + static_cast<int>(d));
}
void Room::note5(const std::string& a, const std::string& b, const std::optional<std::int64_t>& c,
                 const Hit& d, const mf::Bytes& e) {
  leave(length(a) + length(b) + length(e), c.value_or(0), d.doc);
}
void Room::note6(std::int32_t a, std::int32_t b, std::int32_t c, std::int32_t d, std::int32_t e,
                 std::int32_t f) {
  leave(std::int64_t{a} + b + c + d + e + f);
}

std::string Room::text(const std::string& a) {
  return a + "|" + name_;
}
Everything Room::mirror(const Everything& value) {
  auto result = value;
  result.flag = !value.flag;
  result.middle = -value.middle;
  result.large = -value.large;
  result.name += "/mirror";
  const auto raw = result.raw.mutate();
  std::reverse(raw.begin(), raw.end());
  std::reverse(result.numbers.begin(), result.numbers.end());
  result.tags.insert("mirror");
  for (auto& [key, count] : result.counts) ++count;
  result.note = value.note ? std::nullopt : std::optional<std::string>("was absent");
  return result;
}
std::uint32_t Room::fail(std::uint32_t how) {
  switch (how % 4) {
    case 1:
      throw Refused("because of " + std::to_string(how),
                    Hit{.doc = how, .score = 0.5F, .title = "\xE2\x82\xAC"});
    case 2:
      throw Missing(std::uint64_t{how} << 32U);
    case 3:
      throw std::runtime_error("out of luck with " + std::to_string(how));
    default:
      return 2 * how;
  }
}
std::uint32_t Room::slow(std::uint32_t milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  const auto deadline = mf::current_call().deadline;
  const auto enough = deadline == mf::kNever ? end : std::min(end, deadline + std::chrono::milliseconds(250));
  while (std::chrono::steady_clock::now() < enough) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return milliseconds;
}
std::uint32_t Room::bounded(std::uint32_t n, const std::string& /*word*/) {
  return n;
}

}  // namespace interop_test
