// Sends twice as many calls as a server can run. What limits it is waiting, not the processor: a handler
// takes 2 ms, and 8 run at once.
//
//   overload server LISTEN [none]   with a limit of 8 and 16 that wait, or with none; prints where it listens
//   overload client ADDRESS         obeys the lines of its standard input, answers each with one line:
//     measure SECONDS   each part for SECONDS:
//       {"peak": results per second while 24 callers wait for their answers,
//        "goodput": results per second when twice as many calls are sent, each with a deadline of 100 ms,
//        "refused": how many calls with a deadline of 9 ms are refused, and
//        "refused_p99_ms": within which time}. No pause before a retry is that short, so each is refused
//        once.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench_work.client.hpp"
#include "bench_work.server.hpp"
#include "mf/core/error.hpp"
#include "mf/server/server.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kAtOnce = 8;
constexpr std::uint32_t kWaiting = 16;
constexpr auto kRun = 2ms;

class Work final : public bench_work::WorkServant {
 public:
  std::string text(const std::string& x) override { return x; }
  std::int32_t step(std::int32_t x) override {
    std::this_thread::sleep_for(kRun);
    return x + 1;
  }
};

int serve(const char* listen, bool limited) {
  mf::Server server({.listen = listen, .workers = kAtOnce});
  mf::OfferOptions options{.agent = "", .where = mf::Where::worker};
  if (limited) options.limits["step"] = {.concurrent = kAtOnce, .queued = kWaiting};
  server.offer(std::make_shared<Work>(), options);
  server.start();
  std::puts(server.address().str().c_str());
  std::fflush(stdout);
  server.run();
  return 0;
}

/// Results per second when this many callers wait for their answers.
double closed_loop(const bench_work::WorkClient& work, std::chrono::seconds time) {
  std::atomic<int> results{0};
  std::vector<std::thread> callers;
  const auto end = Clock::now() + time;
  for (std::uint32_t i = 0; i < kAtOnce + kWaiting; ++i) {
    callers.emplace_back([&] {
      while (Clock::now() < end) {
        try {
          (void)work.step(1);
          ++results;
        } catch (const mf::Error&) {
          continue;
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
  return results / std::chrono::duration<double>(time).count();
}

struct Sent {
  double results = 0;  // per second
  std::vector<double> refused_ms;
};

/// Makes calls at this rate per second, even if earlier ones have not ended.
Sent open_loop(const bench_work::WorkClient& work, double rate, std::chrono::seconds time,
               std::chrono::nanoseconds deadline) {
  std::mutex mutex;
  std::vector<double> refused;
  std::atomic<int> results{0};
  std::atomic<int> open{0};
  const auto begin = Clock::now();
  std::int64_t sent = 0;
  for (auto now = begin; now < begin + time; now = Clock::now()) {
    const auto due = static_cast<std::int64_t>(rate * std::chrono::duration<double>(now - begin).count());
    for (; sent < due; ++sent) {
      ++open;
      work.async_step(1, {.deadline = deadline}, [&, at = Clock::now()](mf::Outcome<std::int32_t> outcome) {
        if (outcome.ok()) {
          ++results;
        } else if (outcome.failure().code == mf::Code::overloaded) {
          const std::scoped_lock lock(mutex);
          refused.push_back(std::chrono::duration<double, std::milli>(Clock::now() - at).count());
        }
        --open;
      });
    }
    std::this_thread::sleep_for(1ms);
  }
  while (open != 0) std::this_thread::sleep_for(1ms);  // each ends at its deadline
  return {.results = results / std::chrono::duration<double>(time).count(), .refused_ms = std::move(refused)};
}

std::string measure(const bench_work::WorkClient& work, std::chrono::seconds time) {
  const auto peak = closed_loop(work, time);
  const auto good = open_loop(work, 2 * peak, time, 100ms);
  auto quick = open_loop(work, 2 * peak, time, 9ms);
  auto& times = quick.refused_ms;
  std::ranges::sort(times);
  std::ostringstream line;
  line << "{\"peak\": " << peak << ", \"goodput\": " << good.results << ", \"refused\": " << times.size()
       << ", \"refused_p99_ms\": ";
  if (times.empty()) {
    line << "null}";
  } else {
    line << times[times.size() - 1 - times.size() / 100] << '}';
  }
  return line.str();
}

int call(const char* address) {
  mf::Client client(address);
  const bench_work::WorkClient work(client);
  (void)work.step(1);
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    std::string what;
    std::int64_t seconds = 0;
    if (words >> what >> seconds && what == "measure") {
      std::cout << measure(work, std::chrono::seconds(seconds)) << std::endl;
    } else {
      std::cout << "none" << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 2 ? argv[1] : "";
  try {
    if (role == "server") return serve(argv[2], argc < 4 || std::string(argv[3]) != "none");
    if (role == "client") return call(argv[2]);
  } catch (const mf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fputs("usage: overload server LISTEN [none] | client ADDRESS\n", stderr);
  return 2;
}
