#include "mf/link/local_stream.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/waiting.hpp"

#include <algorithm>

namespace mf::link {
namespace {

Failure out_of_time() {
  return may_have_run(Code::deadline_exceeded, "nothing came or went within the deadline");
}

TimePoint deadline_of(const CallOptions& options, const MethodInfo& method) {
  const auto own = deadline_after(mf::now(), effective_deadline(options.deadline, method.deadline));
  return std::min(own, current_call().deadline);
}

}  // namespace

Failure cancelled_by(bool caller) {
  return caller ? cancelled_by_caller(Execution::unknown)
                : may_have_run(Code::cancelled, "cancelled by the handler");
}

void refuse_late() {
  out_of_time().raise();
}

LocalStream::LocalStream(std::shared_ptr<const LocalServants> servants, const CallOptions& options,
                         const Method& method, const LocalTarget& target)
    : servants_(std::move(servants)),
      method_(method),
      agent_(target.agent),
      deadline_(deadline_of(options, method.info)),
      idle_(options.idle),
      metadata_(mf::detail::passed_on(options.metadata, current_call(), target.forwarded)),
      reply_metadata_(options.reply_metadata) {
  if (mf::now() >= deadline_) refuse_expired();
  if (!options.stop.stop_possible()) return;
  on_stop_.emplace(options.stop, [this] { give_up(cancelled_by(true)); });
}

LocalStream::~LocalStream() = default;

bool LocalStream::ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_;
}

bool LocalStream::late() const {
  return deadline_ != kNever && mf::now() >= deadline_;
}

void LocalStream::look_at_deadline() {
  if (late() && !ended()) give_up(out_of_time());
}

TimePoint LocalStream::wait_until(bool callers) const {
  if (!callers || idle_ == kInfinite) return deadline_;
  return std::min(deadline_, deadline_after(mf::now(), idle_));
}

void LocalStream::end(std::shared_ptr<const Failure> why, FunctionRef<void()> set) {
  UniqueFunction<void()> done;
  // Any end after the deadline is too late.
  if (late()) why = mf::detail::shared(out_of_time());
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    set();
    why_ = why;
    done = std::exchange(done_, nullptr);
    reply_metadata_ = nullptr;
  }
  end_queues(why);
  ended_changed_.notify_all();
  if (done) run(std::move(done));
}

void LocalStream::give_up(Failure why) {
  stop_.request_stop();
  end(mf::detail::shared(std::move(why)), [] {});
}

void LocalStream::wait_for_end() {
  const mf::detail::HandlerWait gives_place;
  blocking();
  std::unique_lock lock(mutex_);
  const auto ended = [&] { return ended_; };
  if (deadline_ == kNever) {
    ended_changed_.wait(lock, ended);
  } else if (!transport::wait_until(ended_changed_, lock, deadline_, ended)) {
    lock.unlock();
    give_up(out_of_time());
    lock.lock();
  }
  if (why_) why_->raise();
}

void LocalStream::when_ended(UniqueFunction<void()> done) {
  {
    const std::scoped_lock lock(mutex_);
    if (!ended_) done_ = std::move(done);
  }
  if (done) return done();
  watch_deadline();
}

void LocalStream::watch_deadline() {
  {
    const std::scoped_lock lock(mutex_);
    if (deadline_ == kNever || ended_ || std::exchange(watched_, true)) return;
  }
  servants_->at(deadline_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look_at_deadline();
  });
}

std::shared_ptr<const Failure> LocalStream::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

void LocalStream::set_reply_metadata(std::string_view key, std::string_view value) {
  const std::scoped_lock lock(mutex_);
  if (reply_metadata_ != nullptr) reply_metadata_->set(key, value);
}

}  // namespace mf::link
