// What the programs log of their start and their end, and how they end.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "app/child.hpp"
#include "mf/controller/controller_registrar.hpp"
#include "mf/controller/controller_resolver.hpp"
#include "support/folder.hpp"
#include "support/joined.hpp"
#include "support/running_controller.hpp"

namespace mf::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const std::string kStarted =
    "[^\n]* info started version=" MF_VERSION
    " addresses=tcp://127.0.0.1:[0-9]+ controllers=none identity=[0-9a-f]{32} access=none\n";
const std::string kEnded =
    "[^\n]* info draining\n"
    "[^\n]* info drained\n"
    "[^\n]* info stopped\n";

/// The log of a program that was started, and then stopped.
std::string log_of(std::vector<std::string> command) {
  Child child(std::move(command));
  EXPECT_THAT(child.line(), HasSubstr("://127.0.0.1:"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  return child.all_errors();
}

TEST(Lifecycle, OfAControllerIsLogged) {
  EXPECT_THAT(log_of({MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0"}),
              MatchesRegex("[^\n]* info restored store=memory: processes=0\n" + kStarted + kEnded));
}

TEST(Lifecycle, OfARelayIsLogged) {
  EXPECT_THAT(log_of({MF_RELAY, "--listen", "tcp://127.0.0.1:0"}), MatchesRegex(kStarted + kEnded));
}

TEST(Lifecycle, IsLoggedAsJson) {
  EXPECT_THAT(log_of({MF_RELAY, "--listen", "tcp://127.0.0.1:0", "--log-format", "json"}),
              MatchesRegex("\\{\"time\":\"[^\"]+Z\",\"level\":\"info\",\"event\":\"started\","
                           "\"version\":\"[^\"]+\",[^\n]*\\}\n"
                           "\\{[^\n]*\"event\":\"draining\"\\}\n"
                           "\\{[^\n]*\"event\":\"drained\"\\}\n"
                           "\\{[^\n]*\"event\":\"stopped\"\\}\n"));
}

TEST(Lifecycle, SaysWhatAControllerHasRestored) {
  const mftest::Folder folder;
  const std::string store = folder.path() / "store";
  const std::vector<std::string> command{MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0", "--store", store};
  EXPECT_THAT(log_of(command), HasSubstr(" info restored store=" + store + " processes=0\n"));
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
  EXPECT_THAT(log_of(command), HasSubstr(" info restored store=" + store + " processes=1\n"));
}

/// What a relay logs to a file. `journal`: JOURNAL_STREAM names this file.
std::string log_in_a_file(bool journal) {
  const mftest::Folder folder;
  const std::string path = folder.path() / "log";
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  struct stat found{};
  EXPECT_EQ(::fstat(file, &found), 0);
  ::close(file);
  const auto inode = found.st_ino + (journal ? 0 : 1);
  Child child({"/bin/sh", "-c", R"(JOURNAL_STREAM=$1 exec "$0" --listen tcp://127.0.0.1:0 2>>"$2")", MF_RELAY,
               std::to_string(found.st_dev) + ":" + std::to_string(inode), path});
  EXPECT_THAT(child.line(), HasSubstr("://127.0.0.1:"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  std::ifstream written(path);
  return {std::istreambuf_iterator<char>(written), {}};
}

TEST(Lifecycle, HasPrioritiesWhereStandardErrorIsTheJournal) {
  EXPECT_THAT(log_in_a_file(true), AllOf(StartsWith("<6>20"), HasSubstr("\n<6>20"), Not(HasSubstr("\n20"))));
  EXPECT_THAT(log_in_a_file(false), AllOf(StartsWith("20"), Not(HasSubstr("<6>"))));
}

TEST(Lifecycle, GoesOnWithALogThatIsFull) {
  Child child({"/bin/sh", "-c", R"(exec "$0" --listen tcp://127.0.0.1:0 2>/dev/full)", MF_RELAY});
  EXPECT_THAT(child.line(), HasSubstr("://127.0.0.1:"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

/// A call that ends when the test says so.
class Held final : public mftest::Echo {
 public:
  void wait(std::uint32_t /*ms*/) override {
    ++ran;
    end.acquire();
  }

  std::binary_semaphore end{0};
};

TEST(Lifecycle, EndsWithAnExitCodeOfItsOwnIfCallsWereCut) {
  mftest::RunningController controller;
  const auto held = std::make_shared<Held>();
  Server server({.controller = controller.address().str(), .log = Log(Level::off)});
  server.offer(held, {.where = Where::worker});
  server.start();
  Child relay({MF_RELAY, "--listen", "tcp://127.0.0.1:0", "--controller", controller.address().str(),
               "--drain-timeout", "0.05"});
  Client client(relay.line(), {.log = Log(Level::off)});
  {
    const std::jthread caller(
        [&] { (void)mftest::failure_of([&] { mftest::calls::EchoClient(client).wait(1); }); });
    EXPECT_TRUE(mftest::eventually([&] { return held->ran == 1; }));
    relay.signal(SIGTERM);
    EXPECT_EQ(relay.wait(), kCallsCut);
    held->end.release();
    server.stop();
  }
  EXPECT_THAT(relay.all_errors(), AllOf(HasSubstr(" warning calls_cut calls=1 "),
                                        HasSubstr(" info stopped\n"), Not(HasSubstr("drained"))));
}

}  // namespace
}  // namespace mf::app
