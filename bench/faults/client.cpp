// `faults_client ADDRESS`: makes calls while the bench causes faults, and reports how the calls went. load.py
// is the same in Python. It obeys the lines of its standard input, answers each with one line, and exits when
// its input ends:
//
//   load THREADS   THREADS threads call in a loop from now on; "ready" once each has had an answer
//   report         what they have met since the previous report:
//     {"calls": 9, "failed": 1, "first": "why the first one failed",
//      "gaps_ms": [...]     of each thread: the longest time from one answer to the next,
//      "back_ns": 12345}    when the last thread that met a failure had an answer again; 0: none did
//   herd COUNT     COUNT clients, each with one call; "ready" once all have had an answer
//   back           has each of them call until it has an answer: {"back_ns": when the last one had it}
//   sample SECONDS one call after the other for SECONDS:
//     {"calls": 9, "p50_us": 15, "p99_us": 30, "failed": 0}
//   one SECONDS    one call with this deadline: {"ms": how long it took, "ok": 1, "how": "why it failed"}
//
// Times in nanoseconds are of CLOCK_MONOTONIC, which all processes of a machine share.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench_work.client.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kDeadline = 5s;        // of each call under load
constexpr auto kPause = 10ms;         // after a failure, as a caller would
constexpr std::size_t kCallers = 32;  // threads that make a herd's calls
constexpr auto kHerdPatience = 120s;

std::int64_t ns(Clock::time_point at) {
  return std::chrono::nanoseconds(at.time_since_epoch()).count();
}

/// Why the call failed; empty if it succeeded.
std::string call(const bench_work::WorkClient& work, std::chrono::nanoseconds deadline) {
  try {
    return work.step(1, {.deadline = deadline}) == 2 ? "" : "a wrong answer";
  } catch (const mf::Error& error) {
    return error.what();
  }
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

/// One thread of the load, and how its calls went.
class Caller {
 public:
  explicit Caller(mf::Client& client) : work_(client) {}

  struct Met {
    std::uint64_t calls = 0;
    std::uint64_t failed = 0;
    std::string first;
    Clock::duration gap{};
    Clock::time_point back{};
  };

  void wait_for_answer() const { answered_.wait(false); }
  Met take() {
    const std::scoped_lock lock(mutex_);
    met_.gap = std::max(met_.gap, Clock::now() - last_answer_);  // a gap that still lasts counts as well
    return std::exchange(met_, {});
  }

 private:
  void run(const std::stop_token& stop) {
    bool failing = false;
    while (!stop.stop_requested()) {
      const auto why = call(work_, kDeadline);
      const auto now = Clock::now();
      {
        const std::scoped_lock lock(mutex_);
        ++met_.calls;
        if (why.empty()) {
          if (answered_) met_.gap = std::max(met_.gap, now - last_answer_);
          if (std::exchange(failing, false)) met_.back = now;
          last_answer_ = now;
        } else {
          failing = true;
          if (met_.failed++ == 0) met_.first = why;
        }
      }
      if (failing) {
        std::this_thread::sleep_for(kPause);
      } else if (!answered_.exchange(true)) {
        answered_.notify_all();
      }
    }
  }

  const bench_work::WorkClient work_;
  std::mutex mutex_;
  Met met_;
  Clock::time_point last_answer_ = Clock::now();
  std::atomic<bool> answered_{false};
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

std::string report(const std::vector<std::unique_ptr<Caller>>& callers) {
  Caller::Met sum;
  std::ostringstream gaps;
  for (const auto& caller : callers) {
    auto met = caller->take();
    sum.calls += met.calls;
    sum.failed += met.failed;
    if (sum.first.empty()) sum.first = std::move(met.first);
    sum.back = std::max(sum.back, met.back);
    gaps << (gaps.tellp() > 0 ? ", " : "") << std::chrono::duration<double, std::milli>(met.gap).count();
  }
  std::ostringstream line;
  line << "{\"calls\": " << sum.calls << ", \"failed\": " << sum.failed
       << ", \"first\": " << quoted(sum.first) << ", \"gaps_ms\": [" << gaps.str()
       << "], \"back_ns\": " << ns(sum.back) << '}';
  return line.str();
}

/// Each client calls until it has an answer; a few threads do this in turns. Returns when the last one had
/// it; 0 if not all had one.
std::int64_t all_back(const std::vector<std::unique_ptr<mf::Client>>& herd) {
  std::mutex mutex;
  std::deque<mf::Client*> left;
  for (const auto& client : herd) left.push_back(client.get());
  std::size_t back = 0;
  Clock::time_point last{};
  const auto until = Clock::now() + kHerdPatience;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kCallers; ++i) {
      threads.emplace_back([&] {
        while (Clock::now() < until) {
          mf::Client* client = nullptr;
          {
            const std::scoped_lock lock(mutex);
            if (back == herd.size()) return;
            if (!left.empty()) {
              client = left.front();
              left.pop_front();
            }
          }
          const bool answered = client != nullptr && call(bench_work::WorkClient(*client), 1s).empty();
          if (!answered) std::this_thread::sleep_for(1ms);
          if (client == nullptr) continue;
          const std::scoped_lock lock(mutex);
          if (answered) {
            ++back;
            last = std::max(last, Clock::now());
          } else {
            left.push_back(client);
          }
        }
      });
    }
  }
  return back == herd.size() ? ns(last) : 0;
}

std::string sample(const bench_work::WorkClient& work, std::chrono::seconds length) {
  std::vector<double> us;
  std::uint64_t failed = 0;
  for (const auto until = Clock::now() + length; Clock::now() < until;) {
    const auto before = Clock::now();
    if (!call(work, kDeadline).empty()) ++failed;
    us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
  }
  std::ranges::sort(us);
  std::ostringstream line;
  line << "{\"calls\": " << us.size() << ", \"p50_us\": " << us[us.size() / 2]
       << ", \"p99_us\": " << us[us.size() - 1 - us.size() / 100] << ", \"failed\": " << failed << '}';
  return line.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: faults_client ADDRESS\n";
    return 2;
  }
  const std::string address = argv[1];
  mf::Client client(address);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::unique_ptr<mf::Client>> herd;
  std::string command;
  while (std::cin >> command) {
    std::size_t count = 0;
    if (command == "load" && std::cin >> count) {
      while (callers.size() < count) callers.push_back(std::make_unique<Caller>(client));
      for (const auto& caller : callers) caller->wait_for_answer();
      std::cout << "ready" << std::endl;
    } else if (command == "report") {
      std::cout << report(callers) << std::endl;
    } else if (command == "herd" && std::cin >> count) {
      while (herd.size() < count) herd.push_back(std::make_unique<mf::Client>(address));
      std::cout << (all_back(herd) != 0 ? "ready" : "none") << std::endl;
    } else if (command == "back") {
      std::cout << "{\"back_ns\": " << all_back(herd) << '}' << std::endl;
    } else if (command == "sample" && std::cin >> count) {
      std::cout << sample(bench_work::WorkClient(client), std::chrono::seconds(count)) << std::endl;
    } else if (command == "one" && std::cin >> count) {
      const auto before = Clock::now();
      const auto why = call(bench_work::WorkClient(client), std::chrono::seconds(count));
      const double ms = std::chrono::duration<double, std::milli>(Clock::now() - before).count();
      std::cout << "{\"ms\": " << ms << ", \"ok\": " << (why.empty() ? 1 : 0) << ", \"how\": " << quoted(why)
                << '}' << std::endl;
    } else {
      std::cerr << "faults_client: " << command << " is no command\n";
      return 2;
    }
  }
  return 0;
}
