#include "mf/access/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "mf/access/file.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mf::access {
namespace {

using testing::HasSubstr;

/// A case of tests/vectors/access: the text of an access file, and the lines that say what is expected.
struct Case {
  std::string name;
  std::string file;
  std::vector<std::string> expected;
};

std::vector<Case> cases_of(const std::string& file) {
  std::ifstream stream(MF_SOURCE_DIR "/tests/vectors/access/" + file);
  std::vector<Case> cases;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("== ")) {
      cases.push_back({.name = line.substr(3), .file = {}, .expected = {}});
    } else if (line.starts_with("| ")) {
      cases.back().file += line.substr(2) + "\n";
    } else if (!line.empty() && !line.starts_with('#')) {
      cases.back().expected.push_back(line);
    }
  }
  return cases;
}

Identity identity(const std::string& name) {
  using Kind = Identity::Kind;
  if (name == "none") return {};
  if (name.starts_with("uid:")) return {.kind = Kind::uid, .name = name};
  if (name.starts_with("token:")) return {.kind = Kind::token, .name = name};
  return {.kind = Kind::certificate, .name = name};
}

Action action(const std::string& name) {
  for (std::size_t i = 0; i < kActions; ++i) {
    if (name_of(static_cast<Action>(i)) == name) return static_cast<Action>(i);
  }
  throw std::invalid_argument(name);
}

/// Compares one line of decisions.txt with what the rules decide.
void expect_decision(const Rules& rules, const std::string& line) {
  const auto arrow = line.find(" -> ");
  std::istringstream asked(line.substr(0, arrow));
  std::string who;
  std::string what;
  asked >> who >> what;
  std::string object;
  std::string agent;
  std::string address;
  Wish wish{.action = action(what)};
  for (std::string word; asked >> word;) {
    if (word == "per") {
      asked >> agent;
    } else if (word == "at") {
      asked >> address;
    } else if (word == "weight") {
      asked >> wish.weight;
    } else {
      object = word;
    }
  }
  wish.object = object;
  wish.agent = agent;
  wish.address = address;
  const auto decision = rules.decide(identity(who), wish);
  EXPECT_EQ((decision.allowed ? "allow " : "deny ") + std::to_string(decision.line), line.substr(arrow + 4))
      << line;
}

TEST(AccessRules, DecideAsTheVectorsSay) {
  const auto cases = cases_of("decisions.txt");
  ASSERT_GE(cases.size(), 14U);
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto rules = Rules::parse(each.file, "access.conf");
    ASSERT_TRUE(rules) << rules.failure().message;
    for (const auto& line : each.expected) expect_decision(*rules.value(), line);
  }
}

TEST(AccessRules, EachMistakeIsNamedWithItsLine) {
  const auto cases = cases_of("mistakes.txt");
  ASSERT_GE(cases.size(), 8U);
  for (const auto& each : cases) {
    SCOPED_TRACE(each.name);
    const auto rules = Rules::parse(each.file, "access.conf");
    ASSERT_FALSE(rules);
    std::string expected;
    for (const auto& line : each.expected)
      expected += (expected.empty() ? "access.conf:" : "\naccess.conf:") + line;
    EXPECT_EQ(rules.failure().code, Code::invalid_argument);
    EXPECT_EQ(rules.failure().message, expected);
  }
}

TEST(AccessRules, ManyMistakesAreCounted) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "allow\n";
  const auto rules = Rules::parse(text, "access.conf");
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.failure().message, HasSubstr("access.conf:20: "));
  EXPECT_THAT(rules.failure().message, HasSubstr("access.conf: and 30 more"));
}

TEST(AccessRules, RefusesBytesThatAreNoText) {
  EXPECT_THAT(Rules::parse("allow uid:1 call \xff", "a").failure().message,
              HasSubstr("a:1: the line is not UTF-8"));
  EXPECT_THAT(Rules::parse(std::string_view("allow uid:1 call a\0b", 20), "a").failure().message,
              HasSubstr("a:1: the line holds a NUL character"));
}

