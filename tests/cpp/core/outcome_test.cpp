#include "mf/core/outcome.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace mf {
namespace {

struct NoSuchCollection : DeclaredErrorBase<NoSuchCollection> {
  static constexpr const char* kName = "sf1.search.NoSuchCollection";
  std::string name;
  NoSuchCollection() = default;
  explicit NoSuchCollection(std::string name_) : name(std::move(name_)) {}
  friend bool operator==(const NoSuchCollection&, const NoSuchCollection&) = default;
};

struct OtherError : DeclaredErrorBase<OtherError> {
  static constexpr const char* kName = "sf1.search.OtherError";
};

template <class Throw>
Failure failure_of(Throw&& throwing) {
  try {
    throwing();
  } catch (...) {
    return Failure::from_current_exception();
  }
  return {};
}

TEST(Outcome, HoldsAValue) {
  const Outcome<std::string> outcome = std::string("hit");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value(), "hit");
  EXPECT_EQ(outcome.error_as<NoSuchCollection>(), nullptr);
}

TEST(Outcome, ThrowsADeclaredErrorAsItsOwnType) {
  const Outcome<int> outcome = NoSuchCollection("books");
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().code, Code::declared);
  ASSERT_NE(outcome.error_as<NoSuchCollection>(), nullptr);
  EXPECT_EQ(outcome.error_as<NoSuchCollection>()->name, "books");
  EXPECT_EQ(outcome.error_as<OtherError>(), nullptr);
  EXPECT_THROW((void)outcome.value(), NoSuchCollection);
}

TEST(Outcome, ThrowsAFailureWithItsCodeAndExecution) {
  const Outcome<int> outcome = Error(Code::overloaded, Execution::not_executed, "the queue is full");
  try {
    (void)outcome.value();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::overloaded);
    EXPECT_EQ(error.execution(), Execution::not_executed);
    EXPECT_EQ(error.message(), "the queue is full");
    EXPECT_STREQ(error.what(), "OVERLOADED: the queue is full (not executed)");
  }
}

TEST(Outcome, ThatNobodySetIsAnInternalFailure) {
  const Outcome<int> outcome;
  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().code, Code::internal);
}

TEST(Outcome, OfNothingIsOkUnlessItFailed) {
  EXPECT_TRUE(Outcome<void>().ok());
  EXPECT_NO_THROW(Outcome<void>().value());
  const Outcome<void> failed = NoSuchCollection("x");
  EXPECT_THROW(failed.value(), NoSuchCollection);
}

TEST(Outcome, CopiesShareOneFailure) {
  const Outcome<int> outcome = NoSuchCollection("x");
  const Outcome<int> copy = outcome;
  EXPECT_EQ(&copy.failure(), &outcome.failure());
}

TEST(Failure, StandsForWhateverWasThrown) {
  EXPECT_EQ(failure_of([] { throw NoSuchCollection("a"); }).code, Code::declared);
  EXPECT_EQ(failure_of([] { throw Error(Code::cancelled, Execution::unknown, "m"); }).code, Code::cancelled);
  const Failure failed = failure_of([] { throw std::runtime_error("disk"); });
  EXPECT_EQ(failed.code, Code::handler_failed);
  EXPECT_EQ(failed.execution, Execution::unknown);
  EXPECT_EQ(failed.message, "disk");
  EXPECT_EQ(failure_of([] { throw OtherError(); }).message, OtherError::kName);
  EXPECT_EQ(failure_of([] { throw 5; }).code, Code::handler_failed);
}

TEST(DeclaredError, ComparesItsFieldsAndSaysItsNameIfItCannotBePrinted) {
  EXPECT_EQ(NoSuchCollection("a"), NoSuchCollection("a"));
  EXPECT_FALSE(NoSuchCollection("a") == NoSuchCollection("b"));
  EXPECT_STREQ(NoSuchCollection("a").what(), "sf1.search.NoSuchCollection");
}

TEST(Code, HasANameForEachNumberOfTheDocument) {
  EXPECT_STREQ(name(Code::ok), "OK");
  EXPECT_STREQ(name(Code::deadline_exceeded), "DEADLINE_EXCEEDED");
  EXPECT_STREQ(name(static_cast<Code>(19)), "INTERNAL");
  EXPECT_STREQ(name(static_cast<Code>(20)), "UNKNOWN_CODE");
}

}  // namespace
}  // namespace mf
