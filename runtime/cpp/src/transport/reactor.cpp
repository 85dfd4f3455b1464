#include "mf/transport/reactor.hpp"

#include <sys/ioctl.h>

#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/blocking.hpp"
#include "mf/core/error.hpp"
#include "mf/transport/thread.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::transport {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

// How long an unused socket stays registered, since the next asynchronous call usually follows. Until then
// each reply to a blocking call wakes the loop, too.
constexpr auto kIdle = std::chrono::milliseconds(100);

// After this time an unused spare thread ends.
constexpr auto kSpareKept = std::chrono::seconds(10);

constexpr unsigned kRead = static_cast<unsigned>(Interest::read);
constexpr unsigned kWrite = static_cast<unsigned>(Interest::write);

/// One descriptor. The loop's mutex guards all of it, including calls of Asio.
struct Watch {
  Watch(asio::io_context& context, int number, std::shared_ptr<Watched> whom, bool once)
      : descriptor(context), fd(number), handler(std::move(whom)), one_shot(once) {}

  Descriptor descriptor;  // open: registered
  int fd;
  std::shared_ptr<Watched> handler;  // null: forgotten
  bool one_shot;
  unsigned wanted = 0;
  unsigned waiting = 0;  // the events that Asio waits for, possibly more than wanted
  bool used = true;      // since the last check for idle ones
};

// Asio makes watched descriptors non-blocking, although it never reads or writes them here; but a caller of a
// client blocks in its own read.
void set_blocking(int fd) noexcept {
  int no = 0;
  (void)::ioctl(fd, FIONBIO, &no);
}

// Thrown by the loop's own callbacks, to leave io_context::run() when the thread has handed over the role.
struct HandedOver {};
struct Stopped {};

// Timers by mf::now().
struct OurTime {
  using duration = mf::TimePoint::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = mf::TimePoint;
  static time_point now() noexcept { return mf::now(); }
};
struct InSlices {
  static OurTime::duration to_wait_duration(OurTime::duration left) { return slice(left); }
  static OurTime::duration to_wait_duration(OurTime::time_point until) { return slice(until - mf::now()); }
};
struct Timer {
  Timer(asio::io_context& context, mf::TimePoint when, const void* loop)
      : timer(context, when), wait(when, loop) {}

  asio::basic_waitable_timer<OurTime, InSlices> timer;
  TimedWait wait;
};

/// The loop that this thread runs, or ran before it handed over the role.
thread_local const void* own_loop = nullptr;

}  // namespace

// The threads that run the loop. Outlives the loop until its last thread has ended.
struct Reactor::Crew {
  std::mutex mutex;
  std::condition_variable vacancy;
  std::condition_variable ended;
  std::size_t threads = 0;
  std::size_t parked = 0;
  bool vacant = true;  // the role is not taken; initially true
  bool over = false;
  std::atomic<std::size_t> away{0};  // threads that have handed over the role and have not returned
  Threads all;
};

// The state of the threads' work; shared with them, so that it may outlive the Reactor by one turn.
class Reactor::Loop final : public detail::IoRole, public std::enable_shared_from_this<Loop> {
 public:
  // With one thread Asio needs no wake-ups for posted work, and hides work posted on that thread from others.
  Loop(std::size_t spares, std::shared_ptr<Crew> crew, Log log)
      : context_(spares == 0 ? 1 : BOOST_ASIO_CONCURRENCY_HINT_DEFAULT),
        spares_(spares),
        crew_(std::move(crew)),
        log_(std::move(log)) {}

  /// Adds a thread. Throws std::system_error.
  void start_thread();
  void run(UniqueFunction<void()>& work, const char* what) noexcept;
  void hand_over() noexcept override;
  [[nodiscard]] bool has_spare() const noexcept {
    return crew_->away.load(std::memory_order_relaxed) < spares_;
  }
  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  void arm(int fd, Interest interest);
  /// With `only`: unless the number belongs to another descriptor by now.
  void forget(int fd, const Watch* only = nullptr) noexcept;
  void post(UniqueFunction<void()> work);
  TimerId at(TimePoint when, UniqueFunction<void()> work);
  void cancel(TimerId timer) noexcept;
  void stop() noexcept;

 private:
  void serve();
  [[nodiscard]] bool take_role();
  [[nodiscard]] bool give_role() noexcept;
  void finish();
  /// To be called at the end of each callback.
  void leave_if_handed_over() const {
    if (spares_ != 0 && detail::io_role != this) throw HandedOver();
  }
  void open(Watch& watch);
  void close(Watch& watch) noexcept;
  void wait(const std::shared_ptr<Watch>& watch);
  void wait_for(const std::shared_ptr<Watch>& watch, unsigned direction, Descriptor::wait_type type);
  void on_event(const std::shared_ptr<Watch>& watch, unsigned direction);
  void look_for_idle();
  void close_idle();

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::mutex mutex_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::map<TimerId, Timer> timers_;
  TimerId timer_ids_ = 0;
  asio::steady_timer idle_{context_};
  bool looks_for_idle_ = false;
  const std::size_t spares_;
  const std::shared_ptr<Crew> crew_;
  const Log log_;
  const std::shared_ptr<Watch>* told_ =
      nullptr;  // the handler being notified by the thread with the role, if any
};

