// mf-controller and its store: the controller is killed while servers register, change and leave, and nothing
// that it has confirmed is lost; its disk is full, and it continues.
//
// Each test kills it ten times; MF_KILLS sets another number (make soak).

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <random>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "app/child.hpp"
#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/core/error.hpp"
#include "support/folder.hpp"
#include "support/wait.hpp"

namespace mf::app {
namespace {

using namespace controller;
using testing::HasSubstr;
using testing::IsEmpty;

const CallOptions kBounded{.deadline = std::chrono::seconds(50)};

/// A different UUID for each number.
Uuid uuid_of(std::uint64_t number, std::uint8_t kind) {
  Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) uuid.bytes[i] = static_cast<std::uint8_t>(number >> 8 * i & 0xff);
  uuid.bytes[15] = kind;
  return uuid;
}

Offer offer_of(const std::string& agent) {
  return {.key = {.kind = KeyKind::service, .name = "demo.Echo", .agent = agent}, .addresses = {"tcp://h:1"}};
}

Child start(const std::filesystem::path& store) {
  return Child({MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0", "--store", store.string(), "--lease", "600",
                "--log-level", "warning"});
}

std::string tcp(const std::string& address) {
  return "tcp" + address.substr(2);
}

std::set<std::string> agents_at(const std::string& address) {
  Client client(address);
  std::set<std::string> agents;
  auto entries = ControllerClient(client).list(kBounded);
  while (const auto entry = entries.next()) agents.insert(entry->offer.key.agent);
  return agents;
}

/// What the controllers have confirmed so far, and what they may have done without a confirmation.
struct Ledger {
  std::mutex mutex;
  std::set<std::string> there;  // agents
  std::set<std::string> gone;
  std::set<std::string> asked;
  std::set<std::string> of_this_run;  // those of `there` that the running controller has confirmed
  std::set<std::uint32_t> ids;
  bool killed = false;     // the running controller
  std::string left_early;  // why one of its clients ended before, which withdraws its registrations
  std::uint64_t epoch = 0;
  std::atomic<std::size_t> leads = 0;
  std::uint64_t numbers = 0;
  std::atomic<std::size_t> answers = 0;
};

/// The registrations of one client: below the limit of its streams, however late its controller is killed.
constexpr std::size_t kMostProcesses = 256;

/// The agent of the process that asks for the lead.
const std::string kLeader = "leader";

/// A process that registers for "N", and then changes to "N" and "N+", or leaves.
void one_process(ControllerClient& controller, const CallOptions& options, Ledger& ledger,
                 std::vector<StreamReader<Standing>>& streams) {
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(ledger.mutex);
    number = ++ledger.numbers;
    ledger.asked.insert(std::to_string(number));
  }
  const std::string agent = std::to_string(number);
  const Credential who{.nonce = uuid_of(number, 1), .secret = uuid_of(number, 2)};
  auto stream = controller.register_(who, "p", {offer_of(agent)}, options);
  if (!stream.next()) throw std::runtime_error("the registration has no first value");
  if (number % 3 != 0) streams.push_back(std::move(stream));
  {
    const std::scoped_lock lock(ledger.mutex);
    ++ledger.answers;
    if (number % 3 != 0) ledger.of_this_run.insert(agent);  // otherwise it may be removed from now on
    if (number % 3 == 1) ledger.asked.insert(agent + "+");
  }
  if (number % 3 == 0) controller.deregister(who, options);
  if (number % 3 == 1) controller.update(who, {offer_of(agent + "+")}, {}, options);
  const std::scoped_lock lock(ledger.mutex);
  if (number % 3 == 0) ledger.gone.insert(agent);
  if (number % 3 == 1) ledger.of_this_run.insert(agent + "+");
  ++ledger.answers;
}

