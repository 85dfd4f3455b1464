#include "server/preemption.hpp"

#include <sys/resource.h>
#include <sys/time.h>

namespace mf::server {
namespace {

constexpr std::chrono::microseconds kOld{250};
constexpr std::chrono::milliseconds kLongestWait{100};

struct Account {
  TimePoint at{};
  long preempted = 0;
  std::chrono::nanoseconds processor{};
};

thread_local Account latest;

Account account(TimePoint now) noexcept {
  rusage used{};
  if (::getrusage(RUSAGE_THREAD, &used) != 0) return {.at = now};
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return {.at = now, .preempted = used.ru_nivcsw, .processor = time(used.ru_utime) + time(used.ru_stime)};
}

}  // namespace

void watch_preemption(TimePoint now) noexcept {
  if (now - latest.at > kOld) latest = account(now);
}

bool was_preempted(std::chrono::nanoseconds took, std::chrono::nanoseconds most) noexcept {
  if (took > kLongestWait) return false;
  const auto now = account({});
  return now.preempted != latest.preempted && now.processor - latest.processor <= most;
}

}  // namespace mf::server
