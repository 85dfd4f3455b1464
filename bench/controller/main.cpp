// What `make bench-controller` measures at a controller: bench-controller URL WORK COUNT. Prints one line,
// the seconds that the work took (push: the milliseconds of each change, in order), and exits.
//
//   register COUNT   COUNT processes register one offer each, over connections of 500 each
//   look_up COUNT    10,000 instances of 1,000 services are registered; COUNT look-ups of one service
//   push COUNT       1,000 watchers of one service; COUNT changes, each until all of them know it
//   connect COUNT    COUNT clients, each with a connection and a watch; they stay until standard input ends
//   watch COUNT      the same with 100 watches on each connection
//   change COUNT     1,000 processes register, and a line says so; after a line of standard input
//                    COUNT changes, ten a second: a service comes, or leaves again

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"

namespace {

using namespace mf::controller;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kStreamsOfAConnection = 500;  // a client allows 512
constexpr std::ptrdiff_t kWindow = 256;
const mf::CallOptions kLasting{.deadline = mf::kInfinite};

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "bench-controller: " << what << '\n';
  std::_Exit(1);
}

mf::Uuid number(std::uint64_t value) {
  mf::Uuid made;
  std::memcpy(made.bytes.data(), &value, sizeof value);
  return made;
}

Offer offer(const std::string& name) {
  Offer offer;
  offer.key.name = name;
  offer.addresses = {"tcp://10.0.0.7:7401"};
  offer.weight = 1;
  return offer;
}

/// Processes that stay registered as long as this object exists.
class Processes {
 public:
  explicit Processes(std::string url) : url_(std::move(url)) {}

  /// Returns when all are registered.
  void add(std::size_t count, const std::function<std::string(std::size_t)>& name) {
    std::counting_semaphore<> free(kWindow);
    for (std::size_t i = 0; i < count; ++i) {
      if (streams_.size() % kStreamsOfAConnection == 0)
        clients_.push_back(
            std::make_unique<mf::Client>(url_, mf::ClientOptions{.log = mf::Log(mf::Level::off)}));
      free.acquire();
      const ControllerClient controller(*clients_.back());
      Credential who;
      who.nonce = number(streams_.size() + 1);
      who.secret = who.nonce;
      auto stream = std::make_unique<mf::StreamReader<Standing>>(
          controller.register_(who, "bench", {offer(name(i))}, kLasting));
      stream->async_next([&free](mf::Outcome<std::optional<Standing>>&& outcome) {
        if (!outcome.ok()) fail(outcome.failure().message);
        free.release();
      });
      streams_.push_back(std::move(stream));
    }
    for (std::ptrdiff_t i = 0; i < kWindow; ++i) free.acquire();
  }

 private:
  const std::string url_;
  std::vector<std::unique_ptr<mf::Client>> clients_;
  std::vector<std::unique_ptr<mf::StreamReader<Standing>>> streams_;
};

template <class Work>
void timed(Work&& work) {
  const auto begin = Clock::now();
  work();
  std::printf("%.6f\n", std::chrono::duration<double>(Clock::now() - begin).count());
  std::fflush(stdout);
}