/// `killed` ends waits for a controller that was never reached.
void register_until_killed(const std::string& address, Ledger& ledger, const std::stop_token& killed,
                           bool leads) {
  const CallOptions options{.deadline = kBounded.deadline, .stop = killed};
  // Only the controller drops silent peers, and logs it.
  Client client(address, {.dead_after = {}, .log = Log(Level::off)});
  ControllerClient controller(client);
  std::vector<StreamReader<Standing>> streams;
  try {
    if (leads) {
      {
        const std::scoped_lock lock(ledger.mutex);
        ledger.asked.insert(kLeader);
      }
      const Credential who{.nonce = uuid_of(1, 3), .secret = uuid_of(1, 4)};
      streams.push_back(controller.register_(who, "leader", {offer_of(kLeader)}, options));
      (void)streams.back().next();
      auto lead = controller.lead(who, offer_of(kLeader).key, options);
      const auto given = lead.next();
      const std::scoped_lock lock(ledger.mutex);
      if (given) {
        EXPECT_GT(given->epoch, ledger.epoch) << "an epoch was given twice";
        ledger.epoch = given->epoch;
        ++ledger.leads;
      }
    }
    for (;;) {
      const std::uint32_t id = controller.client_id(options);
      {
        const std::scoped_lock lock(ledger.mutex);
        EXPECT_TRUE(ledger.ids.insert(id).second) << "client id " << id << " was given twice";
      }
      if (streams.size() < kMostProcesses)
        one_process(controller, options, ledger, streams);
      else
        (void)streams.back().next();  // which ends with the controller
    }
  } catch (const Error& error) {  // the controller was killed
    const std::scoped_lock lock(ledger.mutex);
    if (!ledger.killed) ledger.left_early += std::string(error.what()) + "\n";
  }
}

/// A controller was killed: takes over what it had confirmed. `log`: that controller's.
void take_over(Ledger& ledger, const std::string& log) {
  const std::set<std::string> agents = std::exchange(ledger.of_this_run, {});
  // On a machine that is too busy, a client that has answered no ping is dropped, which the controller logs.
  if (log.find("limit=keep_alive") != std::string::npos) return;
  ASSERT_THAT(ledger.left_early, IsEmpty()) << "a client ended before its controller was killed\n" << log;
  ASSERT_THAT(log, testing::Not(testing::AnyOf(HasSubstr("server_lost"), HasSubstr("lease_over"),
                                               HasSubstr("store_degraded"))));
  ledger.there.insert(agents.begin(), agents.end());
}

/// `log`: that of the controller that was killed last.
void expect_kept(const std::set<std::string>& found, const Ledger& ledger, int kill, const std::string& log) {
  std::vector<std::string> lost;
  std::ranges::set_difference(ledger.there, found, std::back_inserter(lost));
  ASSERT_THAT(lost, IsEmpty()) << "was registered and is lost, kill " << kill << ", of " << ledger.numbers
                               << " processes\n"
                               << log;
  for (const std::string& agent : ledger.gone)
    ASSERT_FALSE(found.contains(agent)) << agent << " had left and is back, kill " << kill;
  for (const std::string& agent : found)
    ASSERT_TRUE(ledger.asked.contains(agent)) << agent << ", kill " << kill;
}

int kills() {
  const char* const text = std::getenv("MF_KILLS");
  return text != nullptr ? std::atoi(text) : 10;
}

struct KilledController : testing::TestWithParam<unsigned> {
  mftest::Folder folder;
};

TEST_P(KilledController, HasLostNothingThatItHadAnswered) {
  std::mt19937 random(GetParam());
  Ledger ledger;
  std::string log;
  for (int kill = 0; kill < kills(); ++kill) {
    Child child = start(folder.path());
    const std::string address = tcp(child.line());
    ASSERT_THAT(address, testing::StartsWith("tcp://")) << child.all_errors();
    ASSERT_NO_FATAL_FAILURE(expect_kept(agents_at(address), ledger, kill, log));
    ledger.killed = false;
    ledger.left_early.clear();

    const std::size_t enough = ledger.answers + 1 + random() % 40;
    const std::size_t leads = ledger.leads + static_cast<std::size_t>(kill % 2);  // or before one is given
    std::stop_source killed;
    std::thread other([&] { register_until_killed(address, ledger, killed.get_token(), false); });
    std::thread leader([&] { register_until_killed(address, ledger, killed.get_token(), true); });
    const bool has_enough = mftest::eventually([&] {
      const std::scoped_lock lock(ledger.mutex);
      return (ledger.answers >= enough && ledger.leads >= leads) || !ledger.left_early.empty();
    });
    {
      const std::scoped_lock lock(ledger.mutex);
      ledger.killed = true;
    }
    child.signal(SIGKILL);
    const auto ended = child.wait();
    killed.request_stop();  // not before, since a client that stops withdraws its registrations
    other.join();
    leader.join();
    log = child.all_errors();
    ASSERT_TRUE(has_enough) << "kill " << kill << "\n" << ledger.left_early << log;
    ASSERT_EQ(ended, 128 + SIGKILL);
    ASSERT_NO_FATAL_FAILURE(take_over(ledger, log)) << "kill " << kill;
  }
  Child child = start(folder.path());
  ASSERT_NO_FATAL_FAILURE(expect_kept(agents_at(tcp(child.line())), ledger, kills(), log));
  EXPECT_GT(ledger.epoch, 0U);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_THAT(child.all_errors(), testing::Not(HasSubstr("store_")));
}