void Reactor::Loop::start_thread() {
  {
    const std::scoped_lock lock(crew_->mutex);
    ++crew_->threads;
  }
  try {
    crew_->all.start([loop = shared_from_this(), crew = crew_]() mutable {
      loop->serve();
      loop.reset();
      const std::scoped_lock lock(crew->mutex);
      --crew->threads;
      crew->ended.notify_all();
    });
  } catch (...) {
    const std::scoped_lock lock(crew_->mutex);
    --crew_->threads;
    throw;
  }
}

void Reactor::Loop::serve() {
  own_loop = this;
  set_own_loop(this);
  while (take_role()) {
    if (spares_ != 0) detail::io_role = this;
    try {
      context_.run();
    } catch (const HandedOver&) {
      --crew_->away;
    } catch (const Stopped&) {
      {
        const std::scoped_lock lock(crew_->mutex);
        crew_->over = true;
        crew_->vacancy.notify_all();
      }
      finish();
      detail::io_role = nullptr;
      return;
    }
  }
}

bool Reactor::Loop::take_role() {
  std::unique_lock lock(crew_->mutex);
  ++crew_->parked;
  crew_->vacancy.wait_for(lock, kSpareKept, [this] { return crew_->vacant || crew_->over; });
  --crew_->parked;
  return std::exchange(crew_->vacant, false);
}

bool Reactor::Loop::give_role() noexcept {
  if (!has_spare()) return false;
  const auto give = [this](bool to_new) {
    const std::scoped_lock lock(crew_->mutex);
    if (crew_->over || (crew_->parked == 0 && !to_new)) return false;
    ++crew_->away;
    crew_->vacant = true;
    crew_->vacancy.notify_one();
    return true;
  };
  if (give(false)) return true;
  try {
    start_thread();
  } catch (...) {  // no more threads are available
    return false;
  }
  return give(true);
}

void Reactor::Loop::hand_over() noexcept {
  // The notified descriptor may become ready again while its callback waits.
  if (const auto* const told = std::exchange(told_, nullptr)) {
    try {
      const std::scoped_lock lock(mutex_);
      if ((*told)->handler) wait(*told);
    } catch (...) {
      return;  // then it is watched again when its callback has returned
    }
  }
  if (give_role()) detail::io_role = nullptr;
}

void Reactor::Loop::run(UniqueFunction<void()>& work, const char* what) noexcept {
  try {
    work();
  } catch (...) {
    log_escaped_exception(log_, what);
  }
}

void Reactor::Loop::post(UniqueFunction<void()> work) {
  asio::post(context_, [this, work = std::move(work)]() mutable {
    run(work, "a posted function");
    leave_if_handed_over();
  });
}

void Reactor::Loop::open(Watch& watch) {
  if (watch.descriptor.is_open()) return;
  boost::system::error_code failed;
  watch.descriptor.assign(watch.fd, failed);
  if (failed) {
    throw Error(Code::unavailable, Execution::not_executed,
                "cannot watch a socket: the limit of epoll watches is reached");
  }
}

void Reactor::Loop::close(Watch& watch) noexcept {
  if (watch.descriptor.is_open()) (void)watch.descriptor.release();
}

void Reactor::Loop::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  const std::scoped_lock lock(mutex_);
  auto watch = std::make_shared<Watch>(context_, fd, std::move(handler), one_shot);
  if (!one_shot) open(*watch);
  watches_[fd] = std::move(watch);
}

void Reactor::Loop::arm(int fd, Interest interest) {
  const std::scoped_lock lock(mutex_);
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return;
  auto& watch = found->second;
  watch->wanted = static_cast<unsigned>(interest);
  wait(watch);
}

void Reactor::Loop::forget(int fd, const Watch* only) noexcept {
  std::shared_ptr<Watched> last;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = watches_.find(fd);
  if (found == watches_.end() || (only != nullptr && found->second.get() != only)) return;
  last = std::move(found->second->handler);
  close(*found->second);
  watches_.erase(found);
}

// Under the lock.
void Reactor::Loop::wait(const std::shared_ptr<Watch>& watch) {
  if ((watch->wanted & ~watch->waiting) == 0) return;
  watch->used = true;
  const bool registered = watch->descriptor.is_open();
  open(*watch);
  if ((watch->wanted & ~watch->waiting & kRead) != 0) wait_for(watch, kRead, Descriptor::wait_read);
  if ((watch->wanted & ~watch->waiting & kWrite) != 0) wait_for(watch, kWrite, Descriptor::wait_write);
  if (!registered && watch->one_shot) set_blocking(watch->fd);
}

