#include "world.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "caller.hpp"
#include "mf/client/client.hpp"
#include "mf/controller/controller.hpp"
#include "mf/core/blocking.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/server.hpp"
#include "network.hpp"
#include "record.hpp"
#include "simulation.server.hpp"
#include "topics_work.hpp"

namespace simulated {
namespace {

constexpr const char* kController = "mf://127.0.0.1:7400";
constexpr const char* kRelay = "relay://127.0.0.1:7500";
constexpr int kFirstPort = 7'401;
/// Bytes for which there is credit, or room, before something has to come back over a slow network.
constexpr std::size_t kSmallestWindow = 1 << 13;

void sleep(Time time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

class Running {
 public:
  Running(std::uint64_t call, const char* method) : run_(record().begin(call, method)) {}
  ~Running() { record().end(run_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  [[nodiscard]] Run& run() { return run_; }

 private:
  Run& run_;
};

/// One place at one server.
class Place final : public simulation::WorkServant {
 public:
  explicit Place(std::string name) : name_(std::move(name)) {}

  std::uint64_t plain(std::uint64_t call, std::uint32_t nap, bool refuse, const mf::Bytes&) override {
    return single("plain", call, nap, refuse);
  }
  std::uint64_t again(std::uint64_t call, std::uint32_t nap, bool refuse, const mf::Bytes&) override {
    return single("again", call, nap, refuse);
  }
  void tell(std::uint64_t call, std::uint32_t client, std::uint32_t order) override {
    Running running(call, "tell");
    running.run().order_of = std::to_string(client) + " at " + name_;
    running.run().order = order;
  }
  void down(std::uint64_t call, std::uint32_t nap, std::uint32_t count, bool refuse,
            mf::StreamWriter<std::uint64_t>& out) override {
    const Running running(call, "down");
    for (std::uint32_t i = 0; i < count; ++i) {
      take_a_nap(call, nap / count);
      if (!out.write(call * 1'000 + i)) return;
    }
    if (refuse) throw simulation::Refused(call);
  }
  std::uint64_t up(std::uint64_t call, std::uint32_t nap, mf::StreamReader<std::uint64_t>& values) override {
    const Running running(call, "up");
    std::uint64_t taken = 0;
    while (const auto value = values.next()) {
      if (*value != call * 1'000 + taken)
        record().trouble("up " + std::to_string(call) + " got another one's value");
      ++taken;
    }
    take_a_nap(call, nap);
    return taken;
  }
  void both(std::uint64_t call, std::uint32_t nap, mf::StreamReader<std::uint64_t>& values,
            mf::StreamWriter<std::uint64_t>& out) override {
    const Running running(call, "both");
    while (const auto value = values.next()) {
      if (!out.write(*value + 1)) return;
    }
    take_a_nap(call, nap);
  }

 private:
  static std::uint64_t single(const char* method, std::uint64_t call, std::uint32_t nap, bool refuse) {
    const Running running(call, method);
    take_a_nap(call, nap);
    if (refuse) throw simulation::Refused(call);
    return call * 3 + 1;
  }
  /// Some say before that they will wait.
  static void take_a_nap(std::uint64_t call, std::uint32_t milliseconds) {
    if (milliseconds == 0) return;
    if (call % 2 == 0) mf::blocking();
    sleep(milliseconds * kMillisecond);
  }

  const std::string name_;
};

}  // namespace

void World::run(const std::vector<Fault>& faults) {
  const auto start_of_run = scheduler().now();
  network().weather = plan_.weather;
  note_troubles(faults);
  start("controller");
  if (plan_.relayed) start("relay");
  for (int server = 0; server < kServers; ++server) start("server " + std::to_string(server));
  for (std::size_t client = 0; client < plan_.clients.size(); ++client)
    start("client " + std::to_string(client));
  for (const auto& fault : faults) scheduler().at(start_of_run + fault.at, [this, fault] { begin(fault); });
  wait_until(
      [this] {
        return std::all_of(processes_.begin(), processes_.end(), [this](const Process& process) {
          return !process.is_client || process.worked || !alive(process);
        });
      },
      400 * kSecond, "the work of the clients");
  heal(faults);
  if (plan_.topics) await_messages();
  end();
}

/// Returns when all that was published has come to all its subscribers, or should have.
void World::await_messages() {
  auto& seen = topics_record();
  wait_until(
      [&] {
        for (std::size_t run = 0; run < seen.publishers.size(); ++run) {
          if (seen.publishes(static_cast<int>(run)) && seen.publishers[run].working != 0) return false;
        }
        return true;
      },
      600 * kSecond, "what is published");
  const auto until = scheduler().now() + 60 * kSecond;
  while (!seen.missing().empty() && scheduler().now() < until) sleep(100 * kMillisecond);
  seen.never_came = seen.missing();
  count_subscriptions();
}

/// Notes the hosts that the faults are about, and how late messages to the others may be.
void World::note_troubles(const std::vector<Fault>& faults) {
  auto& seen = topics_record();
  seen.relayed = plan_.relayed;
  for (const auto& fault : faults) {
    troubled_.insert(fault.whom);
    troubled_.insert(fault.other);
  }
  const bool all =
      troubled_.contains("relay") || std::any_of(faults.begin(), faults.end(), [](const Fault& each) {
        return each.kind == "slow" || each.kind == "operation";
      });
  if (!plan_.topics || all) return;
  const auto waits = static_cast<Time>(30 + plan_.topics->most_bytes() / kSmallestWindow);
  seen.patience =
      2 * kSecond + waits * (plan_.relayed ? 2 : 1) * (plan_.weather.latency + plan_.weather.spread);
}

/// Meanwhile starts what is to be started.
void World::wait_until(const std::function<bool()>& done, Time most, const char* what) {
  const auto until = scheduler().now() + most;
  while (!done()) {
    if (scheduler().now() > until) scheduler().stuck(std::string(what) + " has not ended");
    sleep(20 * kMillisecond);
  }
}

int World::number_of(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second->number;
}

void World::start(const std::string& name) {
  auto& process = processes_.emplace_back();
  process.number = static_cast<int>(processes_.size());
  by_name_[name] = &process;
  if (troubled_.contains(name)) topics_record().troubled.insert(process.number);
  record().write("process " + std::to_string(process.number) + " is " + name);
  auto& here = scheduler().self().process;
  const int before = std::exchange(here, process.number);
  process.main = std::thread([this, name, &process] {
    try {
      if (name == "controller") {
        control(process);
      } else if (name == "relay") {
        hand_on(process);
      } else if (name.starts_with("server ")) {
        serve(process, std::stoi(name.substr(7)));
      } else {
        call(process, std::stoul(name.substr(7)));
      }
    } catch (const std::exception& error) {
      record().trouble(name + " ended by an exception: " + error.what());
    }
    process.ended = true;
  });
  here = before;
}

/// How often a process looks whether it is to end: runs of topics are long, and each look changes threads.
Time World::often() const {
  return (plan_.topics ? 200 : 10) * kMillisecond;
}

void World::serve(Process& process, int server) {
  mf::ServerOptions options;
  options.listen = "tcp://127.0.0.1:" + std::to_string(kFirstPort + server);
  options.controller = kController;
  options.workers = 2;
  options.drain_timeout = std::chrono::seconds(2);
  options.log = mf::Log(mf::Level::off);
  mf::Server serving(options);
  std::optional<PublisherWork> publishing;
  if (plan_.topics) {
    publishing.emplace(*plan_.topics, server,
                       Signals{.all_is_well = all_is_well_, .asked_to_stop = process.asked_to_stop});
    publishing->offer_at(serving);
  } else {
    for (const auto* const place : kPlaces) {
      if (has_place(server, place)) serving.offer(std::make_shared<Place>(place), {.agent = place});
    }
  }
  serving.start();
  if (publishing) publishing->start();
  while (!process.asked_to_stop) sleep(often());
  serving.stop();
  if (publishing) publishing->join();
}

void World::control(Process& process) {
  mf::controller::ControllerOptions options;
  options.log = mf::Log(mf::Level::off);
  const auto controller = std::make_shared<mf::controller::Controller>(options);
  mf::ServerOptions of_server;
  of_server.listen = "tcp://127.0.0.1:7400";
  of_server.log = options.log;
  mf::Server server(of_server);
  server.offer(controller, {.where = mf::Where::io_thread});
  server.start();
  while (!process.asked_to_stop) sleep(often());
  controller->close();
  server.stop();
}

void World::hand_on(Process& process) {
  mf::relay::RelayOptions options;
  options.controller = kController;
  options.log = mf::Log(mf::Level::off);
  const auto relay = std::make_shared<mf::relay::Relay>(options);
  mf::ServerOptions of_server;
  of_server.listen = "tcp://127.0.0.1:7500";
  of_server.stream_window = 0;
  of_server.forwarder = relay;
  of_server.drain_timeout = std::chrono::seconds(2);
  of_server.log = options.log;
  mf::Server server(of_server);
  server.start();
  while (!process.asked_to_stop) sleep(often());
  server.stop();
  relay->close();
}

void World::call(Process& process, std::size_t client) {
  process.is_client = true;
  mf::ClientOptions options;
  options.log = mf::Log(mf::Level::off);
  mf::Client caller(plan_.relayed ? kRelay : kController, options);
  if (plan_.topics) {
    ReaderWork reading(*plan_.topics, client, caller,
                       {.all_is_well = all_is_well_, .asked_to_stop = process.asked_to_stop});
    process.worked = true;
    return reading.join();
  }
  const auto& plan = plan_.clients[client];
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    threads.emplace_back([&caller, &steps = plan[i], number = static_cast<std::uint32_t>(client * 10 + i)] {
      Caller(caller, number).work(steps);
    });
  }
  for (auto& thread : threads) thread.join();
  process.worked = true;
  while (!all_is_well_) sleep(often());
  Caller(caller, static_cast<std::uint32_t>(client * 10 + 9)).probe();
  while (!process.asked_to_stop) sleep(often());
}

// Runs wherever its time is noticed: it must not wait.
void World::begin(const Fault& fault) {
  record().write("fault: " + fault.str());
  const int whom = number_of(fault.whom);
  auto& net = network();
  if (fault.kind == "cut") {
    net.cut(whom, number_of(fault.other));
  } else if (fault.kind == "part") {
    net.part(whom, number_of(fault.other), fault.lasts);
  } else if (fault.kind == "stop") {
    scheduler().stop_until(whom, scheduler().now() + fault.lasts);
  } else if (fault.kind == "kill") {
    scheduler().kill(whom);
    net.kill(whom, fault.number % 2 == 0);
    if (!fault.whom.starts_with("client")) start_later(fault.whom, fault.lasts);
  } else if (fault.kind == "restart") {
    by_name_.at(fault.whom)->asked_to_stop = true;
    start_later(fault.whom, fault.lasts);
  } else if (fault.kind == "slow") {
    net.slow = Network::kSlow;
    scheduler().at(scheduler().now() + fault.lasts, [&net] { net.slow = 1.0; });
  } else {
    net.fail_at = net.operations + fault.number;
  }
}

/// As soon as the one before has ended.
void World::start_later(const std::string& name, Time after) {
  scheduler().at(scheduler().now() + after, [this, name] {
    auto& process = *by_name_.at(name);
    if (alive(process) && !process.ended) {
      if (process.asked_to_stop) start_later(name, 100 * kMillisecond);
      return;  // another one has come already
    }
    start(name);
  });
}

void World::heal(const std::vector<Fault>& faults) {
  Time over = 0;
  for (const auto& fault : faults) over = std::max(over, fault.at + fault.lasts);
  const auto waited = scheduler().now() + over;
  wait_until(
      [&] {
        return scheduler().now() >= waited &&
               std::all_of(by_name_.begin(), by_name_.end(), [this](const auto& entry) {
                 return entry.second->is_client || (alive(*entry.second) && !entry.second->asked_to_stop);
               });
      },
      100 * kSecond, "the return of what was killed");
  network().fail_at = ~std::uint64_t{0};
  sleep(network().slowest() + 5 * kSecond);  // what was sent while the network was slow is still on its way
  all_is_well_ = true;
  sleep(5 * kSecond);
}

void World::end() {
  sleep(4 * kSecond);                      // longer than any nap, which nothing can end
  for (const auto& run : record().runs) {  // before the end of their servers stops them
    if (!run.ended && !scheduler().killed(run.process))
      record().trouble(run.method + " " + std::to_string(run.call) + ": its handler was never stopped");
  }
  const auto stop = [this](const std::string& kind) {
    for (auto& [name, process] : by_name_) {
      if (!name.starts_with(kind)) continue;
      process->asked_to_stop = true;
    }
    for (auto& process : processes_) {
      if (!alive(process)) {
        if (process.main.joinable()) process.main.detach();
      } else if (process.asked_to_stop && process.main.joinable()) {
        process.main.join();
      }
    }
  };
  stop("client");
  sleep(kSecond);
  stop("relay");
  stop("server");
  stop("controller");
  sleep(kSecond);
  for (const auto& left : scheduler().threads_left()) record().trouble("left at the end: " + left);
  for (const auto& left : network().open_ends()) record().trouble("left at the end: " + left);
}

}  // namespace simulated