TEST(AccessRules, CarriageReturnsAndAMissingLastNewlineAreNoMistakes) {
  const auto rules = Rules::parse("allow uid:1 call a.*\r\nallow uid:2 list", "a");
  ASSERT_TRUE(rules) << rules.failure().message;
  expect_decision(*rules.value(), "uid:1 call a.b -> allow 1");
  expect_decision(*rules.value(), "uid:2 list -> allow 2");
}

TEST(AccessRules, OfAFileNameItInTheirMistakes) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "access.conf").string();
  std::ofstream(path) << "allow uid:1 list\n";
  const auto rules = Rules::load(path);
  ASSERT_TRUE(rules) << rules.failure().message;
  expect_decision(*rules.value(), "uid:1 list -> allow 1");
  std::ofstream(path) << "allow uid:1 lst\n";
  const auto refused = Rules::load(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.failure().message, path + ":1: 'lst' is no action; did you mean 'list'?");
}

TEST(AccessRules, OfAFileThatCannotBeReadAreRefused) {
  const mftest::Folder folder;
  const auto absent = Rules::load((folder.path() / "absent").string());
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.failure().code, Code::invalid_argument);
  EXPECT_THAT(absent.failure().message, HasSubstr("absent cannot be read: No such file or directory"));
  const auto directory = Rules::load(folder.path().string());
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.failure().message, HasSubstr("cannot be used: it is no regular file"));
}

TEST(AccessRules, OfAFileThatOthersMayWriteAreRefused) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "access.conf").string();
  std::ofstream(path) << "allow uid:1 list\n";
  for (const auto mode : {0664U, 0646U, 0666U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto refused = Rules::load(path);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.failure().code, Code::invalid_argument);
    EXPECT_THAT(refused.failure().message,
                HasSubstr(path + " cannot be used: others may write to it (mode 0"));
  }
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(Rules::load(path));
}

TEST(AccessRules, OfAFileOfAnotherUserAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const mftest::Folder folder;
  const auto path = (folder.path() / "access.conf").string();
  std::ofstream(path) << "allow uid:1 list\n";
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  const auto refused = Rules::load(path);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.failure().message, HasSubstr("its owner, user 12345, could replace it"));
}

TEST(AccessRules, StayInUseWhenTheirFileBecomesOneThatOthersMayWrite) {
  const mftest::Folder folder;
  const auto path = (folder.path() / "access.conf").string();
  std::ofstream(path) << "allow uid:1 list\n";
  const File file(path);
  const auto before = file.rules();
  std::ofstream(path) << "allow uid:1 list\nallow uid:2 list\n";
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const auto log = std::make_shared<mftest::KeptLog>();
  EXPECT_EQ(file.refresh(true, Log(log)), Reread::unusable);
  EXPECT_TRUE(log->has("access_file_kept"));
  EXPECT_EQ(file.rules(), before);
}

TEST(AccessRules, AByteOrderMarkIsSkipped) {
  const auto rules = Rules::parse(
      "\xef\xbb\xbf"
      "allow uid:1 list",
      "a");
  ASSERT_TRUE(rules) << rules.failure().message;
  expect_decision(*rules.value(), "uid:1 list -> allow 1");
}

TEST(AccessRules, HoldTenThousandLinesAndAnswerTheLast) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) {
    const auto number = std::to_string(i);
    text += "allow spiffe://example.org/service" + number + " call sf1.module" + number + ".* per agent" +
            number + "\n";
  }
  const auto rules = Rules::parse(text, "a");
  ASSERT_TRUE(rules) << rules.failure().message;
  EXPECT_EQ(rules.value()->size(), 10'000U);
  for (const int i : {0, 77, 9'999}) {
    const auto number = std::to_string(i);
    expect_decision(*rules.value(), "spiffe://example.org/service" + number + " call sf1.module" + number +
                                        ".Index.find per agent" + number + " -> allow " +
                                        std::to_string(i + 1));
    expect_decision(*rules.value(), "spiffe://example.org/service" + number + " call sf1.module" + number +
                                        "x.Index.find per agent" + number + " -> deny 0");
  }
}

}  // namespace
}  // namespace mf::access
