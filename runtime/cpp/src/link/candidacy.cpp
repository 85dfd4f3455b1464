#include "mf/link/candidacy.hpp"

#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::link {
namespace {

Failure given_up(const char* what) {
  return not_executed(Code::cancelled, what);
}

}  // namespace

void EndWait::when_finished(Callback<void> done) {
  {
    const std::scoped_lock lock(mutex_);
    if (!outcome_) {
      done_ = std::move(done);
      return;
    }
  }
  done(Outcome<void>(*outcome_));
}

void EndWait::finish(Outcome<void> outcome) {
  Callback<void> done;
  {
    const std::scoped_lock lock(mutex_);
    if (outcome_) return;
    outcome_ = outcome;
    done = std::exchange(done_, nullptr);
  }
  if (done) done(std::move(outcome));
}

void EndWait::cancel() noexcept {
  finish(given_up("the wait for the end of the lead was cancelled"));
}

bool EndWait::finished() const {
  const std::scoped_lock lock(mutex_);
  return outcome_.has_value();
}

std::uint64_t Candidacy::epoch() const {
  const std::scoped_lock lock(mutex_);
  return epoch_;
}

bool Candidacy::held() const {
  const std::scoped_lock lock(mutex_);
  return epoch_ != 0 && !why_;
}

bool Candidacy::ended() const {
  const std::scoped_lock lock(mutex_);
  return why_.has_value();
}

void Candidacy::await_held() {
  blocking();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return decided(); });
  if (epoch_ == 0) why_->raise();
}

bool Candidacy::await_end(TimePoint until) {
  blocking();
  std::unique_lock lock(mutex_);
  const auto over = [&] { return why_.has_value(); };
  if (until != kNever) return transport::wait_until(changed_, lock, until, over);
  changed_.wait(lock, over);
  return true;
}

void Candidacy::when_held(Callback<void> done) {
  std::unique_lock lock(mutex_);
  if (!decided()) {
    when_held_ = std::move(done);
    return;
  }
  const Outcome<void> outcome = epoch_ != 0 ? Outcome<void>() : Outcome<void>(*why_);
  lock.unlock();
  done(Outcome<void>(outcome));
}

void Candidacy::when_ended(const std::shared_ptr<EndWait>& wait) {
  {
    const std::scoped_lock lock(mutex_);
    if (!why_) {
      std::erase_if(waits_, [](const auto& each) { return each->finished(); });
      waits_.push_back(wait);
      return;
    }
  }
  wait->finish();
}

void Candidacy::cancel() noexcept {
  UniqueFunction<void()> tell;
  {
    const std::scoped_lock lock(mutex_);
    if (why_) return;
    cancelled_ = true;
    tell = std::exchange(when_cancelled_, nullptr);
  }
  end(given_up("the lead was given up"));
  if (tell) tell();
}

void Candidacy::hold(std::uint64_t epoch) {
  Callback<void> done;
  {
    const std::scoped_lock lock(mutex_);
    if (decided()) return;
    epoch_ = epoch;
    done = std::exchange(when_held_, nullptr);
    changed_.notify_all();
  }
  if (done) done({});
}

void Candidacy::end(Failure why) {
  Callback<void> done;
  std::vector<std::shared_ptr<EndWait>> waits;
  {
    const std::scoped_lock lock(mutex_);
    if (why_) return;
    why_ = why;
    done = std::exchange(when_held_, nullptr);
    waits.swap(waits_);
    changed_.notify_all();
  }
  if (done) done(std::move(why));
  for (const auto& wait : waits) wait->finish();
}

void Candidacy::when_cancelled(UniqueFunction<void()> tell) {
  {
    const std::scoped_lock lock(mutex_);
    if (!cancelled_) {
      when_cancelled_ = std::move(tell);
      return;
    }
  }
  tell();
}

}  // namespace mf::link
