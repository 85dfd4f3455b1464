#include "mf/transport/reactor.hpp"

#include <sys/ioctl.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "transport/thread.hpp"

namespace mf::transport {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::stream_descriptor;

// A socket that nobody asks for stays registered so long, since the next asynchronous call mostly follows.
// Until then each reply to a blocking call wakes the loop, too.
constexpr auto kIdle = std::chrono::milliseconds(100);

constexpr unsigned kRead = static_cast<unsigned>(Interest::read);
constexpr unsigned kWrite = static_cast<unsigned>(Interest::write);

/// One descriptor. All of it is guarded by the loop's mutex, the calls of Asio included.
struct Watch {
  Watch(asio::io_context& context, int number, std::shared_ptr<Watched> whom, bool once)
      : descriptor(context), fd(number), handler(std::move(whom)), one_shot(once) {}

  Descriptor descriptor;  // open: registered
  int fd;
  std::shared_ptr<Watched> handler;  // none: forgotten
  bool one_shot;
  unsigned wanted = 0;
  unsigned waiting = 0;  // what Asio waits for, which may be more than is wanted
  bool used = true;      // since the last look at what is idle
};

// Asio makes what it waits for non-blocking, although it never reads or writes it here; but a caller of a
// client blocks in its own read.
void set_blocking(int fd) noexcept {
  int no = 0;
  (void)::ioctl(fd, FIONBIO, &no);
}

}  // namespace

// What the thread works on; shared with it, so that it may outlive the Reactor by one turn.
class Reactor::Loop : public std::enable_shared_from_this<Loop> {
 public:
  void watch(int fd, std::shared_ptr<Watched> handler, bool one_shot);
  void arm(int fd, Interest interest);
  /// With `only`: unless the number stands for another descriptor by now.
  void forget(int fd, const Watch* only = nullptr) noexcept;
  void post(UniqueFunction<void()> work) { asio::post(context_, std::move(work)); }
  TimerId at(TimePoint when, UniqueFunction<void()> work);
  void cancel(TimerId timer) noexcept;
  void stop() noexcept;
  void run();

 private:
  void open(Watch& watch);
  void close(Watch& watch) noexcept;
  void wait(const std::shared_ptr<Watch>& watch);
  void wait_for(const std::shared_ptr<Watch>& watch, unsigned direction, Descriptor::wait_type type);
  void on_event(const std::shared_ptr<Watch>& watch, unsigned direction);
  void look_for_idle();
  void close_idle();

  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  std::mutex mutex_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::map<TimerId, asio::steady_timer> timers_;
  TimerId timer_ids_ = 0;
  asio::steady_timer idle_{context_};
  bool looks_for_idle_ = false;
};

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
  try {
    handler->on_ready({.readable = direction == kRead, .writable = direction == kWrite});
  } catch (...) {  // one descriptor's trouble must not end the process, nor spin
    return forget(watch->fd, watch.get());
  }
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
  auto& timer = timers_.emplace(id, asio::steady_timer(context_, when)).first->second;
  timer.async_wait([this, id, work = std::move(work)](const boost::system::error_code& cancelled) mutable {
    {
      const std::scoped_lock done(mutex_);
      if (timers_.erase(id) == 0 || cancelled) return;
    }
    work();
  });
  return id;
}

void Reactor::Loop::cancel(TimerId timer) noexcept {
  const std::scoped_lock lock(mutex_);
  timers_.erase(timer);
}

void Reactor::Loop::stop() noexcept {
  asio::post(context_, [this] { context_.stop(); });
}

void Reactor::Loop::run() {
  context_.run();
  {
    const std::scoped_lock lock(mutex_);
    for (auto& [fd, watch] : watches_) close(*watch);
    timers_.clear();
  }
  context_.restart();
  context_.poll();  // what was posted
}

Reactor::Reactor() : loop_(std::make_shared<Loop>()) {
  thread_ = start_thread([loop = loop_] { loop->run(); });
}

Reactor::~Reactor() {
  stop();
  if (thread_.joinable()) thread_.detach();
}

void Reactor::stop() {
  loop_->stop();
  if (thread_.joinable() && !on_own_thread()) thread_.join();
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
