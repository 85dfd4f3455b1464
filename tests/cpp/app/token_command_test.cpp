// mf-controller token key | new | show, as processes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "app/child.hpp"
#include "mf/core/error.hpp"
#include "mf/tokens/keys.hpp"
#include "support/folder.hpp"

namespace mf::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class TokenCommandTest : public testing::Test {
 protected:
  struct Ended {
    int code;
    std::string output;
    std::string errors;
  };

  static Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {MF_CONTROLLER, "token"});
    Child child(std::move(arguments));
    auto output = child.all_output();
    auto errors = child.all_errors();
    return {child.wait().value_or(-1), std::move(output), std::move(errors)};
  }
  [[nodiscard]] std::string path(const char* name) const { return folder_.path() / name; }
  void make_key() { ASSERT_EQ(run({"key", path("key")}).code, 0); }
  Ended make_token(const std::string& period = "1h") {
    return run({"new", "--key", path("key"), "--sub", "web-1", "--aud", "shop.Orders", "--for", period,
                "--out", path("token")});
  }
  static mode_t mode(const std::string& path) {
    struct stat found{};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777U : 0;
  }

 private:
  mftest::Folder folder_;
};

TEST_F(TokenCommandTest, MakesAKeyAndATokenThatServersVerify) {
  const auto key = run({"key", path("key")});
  EXPECT_EQ(key.code, 0) << key.errors;
  EXPECT_EQ(mode(path("key")), 0600U);
  EXPECT_EQ(make_token().code, 0);
  EXPECT_EQ(mode(path("token")), 0600U);
  const Secret token = tokens::read_token(path("token"));
  const auto verdict = TokenKeys::read(path("key.pub"))
                           .verify(token.reveal(), "shop.Orders", std::chrono::system_clock::now());
  ASSERT_TRUE(verdict) << verdict.message;
  EXPECT_EQ(verdict.claims->subject, "web-1");
  EXPECT_EQ(verdict.claims->expires, *verdict.claims->issued + std::chrono::hours(1));
  EXPECT_EQ(verdict.claims->key_id + "\n", key.output);
}

TEST_F(TokenCommandTest, PrintsATokenUnlessAFileIsNamed) {
  make_key();
  const auto printed =
      run({"new", "--key", path("key"), "--sub", "web-1", "--aud", "shop.Orders", "--for", "30m"});
  EXPECT_THAT(printed.output, StartsWith("v4.public."));
  EXPECT_EQ(printed.errors, "");
}

TEST_F(TokenCommandTest, ShowsATokenWithoutPrintingIt) {
  make_key();
  ASSERT_EQ(make_token().code, 0);
  const std::string token(tokens::read_token(path("token")).reveal());
  const auto shown = run({"show", path("token")});
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.output, AllOf(HasSubstr("sub: web-1\naud: shop.Orders\n"), HasSubstr("not verified")));
  const auto verified = run({"show", path("token"), "--keys", path("key.pub")});
  EXPECT_EQ(verified.code, 0);
  EXPECT_THAT(verified.output, HasSubstr("signature: valid\nnow: valid\n"));
  for (const auto& ended : {shown, verified})
    EXPECT_THAT(ended.output + ended.errors, Not(HasSubstr(token.substr(10, 12))));
}

TEST_F(TokenCommandTest, RefusesATokenOfAnotherKeyWithoutPrintingIt) {
  make_key();
  ASSERT_EQ(make_token().code, 0);
  ASSERT_EQ(run({"key", path("other")}).code, 0);
  const auto shown = run({"show", path("token"), "--keys", path("other.pub")});
  EXPECT_EQ(shown.code, 1);
  EXPECT_EQ(shown.output, "");
  EXPECT_EQ(shown.errors, "mf-controller: the token is signed with a key that is not known here\n");
}

TEST_F(TokenCommandTest, OverwritesNoFile) {
  make_key();
  EXPECT_EQ(run({"key", path("key")}).code, 1);
  EXPECT_EQ(make_token().code, 0);
  const auto again = make_token();
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.errors, HasSubstr("File exists"));
}

TEST_F(TokenCommandTest, RefusesAKeyThatOthersMayRead) {
  make_key();
  ASSERT_EQ(::chmod(path("key").c_str(), 0644), 0);
  const auto ended = make_token();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("others may use it (mode 0644): chmod 600 it"));
}

TEST_F(TokenCommandTest, SaysWhatATimeIs) {
  make_key();
  for (const char* wrong : {"1", "h", "0h", "1w", "-1h", "1.5h", "367d", "9999999999s", "1hh", ""}) {
    const auto ended = make_token(wrong);
    EXPECT_NE(ended.code, 0) << wrong;
    EXPECT_THAT(ended.errors, HasSubstr("--for")) << wrong;
  }
}

TEST_F(TokenCommandTest, EndsWithTwoForAWrongUse) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"new"}).code, 2);
  EXPECT_EQ(run({"eat"}).code, 2);
}

}  // namespace
}  // namespace mf::app
