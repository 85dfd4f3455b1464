// What reading an archive takes out of the budget of decoded bytes, charge by charge: kept unknown fields,
// joined parts of messages, text and bytes. A row names all charges that its bytes make, in their order. A
// budget of their sum is enough; one byte less than the first n of them is refused at the n-th, at its offset
// and path.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archive_samples.hpp"
#include "mf/codec/archive_graph.hpp"
#include "vectors/wide.hpp"

namespace mf::codec {
namespace {

using now::Choice;
using now::Nest;
using now::Pair;
using now::Person;
using now::Tree;
using vectors::wide::ArchiveBytes;
using vectors::wide::ArchiveString;

struct Charge {
  std::size_t bytes;
  std::string_view where;  // offset and path
};

struct Row {
  std::string (*told)(const ByteVector&, std::size_t budget);
  std::string hex;
  std::vector<Charge> charges;
};

/// The failure of reading a T within so many decoded bytes.
template <class T>
std::string within(const ByteVector& bytes, std::size_t budget) {
  Limits limits;
  limits.decoded_bytes = budget;
  const auto value = mf::from_bytes<T>(bytes, limits);
  if (value) return "decoded";
  const DecodeError& error = value.error();
  return std::string(to_string(error.fault)) + " at " + std::to_string(error.offset) + " in " + error.path;
}

void expect_charged(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.hex.substr(0, 80));
    const ByteVector bytes = from_hex(row.hex);
    std::size_t sum = 0;
    for (const Charge& charge : row.charges) {
      ASSERT_GT(charge.bytes, 0U);  // else the budget below is short for the charge before
      sum += charge.bytes;
      EXPECT_EQ(row.told(bytes, sum - 1), "budget_exceeded at " + std::string(charge.where));
    }
    EXPECT_EQ(row.told(bytes, sum), "decoded");
  }
}

/// A text or value of bytes whose length takes two bytes.
std::string long_value() {
  std::string hex = "8001";
  for (int i = 0; i < 128; ++i) hex += "61";
  return hex;
}

constexpr std::size_t kNested = kSizeOfNew<Nest>;  // on the heap, and made anew for each part
constexpr std::size_t kObject = kSizeOfNew<Person>;
constexpr std::size_t kMerge = 64;  // beside the joined bytes: parts without bytes are no work for nothing
template <class K, class V>
constexpr std::size_t kEntry = sizeof(std::pair<const K, V>) + kHeapOfNew<V> + kNodeOverhead;

TEST(ArchiveBudget, UnknownFieldsThatAreKeptAreCharged) {
  expect_charged({
      // with tag and length; a group with all that is in it
      {within<Pair>,
       "0801 1002 2005 2a03616263 3501020304 3b08013c 410102030405060708",
       {{2, "6 in Pair"}, {5, "11 in Pair"}, {5, "16 in Pair"}, {4, "20 in Pair"}, {9, "29 in Pair"}}},
      {within<Nest>, "0a02 1805", {{kNested, "1 in Nest.inner"}, {2, "4 in Nest.inner"}}},
      // a table that this program does not know: once, although tables are walked twice
      {within<Graph<Person>>,
       "0a03 0a0161 1203616263",
       {{5, "10 in Person"}, {kObject, "0 in Person"}, {1, "4 in Person.person[0].name"}}},
      {within<Graph<Person>>,
       "0a05 0a0161 2805",
       {{kObject, "0 in Person"}, {1, "4 in Person.person[0].name"}, {2, "7 in Person.person[0]"}}},
      // those of unions are dropped
      {within<Choice>, "0a0161 2805 2a03616263", {{1, "2 in Choice.text"}}},
  });
}

TEST(ArchiveBudget, PartsThatAreJoinedAreCharged) {
  expect_charged({
      {within<Nest>,
       "0a00 0a00",
       {{kNested, "1 in Nest.inner"}, {kNested, "3 in Nest.inner"}, {kMerge, "4 in Nest.inner"}}},
      {within<Nest>,
       "0a02 1003 0a03 109001",
       {{kNested, "1 in Nest.inner"}, {kNested, "5 in Nest.inner"}, {5 + kMerge, "6 in Nest.inner"}}},
      // all at once: a third part is not joined again
      {within<Nest>,
       "0a00 0a021003 0a00",
       {{kNested, "1 in Nest.inner"},
        {kNested, "3 in Nest.inner"},
        {2 + kMerge, "4 in Nest.inner"},
        {kNested, "7 in Nest.inner"}}},
      // the first part lacks what the second one brings
      {within<Choice>, "12020801 12021002", {{4 + kMerge, "2 in Choice.pair"}}},
      {within<Choice>, "1204 0801 1002 12020805", {{6 + kMerge, "8 in Choice.pair"}}},
      // the only part lacks something, but counts no more
      {within<Choice>, "12020801 0a0178", {{2 + kMerge, "2 in Choice.pair"}, {1, "6 in Choice.text"}}},
      // as the value in an entry of a map
      {within<Tree>,
       "0a04 1200 1200",
       {{kEntry<std::string, Tree>, "1 in Tree.kids[0]"}, {kMerge, "6 in Tree.kids[0]"}}},
  });
}

