#include "mf/testing/clock.hpp"

#include "mf/core/error.hpp"
#include "mf/transport/memory_port.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::testing {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw Error(Code::invalid_argument, Execution::not_executed, why);
}

/// Time does not go back when two threads move it.
void move_to(TimePoint moment) {
  auto& time = mf::detail::test_time;
  const auto ticks = moment.time_since_epoch().count();
  auto before = time.load();
  while (before != 0 && before < ticks && !time.compare_exchange_weak(before, ticks)) {
  }
  transport::await_noticed(moment);
  transport::await_settled();
}

}  // namespace

FakeClock::FakeClock() {
  TimePoint::rep none = 0;
  if (!mf::detail::test_time.compare_exchange_strong(
          none, std::chrono::steady_clock::now().time_since_epoch().count()))
    refuse("there is a FakeClock already: one decides the time of the whole process");
}

FakeClock::~FakeClock() {
  mf::detail::test_time.store(0);
}

void FakeClock::advance(std::chrono::nanoseconds by) {
  detail::advance_installed(by);
}

std::optional<std::chrono::nanoseconds> FakeClock::next_wait() const {
  const auto now = mf::now();
  const auto next = transport::next_wait(now, true);
  return next ? std::optional<std::chrono::nanoseconds>(*next - now) : std::nullopt;
}

void detail::advance_installed(std::chrono::nanoseconds by, const std::function<bool()>& enough) {
  if (!on_test_time()) refuse("that time passes needs a mf::testing::FakeClock");
  if (by.count() < 0) refuse("a clock does not go back");
  const auto target = mf::now() + by;
  for (auto next = transport::next_wait(mf::now(), true); next && *next < target;
       next = transport::next_wait(*next, true)) {
    if (enough && enough()) return;
    move_to(*next);
  }
  if (!enough || !enough()) move_to(target);
}

}  // namespace mf::testing
