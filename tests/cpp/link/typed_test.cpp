// The typed pipe in and out of a stream, for those that have no handle.
#include "mf/link/typed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "joint.hpp"

namespace mf::link::typed_test {
namespace {

using In = TypedIn<std::string, Tier::febird>;

void send(Joint& joint, const std::string& value) {
  EXPECT_TRUE(joint.out.write([&](Buffer& out) { codec::append_value<Tier::febird>(out, value); }));
}

TEST(TypedIn, ReadsTheValuesOfSeveralFramesInTheirOrder) {
  Joint joint;
  send(joint, "one");
  send(joint, "two");
  joint.out.write_pending();
  send(joint, "three");
  joint.out.write_pending();
  ASSERT_EQ(joint.frames, 2);
  In in;
  std::string value;
  for (const auto* const expected : {"one", "two", "three"}) {
    ASSERT_EQ(in.ready(joint.in), In::Got::value);
    EXPECT_TRUE(in.loaded());
    ASSERT_TRUE(in.decode(value));
    EXPECT_EQ(value, expected);
  }
  EXPECT_EQ(in.ready(joint.in), In::Got::nothing);
  joint.send_end();
  EXPECT_EQ(in.ready(joint.in), In::Got::ended);
}

TEST(TypedIn, SaysWhyAValueCannotBeRead) {
  Joint joint;
  EXPECT_TRUE(joint.out.write([](Buffer& out) {
    out.append(1)[0] = std::byte{5};  // a text of five bytes, which are not there
  }));
  joint.out.write_pending();
  In in;
  std::string value;
  ASSERT_EQ(in.ready(joint.in), In::Got::value);
  EXPECT_FALSE(in.decode(value));
  const auto why = in.why("a text: ");
  EXPECT_EQ(why.code, Code::decode_error);
  EXPECT_THAT(why.message, testing::StartsWith("a text: "));
}

TEST(TypedIn, RefusesBytesBehindTheLastValueOfAFrame) {
  Joint joint;
  EXPECT_TRUE(joint.out.write([](Buffer& out) {
    codec::append_value<Tier::febird>(out, std::string("one"));
    out.append(1)[0] = std::byte{0};
  }));
  joint.out.write_pending();
  In in;
  std::string value;
  ASSERT_EQ(in.ready(joint.in), In::Got::value);
  EXPECT_FALSE(in.decode(value));
}

TEST(TypedIn, RefusesAnotherEncodingThanTheSchemas) {
  Joint joint;  // which says febird
  EXPECT_TRUE(joint.out.write([](Buffer& out) { out.append(4); }));
  joint.out.write_pending();
  TypedIn<std::uint32_t, Tier::memcpy> in;
  EXPECT_EQ(in.ready(joint.in), (TypedIn<std::uint32_t, Tier::memcpy>::Got::broken));
  EXPECT_EQ(in.why("").message, wrong_encoding().message);
}

TEST(TypedIn, DropsWhatWasLoadedAndNotRead) {
  Joint joint;
  send(joint, "one");
  send(joint, "two");
  joint.out.write_pending();
  In in;
  ASSERT_EQ(in.ready(joint.in), In::Got::value);
  in.drop();
  EXPECT_EQ(in.ready(joint.in), In::Got::nothing);
}

/// Appends so many values of this size.
auto source(int& left, std::size_t size) {
  return [&left, size](Buffer& out) {
    if (left == 0) return false;
    --left;
    std::memset(out.append(size), 0, size);
    return true;
  };
}

TEST(Pump, WritesUntilThereIsNothingLeft) {
  Joint joint;
  int left = 10;
  Failure why;
  EXPECT_EQ(pump(joint.out, source(left, 100), [] {}, why), Pumped::dry);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(joint.frames, 1);
}

TEST(Pump, StopsWithoutCreditAndGoesOnWhenItIsCalled) {
  Joint joint;
  int left = 10'000;
  int more = 0;
  Failure why;
  ASSERT_EQ(pump(joint.out, source(left, 100), [&] { ++more; }, why), Pumped::full);
  EXPECT_GT(left, 0);
  EXPECT_EQ(more, 0);
  StreamIn::Frame frame;
  // Taking returns the credit for the frame before: then values arrive after take() has looked for some.
  for (int i = 0; i < left && more == 0; ++i) ASSERT_NE(joint.in.take(frame), StreamIn::Got::ended);
  EXPECT_EQ(more, 1) << "and the stream has room again";
}

TEST(Pump, SaysThatTheReceiverDoesNotTakeAValueAndGoesOnBehindIt) {
  Joint joint;
  int left = 1;
  Failure why;
  EXPECT_EQ(pump(joint.out, source(left, kMostValue + 1), [] {}, why), Pumped::too_large);
  EXPECT_EQ(why.code, Code::message_too_large);
  left = 1;
  EXPECT_EQ(pump(joint.out, source(left, 10), [] {}, why), Pumped::dry);
  StreamIn::Frame frame;
  ASSERT_EQ(joint.in.take(frame), StreamIn::Got::values);
  EXPECT_EQ(frame.bytes.size(), 10U);
}

TEST(Pump, SaysWhyTheStreamHasEnded) {
  Joint joint;
  joint.done(joint.out.on_end(mf::detail::shared(may_have_run(Code::connection_lost, "gone"))));
  int left = 1;
  Failure why;
  EXPECT_EQ(pump(joint.out, source(left, 10), [] {}, why), Pumped::ended);
  EXPECT_EQ(why.message, "gone");
}

}  // namespace
}  // namespace mf::link::typed_test