void register_all(const std::string& url, std::size_t count) {
  Processes processes(url);
  timed([&] {
    processes.add(count, [](std::size_t i) { return "bench.Service" + std::to_string(i % 1'000); });
  });
}

void look_up(const std::string& url, std::size_t count) {
  Processes processes(url);
  processes.add(10'000, [](std::size_t i) { return "bench.Service" + std::to_string(i % 1'000); });
  mf::Client client(url);
  const ControllerClient controller(client);
  timed([&] {
    std::counting_semaphore<> free(kWindow);
    Filter filter;
    for (std::size_t i = 0; i < count; ++i) {
      filter.name = "bench.Service" + std::to_string(i % 1'000);
      free.acquire();
      controller.async_find(filter, [&free](mf::Outcome<Found>&& outcome) {
        if (!outcome.ok() || outcome.value().instances.size() != 10)
          fail("a look-up has not found ten instances");
        free.release();
      });
    }
    for (std::ptrdiff_t i = 0; i < kWindow; ++i) free.acquire();
  });
}

void change(const std::string& url, std::size_t count) {
  constexpr std::size_t kProcesses = 1'000;
  constexpr auto kPause = std::chrono::milliseconds(100);
  Processes processes(url);
  processes.add(kProcesses, [](std::size_t i) { return "bench.Service" + std::to_string(i % 40); });
  std::puts("all are there");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  mf::Client client(url);
  const ControllerClient controller(client);
  timed([&] {
    auto next = Clock::now();
    for (std::size_t i = 0; i < count; ++i) {
      Credential who;
      who.nonce = who.secret = number(i / 2 % kProcesses + 1);
      const auto more = offer("bench.More");
      if (i % 2 == 0) {
        controller.update(who, {more}, {});
      } else {
        controller.update(who, {}, {more.key});
      }
      next += kPause;
      std::this_thread::sleep_until(next);
    }
  });
}

class Watcher {
 public:
  Watcher(mf::Client& client, std::counting_semaphore<>& told)
      : told_(told), stream_(ControllerClient(client).watch(filter(), 0, 0, kLasting)) {
    read();
  }

 private:
  static Filter filter() {
    Filter filter;
    filter.name = "bench.Service";
    return filter;
  }
  void read() {
    stream_.async_next([this](mf::Outcome<std::optional<Change>>&& outcome) {
      if (!outcome.ok()) return;  // the stream has ended
      told_.release();
      read();
    });
  }

  std::counting_semaphore<>& told_;
  mf::StreamReader<Change> stream_;
};

void push(const std::string& url, std::size_t count) {
  constexpr std::size_t kWatchers = 1'000;
  std::counting_semaphore<> told(0);
  const auto all_told = [&told] {
    for (std::size_t i = 0; i < kWatchers; ++i)
      if (!told.try_acquire_for(std::chrono::seconds(10))) fail("a watcher was not notified");
  };
  // Each over its own connection, as clients have them.
  std::vector<std::unique_ptr<mf::Client>> clients;
  std::vector<std::unique_ptr<Watcher>> watchers;
  mf::Client server(url);
  const ControllerClient controller(server);
  Credential who;
  who.nonce = who.secret = number(1);
  const auto stream = controller.register_(who, "bench", {}, kLasting);
  for (std::size_t i = 0; i < kWatchers; ++i) {
    if (i % 100 == 0) clients.push_back(std::make_unique<mf::Client>(url));
    watchers.push_back(std::make_unique<Watcher>(*clients.back(), told));
  }
  all_told();
  for (std::size_t i = 0; i < count; ++i) {
    Offer changed = offer("bench.Service");
    changed.weight = static_cast<std::uint32_t>(i + 1);
    const auto begin = Clock::now();
    controller.update(who, {changed}, {});
    all_told();
    std::printf("%.3f ", std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  std::puts("");
  std::fflush(stdout);
  clients.clear();
}

void stay(const std::string& url, std::size_t count, std::size_t of_a_connection) {
  std::counting_semaphore<> told(0);
  std::vector<std::unique_ptr<mf::Client>> clients;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % of_a_connection == 0) clients.push_back(std::make_unique<mf::Client>(url));
    watchers.push_back(std::make_unique<Watcher>(*clients.back(), told));
    if (!told.try_acquire_for(std::chrono::seconds(10))) fail("a watcher was not notified");
  }
  std::puts("all are there");
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: bench-controller URL WORK COUNT");
  const std::string work = argv[2];
  const auto count = static_cast<std::size_t>(std::stoul(argv[3]));
  if (work == "register") {
    register_all(argv[1], count);
  } else if (work == "look_up") {
    look_up(argv[1], count);
  } else if (work == "push") {
    push(argv[1], count);
  } else if (work == "connect") {
    stay(argv[1], count, 1);
  } else if (work == "watch") {
    stay(argv[1], count, 100);
  } else if (work == "change") {
    change(argv[1], count);
  } else {
    fail("there are register, look_up, push, connect, watch, change");
  }
  std::_Exit(0);  // skips withdrawing ten thousand registrations one by one
}
