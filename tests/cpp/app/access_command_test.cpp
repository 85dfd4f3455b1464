// mf-controller access check, --access and --open, as processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "app/child.hpp"
#include "support/folder.hpp"

namespace mf::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class AccessCommandTest : public testing::Test {
 protected:
  struct Ended {
    int code;
    std::string output;
    std::string errors;
  };

  void write(const std::string& text) { std::ofstream(file_) << text; }
  Ended run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), MF_CONTROLLER);
    Child child(std::move(arguments));
    auto output = child.all_output();
    auto errors = child.all_errors();
    return {child.wait().value_or(-1), std::move(output), std::move(errors)};
  }
  [[nodiscard]] Ended check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"access", "check", "--access", file_});
    return run(std::move(arguments));
  }

  mftest::Folder folder_;
  const std::string file_ = (folder_.path() / "access.conf").string();
};

TEST_F(AccessCommandTest, SaysByWhichLineOfWhichFile) {
  write(
      "deny uid:7 call s.M.f\nallow uid:7 call s.*\nallow uid:7 register s.M per red at tls://h:1 weight "
      "5\n");
  const auto allowed = check({"--as", "uid:7", "call", "s.M.g"});
  EXPECT_EQ(allowed.code, 0);
  EXPECT_EQ(allowed.output, "allowed by " + file_ + ":2\n");
  const auto denied = check({"--as", "uid:7", "call", "s.M.f"});
  EXPECT_EQ(denied.code, 3);
  EXPECT_EQ(denied.output, "denied by " + file_ + ":1\n");
  EXPECT_EQ(check({"--as", "none", "call", "s.M.g"}).output, "denied by " + file_ + ": no line fits\n");
  EXPECT_EQ(
      check({"--as", "uid:7", "register", "s.M", "--per", "red", "--at", "tls://h:1", "--weight", "5"}).code,
      0);
  EXPECT_EQ(
      check({"--as", "uid:7", "register", "s.M", "--per", "red", "--at", "tls://h:1", "--weight", "6"}).code,
      3);
}

TEST_F(AccessCommandTest, NamesMistakes) {
  write("# nothing\nallow uid:7 cal s.*\n");
  const auto file = check({"--as", "uid:7", "call", "s.M.g"});
  EXPECT_EQ(file.code, 1);
  EXPECT_THAT(file.errors, HasSubstr(file_ + ":2: 'cal' is no action; did you mean 'call'?"));
  write("allow uid:7 list\n");
  for (const auto* const name :
       {"bob", "uid:*", "uid:abc", "uid:01000", "dns:", "token:", "token:*", "user:7", "spiffe:/o/x"}) {
    const auto refused = check({"--as", name, "list"});
    EXPECT_EQ(refused.code, 2) << name;
    EXPECT_THAT(refused.errors, HasSubstr("--as '" + std::string(name) + "' is no identity: ")) << name;
  }
  EXPECT_THAT(check({"--as", "uid:7", "lst"}).errors, HasSubstr("'lst' is no action"));
}

TEST_F(AccessCommandTest, AControllerWithMistakesInItsFileDoesNotStart) {
  write("allow anyon list\n");
  const auto ended = run({"--listen", "tcp://127.0.0.1:0", "--access", file_});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.errors, AllOf(StartsWith("mf-controller: "), HasSubstr(":1: 'anyon' is no name"),
                                  HasSubstr("did you mean 'anyone'?")));
}

TEST_F(AccessCommandTest, ListeningBeyondThisHostIsRefusedUnlessItIsOpen) {
  for (const auto* const address : {"tcp://0.0.0.0:0", "tcp://[::]:0"}) {
    const auto ended = run({"--listen", address});
    EXPECT_EQ(ended.code, 1);
    EXPECT_THAT(ended.errors, AllOf(HasSubstr("could use this program"), HasSubstr("--open")));
  }
}

}  // namespace
}  // namespace mf::app
