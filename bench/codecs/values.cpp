#include "values.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "fields.hpp"

namespace bench_codecs {
namespace {

/// SplitMix64, because the distributions of the standard libraries differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  /// Between 0 and end - 1.
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(bits() >> 32U) % end; }
  std::int32_t small(std::uint32_t end) { return static_cast<std::int32_t>(below(end)); }
  std::int32_t any() { return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits())); }
  /// Between 0 and 1.
  double real() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  float single() { return static_cast<float>(real()); }
  std::string letters(std::size_t size) {
    std::string text(size, ' ');
    for (char& letter : text) letter = static_cast<char>('a' + below(26));
    return text;
  }

 private:
  std::uint64_t state_;
};

template <class List, class Make>
void fill(List& list, std::size_t count, Make make) {
  list.reserve(count);
  for (std::size_t i = 0; i < count; ++i) list.push_back(make());
}

}  // namespace

payload::Text text() {
  return {"izensoft"};
}

payload::IntList ints(std::size_t count) {
  payload::IntList made;
  fill(made.values, count, [random = Random(1)]() mutable { return random.any(); });
  return made;
}

payload::IntList small_ints(std::size_t count) {
  payload::IntList made;
  fill(made.values, count, [random = Random(2)]() mutable { return random.small(64); });
  return made;
}

payload::PodList pods(std::size_t count) {
  payload::PodList made;
  fill(made.values, count, [random = Random(3)]() mutable {
    payload::Pod pod;
    pod.a = random.any();
    pod.b = random.any();
    pod.c = random.any();
    pod.d = random.any();
    return pod;
  });
  return made;
}

payload::IntMap int_map(std::size_t count) {
  payload::IntMap made;
  Random random(4);
  while (made.values.size() < count) made.values[random.any()] = random.any();
  return made;
}

payload::StringMap string_map(std::size_t count) {
  payload::StringMap made;
  Random random(5);
  while (made.values.size() < count) made.values[random.letters(12)] = random.any();
  return made;
}

payload::DoubleList doubles(std::size_t count) {
  payload::DoubleList made;
  fill(made.values, count, [random = Random(6)]() mutable { return random.real() * 1e6; });
  return made;
}

payload::StringList strings(std::size_t count) {
  payload::StringList made;
  fill(made.values, count, [random = Random(7)]() mutable { return random.letters(1 + random.below(20)); });
  return made;
}

payload::StringList strings_of(std::size_t count, std::size_t size) {
  payload::StringList made;
  fill(made.values, count, [size, random = Random(8)]() mutable { return random.letters(size); });
  return made;
}

payload::C0 c0() {
  return {};
}

payload::C1 c1() {
  return {
      true, 42, -1'234, 1'234'567, 1'234'567'890'123, 3.25F, 2.718281828459045, "a string like any other"};
}

payload::C2 c2() {
  const auto basic = c1();
  return {basic.flag, basic.tiny, basic.small, basic.number, basic.big, basic.single, basic.real, basic.text};
}

payload::C3 c3() {
  payload::C3 made;
  Random random(9);
  fill(made.numbers, 10, [&] { return random.small(100'000); });
  fill(made.bigs, 10, [&] { return static_cast<std::int64_t>(random.bits() >> 24U); });
  fill(made.singles, 10, [&] { return random.single(); });
  fill(made.reals, 10, [&] { return random.real(); });
  fill(made.texts, 10, [&] { return random.letters(12); });
  return made;
}

payload::C4 c4() {
  payload::C4 made;
  Random random(10);
  for (std::int32_t i = 0; i < 10; ++i) {
    made.numbers[i] = random.small(100'000);
    made.names[i] = random.letters(12);
    made.texts[random.letters(6)] = random.letters(12);
    made.reals[random.letters(6)] = random.real();
  }
  return made;
}

payload::C5 c5() {
  return {c0(), c1(), c2(), c3(), c4(), {c1(), c1(), c1()}};
}

payload::Heartbeat heartbeat() {
  payload::Heartbeat made;
  Random random(11);
  made.pool = "pool-dcache-014-03";
  made.serial = 1'573'084'800'123;
  for (double& cost : made.costs) cost = random.real() * 100;
  for (const char* name : {"mover", "store", "restore", "p2p"}) {
    made.queues.push_back({name, random.small(100), 100, random.small(1'000)});
  }
  made.mode = payload::Mode::read_only;
  made.tags = {{"hostname", "dcache-014"}, {"rack", "b12"}, {"zone", "hamburg"}};
  made.hosts = {"dcache-014.example.org", "10.1.4.14", "dcache-014-ipmi.example.org"};
  return made;
}

payload::SearchResult search_result() {
  payload::SearchResult made;
  Random random(12);
  fill(made.hits, 100, [&] {
    payload::Hit hit;
    hit.doc = random.below(1'000'000);
    hit.score = random.single();
    hit.title = random.letters(32 + random.below(17));
    std::uint32_t at = 0;  // positions ascend, in a document of some 2,000 words
    fill(hit.positions, 15 + random.below(11), [&] { return at += 1 + random.below(200); });
    fill(hit.features, 16, [&] { return random.single(); });
    return hit;
  });
  return made;
}

payload::Nested nested(std::size_t depth) {
  payload::Nested made;
  made.value = static_cast<std::int32_t>(depth);
  if (depth > 1) made.inside = nested(depth - 1);
  return made;
}

template <class Fields>
Fields fields() {
  Fields made;
  each_field(made, [random = Random(13)](const char* /*name*/, std::int32_t& field) mutable {
    field = random.small(1'000);
  });
  return made;
}

template payload::Fields1 fields<payload::Fields1>();
template payload::Fields4 fields<payload::Fields4>();
template payload::Fields16 fields<payload::Fields16>();
template payload::Fields48 fields<payload::Fields48>();

}  // namespace bench_codecs
