#include "mf/flex/sent.hpp"

#include "flex/seconds.hpp"
#include "flex/sent_state.hpp"
#include "mf/codec/flex/tags.hpp"
#include "mf/core/blocking.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kMostNamed = 3;

}  // namespace

std::string Receiver::why_full() const {
  return is_full ? ": the mailbox of " + quoted(name) + " is full" : std::string();
}

std::size_t SentState::copies() const {
  const std::scoped_lock lock(mutex_);
  return copies_;
}

bool SentState::done() const {
  const std::scoped_lock lock(mutex_);
  return under_way_ == 0;
}

void SentState::result() const {
  if (failed_.empty()) return;
  std::vector<Message> messages;
  for (const auto& [error, message] : failed_) messages.push_back(message);
  throw Undelivered(failed_.front().first, std::move(messages));
}

Error SentState::late(std::chrono::nanoseconds timeout) const {
  auto text = copies_ > 1 ? std::to_string(under_way_) + " of " + std::to_string(copies_) + " receivers have"
                          : std::string("its receiver has");
  text += " not taken the message within " + seconds(timeout) + " s";
  std::size_t named = 0;
  for (const auto& each : receivers_) {
    if (!each->is_full || named == kMostNamed) continue;
    text += (named++ == 0 ? ": the mailbox of " : ", the mailbox of ") + quoted(each->name) + " is full";
  }
  return {Code::deadline_exceeded, Execution::unknown, text};
}

void SentState::add_receiver(std::shared_ptr<const Receiver> receiver) {
  const std::scoped_lock lock(mutex_);
  receivers_.push_back(std::move(receiver));
}

void SentState::wait(std::chrono::nanoseconds timeout) {
  std::unique_lock lock(mutex_);
  const auto done = [this] { return under_way_ == 0; };
  if (!done()) {
    if (core_->reactor().on_own_thread())
      refuse("this would hold up the thread that it waits for: use the function that begins with async_");
    blocking();
    const auto until = deadline_after(mf::now(), timeout);
    if (until == kNever) {
      ended_.wait(lock, done);
    } else if (!transport::wait_until(ended_, lock, until, done)) {
      throw late(timeout);
    }
  }
  result();
}

void SentState::when_done(Callback<void> done) {
  {
    const std::scoped_lock lock(mutex_);
    if (under_way_ != 0) {
      told_.push_back(std::move(done));
      return;
    }
  }
  core_->complete([outcome = attempt([this] { result(); }), done = std::move(done)]() mutable {
    done(std::move(outcome));
  });
}

void SentState::one_ended(std::optional<std::pair<Error, Message>> failed, bool dropped) {
  std::vector<Callback<void>> told;
  {
    const std::scoped_lock lock(mutex_);
    if (failed) failed_.push_back(std::move(*failed));
    if (dropped) --copies_;
    if (--under_way_ != 0) return;
    told.swap(told_);
    ended_.notify_all();
  }
  for (auto& each : told) when_done(std::move(each));
}

std::size_t Sent::copies() const {
  return state_->copies();
}

bool Sent::done() const {
  return state_->done();
}

void Sent::wait(std::chrono::nanoseconds timeout) const {
  state_->wait(timeout);
}

void Sent::when_done(const std::shared_ptr<SentState>& state, Callback<void> done) {
  state->when_done(std::move(done));
}

}  // namespace mf::flex
