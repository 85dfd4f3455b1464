// Decoding into an object that has been used before takes no memory where what it holds is large enough, and
// into a fresh one no more than the value itself needs. Counted by operator new.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "archive/now.hpp"
#include "bytes.hpp"
#include "mf/codec/hash.hpp"
#include "mf/codec/value.hpp"
#include "sample.hpp"
#include "vectors/alternatives.hpp"

namespace {

std::size_t allocations = 0;  // of this thread's tests; they run one behind the other

}  // namespace

// The rest of the binary allocates through these too. Out of line: g++ takes free() for no match of new.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort takes memory by this one, and gives it back by those below.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace mf {
namespace {

using sample::Hit;
using sample::Posting;

template <class Work>
std::size_t allocations_of(const Work& work) {
  const std::size_t before = allocations;
  work();
  return allocations - before;
}

std::vector<Hit> hits() {
  const std::string text(40, 'x');
  return {{1, 1.0F, text, {1, 2, 3}}, {2, 2.0F, text, std::vector<std::uint32_t>(300, 7)}, {3, 3.0F, "", {}}};
}

TEST(Reuse, DecodingIntoAnObjectThatExistsTakesItsMemoryAgain) {
  const std::vector<Hit> value = hits();
  const ByteVector bytes = to_bytes(value);
  std::vector<Hit> into = value;
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, into).ok()); }), 0U);
  EXPECT_EQ(into, value);
}

TEST(Reuse, AListThatShrinksAndGrowsWithinItsRoomKeepsItsMemory) {
  const std::vector<Hit> all = hits();
  std::vector<Hit> into = all;
  // Without the last one, which has no memory of its own.
  const std::vector<Hit> fewer(all.begin(), all.begin() + 2);
  for (const auto& value : {fewer, all, fewer}) {
    const ByteVector bytes = to_bytes(value);
    EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, into).ok()); }), 0U);
    EXPECT_EQ(into, value);
  }
}

TEST(Reuse, AListThatOutgrowsItsRoomHasTheNewElementsAndNoOthers) {
  std::vector<Hit> into = hits();
  for (const std::size_t count : {20U, 0U, 5U, 21U, 50U, 1U}) {
    const std::vector<Hit> value(count, Hit{9, 0.5F, std::string(30, 'y'), {4, 5}});
    EXPECT_TRUE(from_bytes_into(to_bytes(value), into).ok());
    EXPECT_EQ(into, value);
  }
}

TEST(Reuse, OfRowsOfStructsToo) {
  const std::vector<Posting> value(1000, Posting{1, 2, sample::Rank::pagerank});
  const ByteVector bytes = to_bytes(value);
  std::vector<Posting> into(1200);
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, into).ok()); }), 0U);
  EXPECT_EQ(into, value);
}

TEST(Reuse, AFreshObjectTakesWhatItNeedsAndNoMore) {
  const ByteVector bytes = to_bytes(hits());
  std::vector<Hit> fresh;
  // The list itself, two titles that are too long to lie inside their strings, two rows.
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, fresh).ok()); }), 5U);
}

TEST(Reuse, AFreshListInAnArchiveToo) {
  ::archive::now::All all;
  const auto takes = [&] {
    const ByteVector bytes = to_bytes(all);
    ::archive::now::All fresh;
    return allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, fresh).ok()); });
  };
  const std::size_t none = takes();
  all.texts.assign(100, std::string(40, 'x'));  // field 31: its tag has two bytes
  EXPECT_EQ(takes(), none + 101);
  all.texts.assign(3, std::string(20'000, 'x'));  // their lengths have three
  EXPECT_EQ(takes(), none + 4);
}

TEST(Reuse, AUnionThatHoldsTheSameAlternativeKeepsItsMemory) {
  using vectors::alternatives::Value;
  const std::vector<Value> value(3, Value::of_points({{.x = 1, .y = 2}, {.x = 3, .y = 4}}));
  const ByteVector bytes = to_bytes(value);
  std::vector<Value> into = value;
  EXPECT_EQ(allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, into).ok()); }), 0U);
  EXPECT_EQ(into, value);
}

/// How much the second of two values takes, read into what the first one was read into.
template <class T>
std::size_t takes_again(const T& first, const T& second) {
  T into = first;
  const ByteVector bytes = to_bytes(second);
  const std::size_t taken = allocations_of([&] { EXPECT_TRUE(from_bytes_into(bytes, into).ok()); });
  EXPECT_EQ(into, second);
  return taken;
}

TEST(Reuse, MapsAndSetsTakeTheirNodesAgain) {
  using Lists = std::map<std::string, std::vector<std::int32_t>>;
  const std::string text(40, 'x');
  const Lists lists{{text + "a", {1, 2, 3}}, {text + "b", {4}}, {text + "c", {}}};
  EXPECT_EQ(takes_again(lists, lists), 0U);
  EXPECT_EQ(takes_again(lists, Lists{{text + "0", {7}}, {text + "b", {8}}}), 0U) << "other keys, and fewer";
  EXPECT_EQ(takes_again(lists, Lists{{text + "a", {}}, {text + "b", {}}, {text + "c", {}}, {"y", {}}}), 1U);

  std::map<std::int32_t, std::int32_t> numbers;
  std::set<std::uint32_t> set;
  for (int i = 0; i < 1000; ++i) {
    numbers.emplace_hint(numbers.end(), i, -i);
    set.insert(set.end(), static_cast<std::uint32_t>(3 * i));
  }
  EXPECT_EQ(takes_again(numbers, {{-5, 5}, {3000, 1}}), 0U);
  EXPECT_EQ(takes_again({}, numbers), numbers.size());
  EXPECT_EQ(takes_again(numbers, numbers), 0U);
  EXPECT_EQ(takes_again(set, set), 0U);
  EXPECT_EQ(takes_again(set, {1, 2}), 0U);
  EXPECT_EQ(takes_again(set, {}), 0U);
  EXPECT_EQ(takes_again(std::set{text + "a", text + "b"}, std::set{text + "0", text + "b"}), 0U);
}

TEST(Reuse, MapsAndSetsInAnArchiveToo) {
  const std::string text(40, 'x');
  ::archive::now::All all;
  for (int i = 0; i < 100; ++i) all.ids.insert(i);
  all.names = {text + "a", text + "b"};
  all.words = {{text + "a", text}, {text + "b", ""}};
  EXPECT_EQ(takes_again(all, all), 0U);

  ::archive::now::All other;
  other.ids = {-7};
  other.names = {text + "b", text + "c"};
  other.words = {{text + "0", text}, {text + "1", "y"}};
  EXPECT_EQ(takes_again(all, other), 0U);
  EXPECT_EQ(takes_again(all, ::archive::now::All{}), 0U);
}

TEST(Reuse, EncodingTakesOneAllocationAndHashingAFewBytesNone) {
  const std::vector<Hit> value = hits();
  ByteVector bytes;
  EXPECT_EQ(allocations_of([&] { bytes = to_bytes(value); }), 1U);
  Buffer buffer;
  EXPECT_EQ(allocations_of([&] { append_bytes(buffer, value); }), 0U) << "it takes its memory from malloc()";
  EXPECT_EQ(allocations_of([&] { EXPECT_NE(hash64(value.front()), 0U); }), 0U);
}

}  // namespace
}  // namespace mf
