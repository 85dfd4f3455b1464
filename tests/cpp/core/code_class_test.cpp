// The table of the classes of codes, column by column: a change of it changes what some part of the runtime
// does with a failure, and so a line here.
#include "mf/core/code_class.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "mf/core/failure.hpp"

namespace {

using mf::Code;

std::string of_class(bool (*is)(Code) noexcept) {
  std::string names;
  for (std::uint8_t code = 0; code <= mf::kLastCode; ++code) {
    if (!is(static_cast<Code>(code))) continue;
    if (!names.empty()) names += ' ';
    names += mf::name(static_cast<Code>(code));
  }
  return names;
}

TEST(CodeClass, ListsTheCodesOfEachQuestion) {
  EXPECT_EQ(of_class(mf::is_lost), "UNAVAILABLE CONNECTION_LOST");
  EXPECT_EQ(of_class(mf::may_go_elsewhere), "OVERLOADED UNAVAILABLE CONNECTION_LOST SHUTTING_DOWN");
  EXPECT_EQ(of_class(mf::may_pass), "DEADLINE_EXCEEDED UNAVAILABLE CONNECTION_LOST SHUTTING_DOWN");
  EXPECT_EQ(
      of_class(mf::may_come_back),
      "UNKNOWN_SERVICE UNKNOWN_AGENT DEADLINE_EXCEEDED CANCELLED OVERLOADED UNAVAILABLE CONNECTION_LOST "
      "SHUTTING_DOWN");
  EXPECT_EQ(of_class(mf::may_still_run), "DEADLINE_EXCEEDED CANCELLED UNAVAILABLE CONNECTION_LOST");
  EXPECT_EQ(of_class(mf::is_going_away), "CANCELLED UNAVAILABLE CONNECTION_LOST SHUTTING_DOWN");
  EXPECT_EQ(of_class(mf::refuses_only_this), "INVALID_ARGUMENT OVERLOADED");
  EXPECT_EQ(of_class(mf::is_same_everywhere), "INVALID_ARGUMENT UNAUTHENTICATED PERMISSION_DENIED");
  EXPECT_EQ(
      of_class(mf::is_for_good),
      "INVALID_ARGUMENT UNKNOWN_SERVICE UNKNOWN_METHOD SCHEMA_MISMATCH MESSAGE_TOO_LARGE PROTOCOL_ERROR "
      "UNAUTHENTICATED PERMISSION_DENIED");
  EXPECT_EQ(of_class(mf::is_raised_by_handlers),
            "INVALID_ARGUMENT OVERLOADED UNAUTHENTICATED PERMISSION_DENIED");
}

TEST(CodeClass, HasNoCodeOfALaterVersion) {
  const auto later = static_cast<Code>(mf::kLastCode + 1);
  EXPECT_FALSE(mf::may_go_elsewhere(later));
  EXPECT_FALSE(mf::is_for_good(later));
  EXPECT_FALSE(mf::may_come_back(static_cast<Code>(255)));
}

TEST(CodeClass, KeepsAClassWithinTheOneThatContainsIt) {
  for (std::uint8_t number = 0; number <= mf::kLastCode; ++number) {
    const auto code = static_cast<Code>(number);
    if (mf::is_lost(code)) {
      EXPECT_TRUE(mf::may_go_elsewhere(code) && mf::may_still_run(code) && mf::may_pass(code))
          << mf::name(code);
    }
    if (mf::may_pass(code)) {
      EXPECT_TRUE(mf::may_come_back(code)) << mf::name(code);
    }
    if (mf::is_same_everywhere(code)) {
      EXPECT_TRUE(mf::is_for_good(code)) << mf::name(code);
    }
    EXPECT_FALSE(mf::is_for_good(code) && mf::may_pass(code)) << mf::name(code);
  }
}

TEST(Failures, SayWhatBecameOfTheCall) {
  const auto safe = mf::not_executed(Code::overloaded, "full");
  EXPECT_EQ(safe.code, Code::overloaded);
  EXPECT_EQ(safe.execution, mf::Execution::not_executed);
  EXPECT_EQ(safe.message, "full");
  EXPECT_EQ(mf::may_have_run(Code::connection_lost, "gone").execution, mf::Execution::unknown);
  EXPECT_EQ(mf::cancelled_by_caller(mf::Execution::unknown).code, Code::cancelled);
}

TEST(Failures, KeepEverythingOnTheWayThroughAnException) {
  const auto back = mf::failure_of(mf::error_of(mf::not_executed(Code::unavailable, "no server is there")));
  EXPECT_EQ(back.code, Code::unavailable);
  EXPECT_EQ(back.execution, mf::Execution::not_executed);
  EXPECT_EQ(back.message, "no server is there");
  EXPECT_EQ(mf::failure_of(mf::error_of(mf::not_executed(Code::internal, ""))).message, "");
}

TEST(Failures, SayTheirContextOnceHoweverOftenTheyArePassedOn) {
  auto failure = mf::in_context("gave up at the deadline: ", mf::not_executed(Code::unavailable, "refused"));
  EXPECT_EQ(failure.message, "gave up at the deadline: refused");
  EXPECT_EQ(failure.reason(), "refused");

  failure = mf::in_context("tcp://a:1: ", std::move(failure));
  EXPECT_EQ(failure.message, "tcp://a:1: refused");
  EXPECT_EQ(failure.reason(), "refused");
  EXPECT_EQ(mf::in_context("", std::move(failure)).message, "refused");
}

TEST(Failures, KeepTheWordsBeforeTheirReasonWhenTheContextChanges) {
  auto failure = mf::in_context("gave up at the deadline: ", mf::not_executed(Code::unavailable, "refused"));
  failure = mf::preceded_by("connect tcp://a:1: ", std::move(failure));
  EXPECT_EQ(failure.message, "gave up at the deadline: connect tcp://a:1: refused");
  EXPECT_EQ(mf::in_context("", std::move(failure)).message, "connect tcp://a:1: refused");
}

}  // namespace
