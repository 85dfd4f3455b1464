// How bench/run.py controls a client program, over the client's stdin and stdout.
//
//   <- work count        prepare `count` calls of this work, run a tenth of them to warm up, and answer:
//   -> ready
//   <- go                make the calls, check every result, and report what was measured:
//   -> {"median_us": 12.5, "p99_us": 14.0}
//
// Processor time and system calls are counted by run.py, from "go" to the answer, in both processes. A
// program ends when its stdin ends, so that nothing is left behind however run.py ends. Unknown work: "none".
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench_rpc {

using Clock = std::chrono::steady_clock;
using Metrics = std::vector<std::pair<std::string, double>>;
/// Makes the calls; what the work needs has been prepared.
using Run = std::function<Metrics()>;
/// Prepares `count` calls.
using Work = std::function<Run(std::size_t count)>;
using Works = std::map<std::string, Work, std::less<>>;

/// Ends the bench after a wrong answer, which makes every figure worthless.
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "bench: %s\n", what);
  std::exit(1);
}

[[nodiscard]] inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// From a clock that all processes of this machine share.
[[nodiscard]] inline std::int64_t now_ns() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

/// The median and the 99th percentile of the calls' times.
[[nodiscard]] inline Metrics percentiles(std::vector<double> us) {
  const auto count = us.size();
  std::sort(us.begin(), us.end());
  return {{"median_us", us[count / 2]}, {"p99_us", us[count - 1 - count / 100]}};
}

/// Makes one call at a time: `call(i)` for each, with the time that each took.
template <class Call>
[[nodiscard]] Metrics one_by_one(std::size_t count, Call call) {
  std::vector<double> us(count);
  auto before = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    call(static_cast<std::int32_t>(i));
    const auto after = Clock::now();
    us[i] = std::chrono::duration<double, std::micro>(after - before).count();
    before = after;
  }
  return percentiles(std::move(us));
}

/// Makes all calls at once, by `calls()`.
template <class Calls>
[[nodiscard]] Metrics all_at_once(std::size_t count, Calls calls) {
  const auto start = Clock::now();
  calls();
  const double seconds = seconds_since(start);
  return {{"ms", seconds * 1e3}, {"requests_per_s", static_cast<double>(count) / seconds}};
}

/// `count` echoes of `bytes` bytes.
template <class Echo>
[[nodiscard]] Metrics echoes(std::size_t count, std::size_t bytes, Echo echo) {
  auto metrics = one_by_one(count, [&](std::int32_t) { echo(); });
  const double us = metrics.front().second;
  metrics.emplace_back("mb_per_s", static_cast<double>(bytes) / us);
  return metrics;
}

/// A stream of `count` values: `values()` writes or reads them all.
template <class Values>
[[nodiscard]] Metrics streamed(std::size_t count, Values values) {
  const auto start = Clock::now();
  values();
  return {{"values_per_s", static_cast<double>(count) / seconds_since(start)}};
}

/// The size of the list that is echoed.
inline constexpr std::size_t kNumbers = 1'000'000;

/// The size of a stream's values.
inline constexpr std::size_t kValueSize = 100;

/// `count` calls, each too short to read the clock for it.
template <class Call>
[[nodiscard]] Metrics in_a_row(std::size_t count, Call call) {
  const auto start = Clock::now();
  for (std::size_t i = 0; i < count; ++i) call(static_cast<std::int32_t>(i));
  return {{"ns", seconds_since(start) * 1e9 / static_cast<double>(count)}};
}

inline void print(const Metrics& metrics) {
  std::string line = "{";
  for (const auto& [name, value] : metrics) {
    if (line.size() > 1) line += ", ";
    line += '"' + name + "\": " + std::to_string(value);
  }
  std::puts((line + "}").c_str());
}

/// Executes the commands of run.py until stdin ends.
inline int obey(const Works& works) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  std::string name;
  std::size_t count = 0;
  while (std::cin >> name >> count) {
    const auto work = works.find(name);
    if (work == works.end() || count == 0) {
      std::puts("none");
      continue;
    }
    (void)work->second(std::max<std::size_t>(count / 10, 1))();
    const auto run = work->second(count);
    std::puts("ready");
    std::string go;
    if (!(std::cin >> go)) break;
    print(run());
  }
  return 0;
}

/// Prints the server's port, and serves until stdin ends.
inline void serve_until_stdin_ends(unsigned port) {
  std::printf("%u\n", port);
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

/// The path where the server of this port listens as well, if it got an option for that.
[[nodiscard]] inline std::string path_of(unsigned long port) {
  return "/tmp/mf-bench-" + std::to_string(port) + ".sock";
}

/// The text of request i, always 16 characters.
[[nodiscard]] inline std::string name_of(std::size_t i) {
  const auto digits = std::to_string(i);
  return "item-" + std::string(11 - digits.size(), '0') + digits;
}

/// What the servants answer to look_up.
[[nodiscard]] inline std::int32_t looked_up(std::int32_t id, std::size_t name_size) {
  return id + static_cast<std::int32_t>(name_size);
}

}  // namespace bench_rpc
