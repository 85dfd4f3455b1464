// What the programs log of their start and their end, and how they end.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/child.hpp"
#include "app/program.hpp"
#include "mf/controller/controller_registrar.hpp"
#include "mf/controller/controller_resolver.hpp"
#include "mf/core/log.hpp"
#include "support/folder.hpp"

namespace mf::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// The log of a program that was started, and then stopped.
std::string log_of(std::vector<std::string> command) {
  Child child(std::move(command));
  EXPECT_THAT(child.line(), HasSubstr("://127.0.0.1:"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  return child.all_errors();
}

std::vector<std::string> events_in(const std::string& log) {
  std::vector<std::string> events;
  for (const auto* const event : {"started", "draining", "drained", "stopped"}) {
    if (log.find(std::string(" info ") + event) != std::string::npos) events.emplace_back(event);
  }
  return events;
}

TEST(Lifecycle, IsLoggedInItsOrder) {
  for (const auto* const program : {MF_CONTROLLER, MF_RELAY}) {
    std::vector<std::string> command{program, "--listen", "tcp://127.0.0.1:0"};
    const auto log = log_of(command);
    EXPECT_THAT(log, MatchesRegex("[^\n]* info started version=" MF_VERSION
                                  " addresses=tcp://127.0.0.1:[0-9]+ certificate=none client_ca=none "
                                  "token_keys=none store=(memory:|none)\n"
                                  "[^\n]* info draining\n"
                                  "[^\n]* info drained\n"
                                  "[^\n]* info stopped code=0\n"))
        << program;
    EXPECT_EQ(events_in(log).size(), 4U);
  }
}

TEST(Lifecycle, IsLoggedAsJson) {
  const auto log = log_of({MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0", "--log-format", "json"});
  EXPECT_THAT(log, MatchesRegex("\\{\"time\":\"[^\"]+Z\",\"level\":\"info\",\"event\":\"started\","
                                "\"version\":\"[^\"]+\",[^\n]*\\}\n"
                                "\\{[^\n]*\"event\":\"draining\"\\}\n"
                                "\\{[^\n]*\"event\":\"drained\"\\}\n"
                                "\\{[^\n]*\"event\":\"stopped\",\"code\":\"0\"\\}\n"));
}

TEST(Lifecycle, SaysWhatAControllerHasRestored) {
  const mftest::Folder folder;
  const std::vector<std::string> command{MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0", "--store",
                                         folder.path() / "store"};
  EXPECT_THAT(log_of(command),
              AllOf(HasSubstr("store=" + (folder.path() / "store").string()), Not(HasSubstr("restored"))));
  {
    Child child(command);
    const Address address = Address::parse(child.line());
    controller::ControllerRegistrar server({address}, draw_process_identity());
    server.announce({{.service = "Index", .agent = "books"}}, {Address::parse("tcp://127.0.0.1:1")});
    controller::ControllerResolver resolver({address});
    const auto until = std::chrono::steady_clock::now() + Child::kPatience;
    auto offers = resolver.offers("Index");
    while (offers->agents.empty() && std::chrono::steady_clock::now() < until)
      offers = resolver.wait_for_change("Index", offers, until);
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(), 128 + SIGKILL);
  }
  EXPECT_THAT(log_of(command), HasSubstr("info restored processes=1 "));
}

TEST(Lifecycle, HasPrioritiesWhereStandardErrorIsTheJournal) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "journal";
  const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  struct stat found{};
  ASSERT_EQ(::fstat(file, &found), 0);
  const int before = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  ::dup2(file, STDERR_FILENO);
  const Log log;
  for (const auto inode : {found.st_ino, found.st_ino + 1}) {
    ::setenv("JOURNAL_STREAM", (std::to_string(found.st_dev) + ":" + std::to_string(inode)).c_str(), 1);
    log.write(Level::warning, "one");
    log.write(Level::error, "two");
  }
  ::unsetenv("JOURNAL_STREAM");
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(file);
  std::ifstream written(path);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(written), {}),
              MatchesRegex("<4>20[^\n]* warning one\n<3>20[^\n]* error two\n20[^\n]* one\n20[^\n]* two\n"));
}

/// Keeps the lines of a log.
class Kept final : public LogSink {
 public:
  void write(Level /*level*/, std::string_view line) noexcept override { lines_.emplace_back(line); }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

TEST(Lifecycle, HasAnExitCodeOfItsOwnForCallsThatWereCut) {
  const auto whole = std::make_shared<Kept>();
  EXPECT_EQ(end_of(true, Log(whole)), 0);
  EXPECT_THAT(whole->lines(), testing::ElementsAre("drained", "stopped code=0"));
  const auto cut = std::make_shared<Kept>();
  EXPECT_EQ(end_of(false, Log(cut)), 3);
  EXPECT_THAT(cut->lines(), testing::ElementsAre("stopped code=3"));
}

}  // namespace
}  // namespace mf::app
