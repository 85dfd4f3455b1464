// What `make bench-observed` measures: bench-observed WORK COUNT. Prints one line of numbers and exits.
//
//   light COUNT    nanoseconds of COUNT calls in light, each: without an interceptor, with one that does
//                  nothing, and with ClientMetrics
//   metrics COUNT  nanoseconds of ClientMetrics alone, for each of COUNT calls
//   write COUNT    microseconds in which Log::write returns, 10,000 lines a second: p50, p99, the longest
//   logged COUNT   COUNT calls over loopback, 10,000 a second, of which each writes a line, and before them
//   as
//                  many that write none: p50 and p99 of these, p50 and p99 of those, in microseconds, and
//                  which percentage of those is above the p99 of these
//   tapped COUNT   nanoseconds of processor time for each of COUNT calls over loopback, client and server:
//                  before any tap, with one at 1 % of the calls, after it was taken off, with one of all
//                  calls
//
// Lines go to standard error.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench.client.hpp"
#include "mf/admin.client.hpp"
#include "mf/core/log_output.hpp"
#include "mf/interceptors/access_log.hpp"
#include "mf/interceptors/client_metrics.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "servant.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kEvery{100};  // 10,000 a second

struct Nothing final : mf::Interceptor {
  void begin(mf::InterceptedCall& /*call*/) override {}
  void end(const mf::InterceptedCall& /*call*/, const mf::CallEnd& /*end*/) override {}
};

double nanoseconds(Clock::duration of) {
  return std::chrono::duration<double, std::nano>(of).count();
}

double of_light(std::int32_t count, mf::Interceptors interceptors) {
  mf::Light light(mf::Log(mf::Level::off));
  light.offer(std::make_shared<bench_rpc::Servant>());
  mf::Client client(light, {.interceptors = std::move(interceptors)});
  const bench::BenchClient stub(client);
  std::int64_t sum = 0;
  const auto began = Clock::now();
  for (std::int32_t i = 0; i < count; ++i) sum += stub.next(i);
  const auto took = Clock::now() - began;
  if (sum <= 0) std::abort();
  return nanoseconds(took) / count;
}

double of_metrics(std::int32_t count) {
  mf::interceptors::ClientMetrics metrics;
  mf::InterceptedCall call(bench::methods::BenchNext::kService, "", bench::methods::BenchNext::kInfo,
                           mf::CallKind::call, 1, nullptr);
  mf::CallEnd end;
  end.began = mf::now();
  const auto began = Clock::now();
  for (std::int32_t i = 0; i < count; ++i) {
    metrics.begin(call);
    metrics.end(call, end);
  }
  return nanoseconds(Clock::now() - began) / count;
}

/// Does `work` so often, once in each `kEvery`, and returns how long each took, in microseconds, sorted.
template <class Work>
std::vector<double> paced(std::int32_t count, Work work) {
  std::vector<double> took;
  took.reserve(static_cast<std::size_t>(count));
  auto due = Clock::now();
  for (std::int32_t i = 0; i < count; ++i, due += kEvery) {
    while (Clock::now() < due) std::this_thread::yield();
    const auto began = Clock::now();
    work(i);
    took.push_back(nanoseconds(Clock::now() - began) / 1'000);
  }
  std::sort(took.begin(), took.end());
  return took;
}

double at(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

std::vector<double> calls(std::int32_t count, mf::Interceptors interceptors) {
  mf::ServerOptions options;
  options.interceptors = std::move(interceptors);
  options.log = mf::Log(mf::Level::off);
  mf::Server server(std::move(options));
  server.offer(std::make_shared<bench_rpc::Servant>());
  server.start();
  mf::Client client(server.address().str());
  const bench::BenchClient stub(client);
  for (std::int32_t i = 0; i < 1'000; ++i) (void)stub.next(i);
  return paced(count, [&](std::int32_t i) { (void)stub.next(i); });
}

/// The processor time of all threads of this process, in nanoseconds.
double processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// A tap with its reader; it has begun.
class Reading {
 public:
  Reading(mf::Client& of, double share, const bench::BenchClient& calls)
      : tap_(mf::admin::AdminClient(of).tap({.sample = share}, {.deadline = mf::kInfinite})), thread_([this] {
          try {
            while (tap_.next()) ++shown_;
          } catch (const mf::Error&) {  // it was cancelled
          }
        }) {
    while (shown_ == 0) (void)calls.next(1);
  }
  ~Reading() {
    tap_.cancel();
    thread_.join();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  mf::StreamReader<mf::admin::Tapped> tap_;
  std::atomic<std::uint64_t> shown_{0};
  std::thread thread_;
};

void print_tapped(std::int32_t count) {
  mf::Server server({.log = mf::Log(mf::Level::off)});
  server.offer(std::make_shared<bench_rpc::Servant>());
  server.start();
  mf::Client client(server.address().str());
  mf::Client operators(server.address().str());
  const bench::BenchClient stub(client);
  const auto each = [&] {
    const auto before = processor_time();
    for (std::int32_t i = 0; i < count; ++i) (void)stub.next(i);
    return (processor_time() - before) / count;
  };
  (void)each();
  const auto never = each();
  double hundredth = 0;
  {
    const Reading tap(operators, 0.01, stub);
    hundredth = each();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the server takes it off
  const auto after = each();
  const Reading tap(operators, 1.0, stub);
  std::cout << never << ' ' << hundredth << ' ' << after << ' ' << each() << '\n';
}

int run(const std::string& work, std::int32_t count) {
  const auto lines = mf::standard_error_log(mf::LogFormat::text);
  if (work == "light") {
    std::cout << of_light(count, {}) << ' ' << of_light(count, {std::make_shared<Nothing>()}) << ' '
              << of_light(count, {std::make_shared<mf::interceptors::ClientMetrics>()}) << '\n';
  } else if (work == "metrics") {
    std::cout << of_metrics(count) << '\n';
  } else if (work == "write") {
    const mf::Log log(lines);
    const auto took = paced(count, [&](std::int32_t i) {
      log.write(mf::Level::info, "call", {{"service", "bench.Bench"}, {"method", "next"}, {"number", i}});
    });
    std::cout << at(took, 0.5) << ' ' << at(took, 0.99) << ' ' << took.back() << '\n';
  } else if (work == "logged") {
    const auto quiet = calls(count, {std::make_shared<Nothing>()});
    const auto logged = calls(count, {std::make_shared<mf::interceptors::AccessLog>(mf::Log(lines))});
    const auto above = std::upper_bound(logged.begin(), logged.end(), at(quiet, 0.99));
    const auto past = 100.0 * static_cast<double>(logged.end() - above) / static_cast<double>(logged.size());
    std::cout << at(quiet, 0.5) << ' ' << at(quiet, 0.99) << ' ' << at(logged, 0.5) << ' ' << at(logged, 0.99)
              << ' ' << past << '\n';
  } else if (work == "tapped") {
    print_tapped(count);
  } else {
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return run(argv[1], std::atoi(argv[2]));
  std::cerr << "usage: bench-observed light|metrics|write|logged|tapped COUNT\n";
  return 2;
}
