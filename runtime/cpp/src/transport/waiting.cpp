#include "mf/transport/waiting.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace mf::transport {
namespace {

// A wait may hold a lock that the thread which moves the clock needs; this bound prevents a deadlock.
constexpr auto kNoticedWithin = std::chrono::seconds(2);

struct Waiting {
  TimePoint until;
  const void* loop;  // the loop of a timer
  std::thread::id thread;
};

struct Waits {
  std::mutex mutex;
  std::condition_variable ended;
  std::map<std::uint64_t, Waiting> all;
  std::uint64_t ids = 0;
};

// Never destroyed, since threads may end later than static objects.
Waits& waits() {
  static auto* const all = new Waits;
  return *all;
}

thread_local const void* own = nullptr;

}  // namespace

void set_own_loop(const void* loop) noexcept {
  own = loop;
}

void TimedWait::begin(TimePoint until, const void* loop) {
  auto& all = waits();
  const std::scoped_lock lock(all.mutex);
  id_ = ++all.ids;
  all.all.emplace(id_, Waiting{.until = until, .loop = loop, .thread = std::this_thread::get_id()});
}

void TimedWait::end() noexcept {
  auto& all = waits();
  const std::scoped_lock lock(all.mutex);
  all.all.erase(id_);
  all.ended.notify_all();
}

std::optional<TimePoint> next_wait(TimePoint after, bool with_timers) {
  auto& all = waits();
  const std::scoped_lock lock(all.mutex);
  std::optional<TimePoint> next;
  for (const auto& [id, wait] : all.all) {
    if (wait.until <= after || (wait.loop != nullptr && !with_timers)) continue;
    if (!next || wait.until < *next) next = wait.until;
  }
  return next;
}

void await_noticed(TimePoint now) {
  auto& all = waits();
  std::unique_lock lock(all.mutex);
  const auto newest = all.ids;
  const auto noticed = [&] {
    for (const auto& [id, wait] : all.all) {
      if (id > newest || wait.until > now) continue;
      if (wait.loop != nullptr ? wait.loop != own : wait.thread != std::this_thread::get_id()) return false;
    }
    return true;
  };
  (void)all.ended.wait_for(lock, kNoticedWithin, noticed);
}

}  // namespace mf::transport
