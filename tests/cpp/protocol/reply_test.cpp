#include "mf/protocol/reply.hpp"

#include <gtest/gtest.h>

#include <string>

#include "protocol/drive.hpp"

namespace mf::protocol {
namespace {

TEST(FailureRecord, SurvivesARoundTrip) {
  Buffer out;
  write_failure_record(out, Execution::not_executed, "full");
  FailureRecord record;
  ASSERT_TRUE(parse_failure(out.span(), record));
  EXPECT_EQ(record.execution, Execution::not_executed);
  EXPECT_EQ(record.message, "full");
}

TEST(FailureRecord, OfWhatAHandlerHasMetInAFileSaysThatTheCallMayHaveRun) {
  Buffer out;
  write_failure_record(out, Execution{2}, "points.mfv: No space left on device");
  FailureRecord record;
  ASSERT_TRUE(parse_failure(out.span(), record));
  EXPECT_EQ(record.execution, Execution::unknown);
}

TEST(FailureRecord, IsCutAtACharacter) {
  std::string message(1023, 'a');
  message += "\xc3\xa4";
  Buffer out;
  write_failure_record(out, Execution::unknown, message);
  FailureRecord record;
  ASSERT_TRUE(parse_failure(out.span(), record));
  EXPECT_EQ(record.message, std::string(1023, 'a'));
}

TEST(FailureRecord, HoldsTextWhateverAnExceptionSaid) {
  Buffer out;
  write_failure_record(out, Execution::unknown, "cannot open caf\xe9.txt");
  FailureRecord record;
  ASSERT_TRUE(parse_failure(out.span(), record));
  EXPECT_EQ(record.message, "cannot open caf?.txt");
}

TEST(FailureRecord, MalformedOnesAreRefused) {
  FailureRecord record;
  for (const char* hex : {"", "00", "000004", "0000 0100", "0200 0000", "0001 0000", "0000 0100 ff",
                          "0000 0000 00", "0000 ffff 00"})
    EXPECT_FALSE(parse_failure(drive::octets(hex), record)) << hex;
}

TEST(Mixed, IsReadAsItWasWritten) {
  Buffer out;
  MixedWriter writer(out, 4);
  writer.set(1, Code::overloaded);
  writer.set(3, Code::declared);
  out.append(drive::octets("2a2b"));  // results of items 0 and 2
  writer.failure(Execution::not_executed, "busy");
  writer.begin_declared(2);
  out.append(drive::octets("0102030405"));
  writer.end_declared();

  MixedReader reader(out.span(), 4);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader.outcome(0), Code::ok);
  EXPECT_EQ(reader.outcome(1), Code::overloaded);
  EXPECT_EQ(reader.outcome(3), Code::declared);
  EXPECT_EQ(drive::hex(reader.rest().first(2)), "2a2b");
  ASSERT_TRUE(reader.skip_results(2));
  FailureRecord record;
  ASSERT_TRUE(reader.next_failure(record));
  EXPECT_EQ(record.message, "busy");
  std::uint16_t index = 0;
  std::span<const std::byte> error;
  ASSERT_TRUE(reader.next_declared(index, error));
  EXPECT_EQ(index, 2);
  EXPECT_EQ(drive::hex(error), "0102030405");
  EXPECT_TRUE(reader.finished());
}

TEST(Mixed, EveryTruncationIsNoticed) {
  Buffer out;
  MixedWriter writer(out, 9);
  writer.set(0, Code::declared);
  writer.set(8, Code::cancelled);
  writer.begin_declared(0);
  out.append(drive::octets("aabb"));
  writer.end_declared();
  writer.failure(Execution::unknown, "gone");
  for (std::size_t size = 0; size < out.size(); ++size) {
    MixedReader reader(out.span().first(size), 9);
    std::uint16_t index = 0;
    std::span<const std::byte> error;
    FailureRecord record;
    EXPECT_FALSE(reader.ok() && reader.next_declared(index, error) && reader.next_failure(record)) << size;
  }
}

TEST(Mixed, UnknownOutcomesAndPaddingAreRefused) {
  EXPECT_FALSE(MixedReader(drive::octets("1400000000000000"), 1).ok());
  EXPECT_FALSE(MixedReader(drive::octets("0000000000000001"), 1).ok());
  EXPECT_FALSE(MixedReader({}, 0xffffffffU).ok());
  EXPECT_TRUE(MixedReader(drive::octets("1300000000000000"), 1).ok());
}

}  // namespace
}  // namespace mf::protocol