TEST(ArchiveBudget, WhatIsReadOfJoinedPartsIsChargedToWhatHoldsThem) {
  expect_charged({
      // unknown fields of the first part alone, of both parts joined, and of what holds them
      {within<Nest>,
       "0a04 1805 1003 0a02 1806 1807",
       {{kNested, "1 in Nest.inner"},
        {2, "4 in Nest.inner"},
        {kNested, "7 in Nest.inner"},
        {6 + kMerge, "8 in Nest.inner"},
        {2, "4 in Nest.inner"},
        {2, "10 in Nest.inner"},
        {2, "12 in Nest"}}},
      // a text in the part of an alternative that counts no more
      {within<Choice>,
       "1205 1a0162 0801 0a0178",
       {{1, "4 in Choice.pair.note"},
        {5 + kMerge, "2 in Choice.pair"},
        {1, "4 in Choice.pair.note"},
        {1, "9 in Choice.text"}}},
      // parts in parts: first those of the first part alone, then those of the joined bytes
      {within<Nest>,
       "0a04 0a00 0a00 0a00 1807",
       {{kNested, "1 in Nest.inner"},
        {kNested, "3 in Nest.inner.inner"},
        {kNested, "5 in Nest.inner.inner"},
        {kMerge, "6 in Nest.inner.inner"},
        {kNested, "7 in Nest.inner"},
        {4 + kMerge, "8 in Nest.inner"},
        {kNested, "3 in Nest.inner.inner"},
        {kMerge, "4 in Nest.inner.inner"},
        {kNested, "5 in Nest.inner.inner"},
        {2, "10 in Nest"}}},
  });
}

TEST(ArchiveBudget, TextIsCharged) {
  const std::string rest = " 2200 2200 2200";  // the elements of an array
  expect_charged({
      {within<Choice>, "0a03 616263", {{3, "2 in Choice.text"}}},
      {within<Choice>, "0a" + long_value(), {{128, "3 in Choice.text"}}},
      {within<Choice>, "0a8300 616263", {{3, "3 in Choice.text"}}},  // a length that is longer than needed
      {within<Pair>, "0801 1002 1a02 6162", {{2, "6 in Pair.note"}}},
      {within<ArchiveString>,
       "0a0161 12" + long_value() + "1a0162 1a" + long_value() + rest,
       {{1, "2 in ArchiveString.one"},
        {128, "6 in ArchiveString.maybe"},
        {2 * sizeof(std::string), "135 in ArchiveString.many"},
        {1, "136 in ArchiveString.many[0]"},
        {128, "140 in ArchiveString.many[1]"}}},
      {within<ArchiveString>,
       "0a00" + rest + "2a06 0a0161 120162 3a05 0a0163 1001",
       {{kEntry<std::string, std::string>, "9 in ArchiveString.named[0]"},
        {1, "12 in ArchiveString.named[0]"},
        {1, "15 in ArchiveString.named[0]"},
        {kEntry<std::string, bool>, "17 in ArchiveString.keyed[0]"},
        {1, "20 in ArchiveString.keyed[0]"}}},
  });
}

TEST(ArchiveBudget, BytesAreCharged) {
  const std::string rest = " 2200 2200 2200";
  expect_charged({
      {within<ArchiveBytes>, "0a03 00ff00" + rest, {{3, "2 in ArchiveBytes.one"}}},
      {within<ArchiveBytes>, "0a" + long_value() + rest, {{128, "3 in ArchiveBytes.one"}}},
      {within<ArchiveBytes>, "0a8300 00ff00" + rest, {{3, "3 in ArchiveBytes.one"}}},
      {within<ArchiveBytes>,
       "0a01ff 12" + long_value() + "1a01ff 1a" + long_value() + rest,
       {{1, "2 in ArchiveBytes.one"},
        {128, "6 in ArchiveBytes.maybe"},
        {2 * sizeof(Bytes), "135 in ArchiveBytes.many"},
        {1, "136 in ArchiveBytes.many[0]"},
        {128, "140 in ArchiveBytes.many[1]"}}},
      {within<ArchiveBytes>,
       "0a00" + rest + "2a06 0a0161 1201fe 3a05 0a01ff 1001",
       {{kEntry<std::string, Bytes>, "9 in ArchiveBytes.named[0]"},
        {1, "12 in ArchiveBytes.named[0]"},
        {1, "15 in ArchiveBytes.named[0]"},
        {kEntry<Bytes, bool>, "17 in ArchiveBytes.keyed[0]"},
        {1, "20 in ArchiveBytes.keyed[0]"}}},
  });
}

}  // namespace
}  // namespace mf::codec
