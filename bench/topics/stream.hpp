// The seed's stream benchmark: one thread publishes, and a thread for each subscriber reads, in one process.
// Prints {"delivered_per_s": …, "cpu_us_per_message": …}, of messages that were delivered.
#pragma once

#include <ctime>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "rpc/commands.hpp"

namespace bench_topics {

using bench_rpc::check;

struct Stream {
  std::size_t subscribers = 1;
  std::size_t size = 0;
  std::uint64_t count = 0;
};

/// SUBSCRIBERS SIZE COUNT
[[nodiscard]] inline Stream stream_of(char** arguments) {
  return {std::stoul(arguments[0]), std::stoul(arguments[1]), std::stoul(arguments[2])};
}

inline constexpr std::size_t kField = 32;

/// The fields of a record of so many bytes.
[[nodiscard]] inline std::vector<std::string> fields_of(std::size_t size) {
  return std::vector<std::string>(std::max<std::size_t>(size / kField, 1), std::string(kField, 'x'));
}

/// `publish()` all messages; `read(subscriber)` returns when all have come.
template <class Publish, class Read>
void measure(const Stream& stream, Publish publish, Read read) {
  const auto cpu = [] {
    timespec now{};
    (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
  };
  const auto delivered = static_cast<double>(stream.count * stream.subscribers);
  const double cpu_before = cpu();
  const auto start = bench_rpc::Clock::now();
  {
    std::vector<std::jthread> readers;
    for (std::size_t i = 0; i < stream.subscribers; ++i) readers.emplace_back([&, i] { read(i); });
    publish();
  }
  bench_rpc::print({{"delivered_per_s", delivered / bench_rpc::seconds_since(start)},
                    {"cpu_us_per_message", (cpu() - cpu_before) / delivered}});
}

}  // namespace bench_topics