/// Simulates a full disk, for any user, by a limit for the size of files.
void limit_files_of(const Child& child, rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(::prlimit(child.pid(), RLIMIT_FSIZE, nullptr, &limit), 0);
  limit.rlim_cur = bytes;
  ASSERT_EQ(::prlimit(child.pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
}

TEST(FullDisk, IsSaidAndServedFromMemoryAndNothingIsLostOnceThereIsRoomAgain) {
  const mftest::Folder folder;
  {
    Child child = start(folder.path());
    Client client(tcp(child.line()));
    ControllerClient controller(client);
    std::vector<StreamReader<Standing>> streams;
    const auto register_for = [&](std::uint64_t number, const std::string& agent) {
      const Credential who{.nonce = uuid_of(number, 1), .secret = uuid_of(number, 2)};
      streams.push_back(controller.register_(who, "p", {offer_of(agent)}, kBounded));
      EXPECT_TRUE(streams.back().next()) << agent;
    };
    register_for(1, "before");
    EXPECT_TRUE(controller.status(kBounded).store.ok);
    limit_files_of(child, 64);
    register_for(2, "meanwhile");
    const ControllerStatus status = controller.status(kBounded);
    EXPECT_FALSE(status.store.ok);
    EXPECT_EQ(status.store.name, "file:" + folder.path().string());
    EXPECT_THAT(status.store.reason,
                testing::AllOf(HasSubstr("File too large"), HasSubstr("in memory only")));
    EXPECT_EQ(status.offers, 2U);

    limit_files_of(child, RLIM_INFINITY);
    EXPECT_TRUE(mftest::eventually([&] { return controller.status(kBounded).store.ok; }));
    // Read before the process is killed, which may lose its last lines.
    EXPECT_THAT(child.error_line(), HasSubstr("store_degraded"));
    EXPECT_THAT(child.error_line(), HasSubstr("store_recovered"));
    child.signal(SIGKILL);
    ASSERT_EQ(child.wait(), 128 + SIGKILL);
    EXPECT_EQ(child.all_errors(), "");
  }
  Child child = start(folder.path());
  EXPECT_EQ(agents_at(tcp(child.line())), (std::set<std::string>{"before", "meanwhile"}));
}

TEST(StoreOfAController, IsItsOwnAloneAndSaysWhoHasIt) {
  const mftest::Folder folder;
  Child first = start(folder.path());
  (void)first.line();
  Child second = start(folder.path());
  EXPECT_EQ(second.wait(), 1);
  EXPECT_THAT(second.all_errors(),
              testing::AllOf(testing::StartsWith("mf-controller: the store "),
                             HasSubstr("process " + std::to_string(first.pid())), HasSubstr("--store")));
}

TEST(StoreOfAController, LiesInTheStateFolderUnderTheAddressUnlessThePortIsAnyOne) {
  const mftest::Folder folder;
  const auto in_state_folder = [&](const std::string& listen) {
    return Child(
        {"/usr/bin/env", "XDG_STATE_HOME=" + folder.path().string(), MF_CONTROLLER, "--listen", listen});
  };
  std::string address;
  {
    Child child = in_state_folder("tcp://127.0.0.1:0");
    address = child.line();
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  Child child = in_state_folder(address);
  ASSERT_EQ(child.line(), address);
  const std::string port = address.substr(address.rfind(':') + 1);
  EXPECT_TRUE(
      std::filesystem::exists(folder.path() / "mf" / "controller" / ("127.0.0.1-" + port) / "registry"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, KilledController, testing::Range(1U, 6U));

}  // namespace
}  // namespace mf::app