void Reactor::Loop::wait_for(const std::shared_ptr<Watch>& watch, unsigned direction,
                             Descriptor::wait_type type) {
  watch->waiting |= direction;
  watch->descriptor.async_wait(
      type, [this, watch, direction](const boost::system::error_code&) { on_event(watch, direction); });
}

void Reactor::Loop::on_event(const std::shared_ptr<Watch>& watch, unsigned direction) {
  std::shared_ptr<Watched> handler;
  {
    const std::scoped_lock lock(mutex_);
    watch->waiting &= ~direction;
    if ((watch->wanted & direction) == 0) return;
    if (watch->one_shot) watch->wanted &= ~direction;
    handler = watch->handler;
  }
  if (!handler) return;
  told_ = &watch;
  try {
    handler->on_ready({.readable = direction == kRead, .writable = direction == kWrite});
  } catch (...) {  // an error of one descriptor must not end the process, nor spin
    forget(watch->fd, watch.get());
  }
  handler.reset();
  leave_if_handed_over();
  told_ = nullptr;
  const std::scoped_lock lock(mutex_);
  if (!watch->handler) return;
  wait(watch);
  if (watch->one_shot && watch->waiting == 0) look_for_idle();
}

// Under the lock.
void Reactor::Loop::look_for_idle() {
  if (std::exchange(looks_for_idle_, true)) return;
  idle_.expires_after(kIdle);
  idle_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) close_idle();
  });
}

void Reactor::Loop::close_idle() {
  const std::scoped_lock lock(mutex_);
  looks_for_idle_ = false;
  bool again = false;
  for (auto& [fd, watch] : watches_) {
    if (!watch->one_shot || watch->waiting != 0 || !watch->descriptor.is_open()) continue;
    if (std::exchange(watch->used, false)) {
      again = true;
    } else {
      close(*watch);
    }
  }
  if (again) look_for_idle();
}

Reactor::TimerId Reactor::Loop::at(TimePoint when, UniqueFunction<void()> work) {
  const std::scoped_lock lock(mutex_);
  const auto id = ++timer_ids_;
  const auto made = timers_.try_emplace(id, context_, when, this).first;
  auto on_time = [this, id, work = std::move(work)](const boost::system::error_code& cancelled) mutable {
    {
      decltype(timers_)::node_type due;  // for as long as it runs
      {
        const std::scoped_lock done(mutex_);
        due = timers_.extract(id);
      }
      if (due.empty() || cancelled) return;
      run(work, "a timer");
    }
    leave_if_handed_over();
  };
  try {
    made->second.timer.async_wait(std::move(on_time));
  } catch (...) {  // no memory
    timers_.erase(made);
    throw;
  }
  return id;
}

void Reactor::Loop::cancel(TimerId timer) noexcept {
  const std::scoped_lock lock(mutex_);
  timers_.erase(timer);
}

void Reactor::Loop::stop() noexcept {
  asio::post(context_, [] { throw Stopped(); });
}

// Called by the last thread with the role.
void Reactor::Loop::finish() {
  {
    const std::scoped_lock lock(mutex_);
    for (auto& [fd, watch] : watches_) close(*watch);
    timers_.clear();
  }
  for (;;) {  // posted work
    try {
      context_.poll();
      return;
    } catch (const Stopped&) {
    }
  }
}

Reactor::Reactor(std::size_t spares, Log log)
    : crew_(std::make_shared<Crew>()),
      loop_(std::make_shared<Loop>(spares, crew_, log)),
      log_(std::move(log)) {
  loop_->start_thread();
}

Reactor::~Reactor() {
  stop();
}

void Reactor::log_exception(const char* where) const noexcept {
  log_escaped_exception(log_, where);
}

bool Reactor::on_own_thread() const noexcept {
  return own_loop == loop_.get();
}

bool Reactor::has_spare() const noexcept {
  return loop_->has_spare();
}

void Reactor::stop() {
  loop_->stop();
  if (on_own_thread()) return;
  blocking();
  {
    std::unique_lock lock(crew_->mutex);
    crew_->ended.wait(lock, [this] { return crew_->threads == 0; });
  }
  crew_->all.join();
}

void Reactor::watch(int fd, std::shared_ptr<Watched> handler, bool one_shot) {
  loop_->watch(fd, std::move(handler), one_shot);
}

void Reactor::arm(int fd, Interest interest) {
  loop_->arm(fd, interest);
}

void Reactor::forget(int fd) noexcept {
  loop_->forget(fd);
}

void Reactor::post(UniqueFunction<void()> work) {
  loop_->post(std::move(work));
}

Reactor::TimerId Reactor::at(TimePoint when, UniqueFunction<void()> work) {
  return loop_->at(when, std::move(work));
}

void Reactor::cancel(TimerId timer) noexcept {
  loop_->cancel(timer);
}

}  // namespace mf::transport
