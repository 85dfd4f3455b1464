// Replicas with an access file: which identities may be members, and which may call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "mf/core/error.hpp"
#include "replicated/group.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mf::replicated::testing::access_test {
namespace {

using ::testing::HasSubstr;

const std::string kService{journal::methods::kJournalService.name};
const mftest::Names kTwo{"a", "b"};

std::string own() {
  return "uid:" + std::to_string(::geteuid());
}

/// The lines by which this user is each of these members, and a client.
std::string rules(const std::string& members, bool calls = true) {
  std::string text;
  for (const char each : members) text += "allow " + own() + " replicate " + kService + "." + each + "\n";
  if (calls) text += "allow " + own() + " call " + kService + ".* per s\n";
  return text;
}

/// Two replicas over unix sockets, each with an access file of its own.
struct Ruled {
  void start(const std::string& member, const std::string& text) {
    write(member, text);
    ReplicaOptions options;
    options.controller = controller.address().str();
    options.member = member;
    options.members = kTwo;
    options.agent = "s";
    options.listen = "unix:" + (folder.path() / member).string();
    options.access = file(member);
    options.log = Log(log);
    replicas[member] = std::make_unique<Replica>(std::make_shared<mftest::Pages>(), std::move(options));
    replicas[member]->start();
  }
  void write(const std::string& member, const std::string& text) const {
    std::ofstream(file(member) + ".new") << text;
    std::filesystem::rename(file(member) + ".new", file(member));
  }
  [[nodiscard]] std::string file(const std::string& member) const {
    return (folder.path() / (member + ".conf")).string();
  }
  [[nodiscard]] mftest::Result put(std::chrono::nanoseconds deadline) const {
    Client client(controller.address().str());
    return journal::JournalClient(client).at("s").one_hop("x",
                                                          {.deadline = deadline, .require = Require::all});
  }

  const mftest::Folder folder;
  const mftest::RunningController controller;
  const std::shared_ptr<mftest::KeptLog> log = std::make_shared<mftest::KeptLog>();
  std::map<std::string, std::unique_ptr<Replica>> replicas;
};

TEST(ReplicasWithAccess, MembersAndClientsThatTheFileAllowsTakePart) {
  Ruled group;
  for (const auto& each : kTwo) group.start(each, rules("ab"));
  for (const auto& each : kTwo) ASSERT_TRUE(group.replicas[each]->until_serving(mftest::kLong));
  EXPECT_EQ(group.put(mftest::kLong).applied, kTwo);
}

TEST(ReplicasWithAccess, AMemberOfAnotherIdentityIsRefused) {
  Ruled group;
  group.start("a", rules("a"));
  group.start("b", rules("ab"));
  EXPECT_TRUE(mftest::eventually(
      [&] { return group.log->has("identity=" + own() + " service=" + kService + " member=b line=0"); }));
  EXPECT_FALSE(group.replicas["a"]->serves());
}

TEST(ReplicasWithAccess, AClientThatMayNotCallEachReplicatedMethodIsRefused) {
  Ruled group;
  for (const auto& each : kTwo) group.start(each, "deny anyone call " + kService + ".chain\n" + rules(""));
  try {
    (void)group.put(std::chrono::seconds(3));
    FAIL() << "the call was allowed";
  } catch (const Error& refused) {
    EXPECT_EQ(refused.code(), Code::permission_denied) << refused.what();
    EXPECT_EQ(refused.execution(), Execution::not_executed);
  }
  EXPECT_TRUE(group.log->has("member=\"\" line=1"));
}

TEST(ReplicasWithAccess, TheFileIsReadAgain) {
  Ruled group;
  for (const auto& each : kTwo) group.start(each, rules("ab"));
  for (const auto& each : kTwo) ASSERT_TRUE(group.replicas[each]->until_serving(mftest::kLong));
  for (const auto& each : kTwo) {
    group.write(each, rules("ab", false));
    EXPECT_TRUE(group.replicas[each]->reload());
  }
  EXPECT_THROW((void)group.put(std::chrono::seconds(2)), Error);
  for (const auto& each : kTwo) {
    group.write(each, rules("ab"));
    EXPECT_TRUE(group.replicas[each]->reload());
  }
  EXPECT_EQ(group.put(mftest::kLong).applied, kTwo);
}

TEST(ReplicasWithAccess, MistakesInTheFileAreNamedAtTheStart) {
  Ruled group;
  try {
    group.start("a", "allow anyone replicat x\n");
    FAIL() << "the file was accepted";
  } catch (const Error& refused) {
    EXPECT_THAT(refused.message(), HasSubstr("a.conf:1: 'replicat' is no action"));
  }
}

}  // namespace
}  // namespace mf::replicated::testing::access_test
