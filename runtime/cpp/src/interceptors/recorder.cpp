#include "mf/interceptors/recorder.hpp"

#include "mf/core/failure.hpp"

namespace mf::interceptors {
namespace {

struct Begun {
  std::chrono::nanoseconds deadline_left{};
};

}  // namespace

void Recorder::begin(InterceptedCall& call) {
  call.note<Begun>(*this).deadline_left = call.deadline_left();
  const std::scoped_lock lock(mutex_);
  ++open_;
}

void Recorder::end(const InterceptedCall& call, const CallEnd& end) {
  Recorded recorded{.service = std::string(call.service()),
                    .method = std::string(call.method()),
                    .agent = std::string(call.agent()),
                    .kind = call.kind(),
                    .items = call.items(),
                    .metadata = call.metadata,
                    .deadline_left = call.note<Begun>(*this).deadline_left,
                    .is_client = call.is_client(),
                    .code = end.code,
                    .failure = end.failure != nullptr ? *end.failure : Failure(),
                    .outcomes = {},
                    .duration = end.duration(),
                    .attempts = end.attempts,
                    .peer = std::string(end.peer),
                    .identity = call.identity() != nullptr ? call.identity()->str() : std::string(),
                    .request_bytes = end.request_bytes,
                    .reply_bytes = end.reply_bytes};
  for (std::size_t item = 0; end.outcomes != nullptr && item < end.outcomes->size(); ++item) {
    const auto* const failure = end.outcomes->failure(item);
    recorded.outcomes.push_back(failure == nullptr ? Code::ok : failure->code);
  }
  const std::scoped_lock lock(mutex_);
  --open_;
  if (ended_.size() == most_) ended_.pop_front();
  ended_.push_back(std::move(recorded));
  changed_.notify_all();
}

std::size_t Recorder::open() const {
  const std::scoped_lock lock(mutex_);
  return open_;
}

std::vector<Recorded> Recorder::calls(std::string_view method) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Recorded> found;
  for (const auto& each : ended_)
    if (method.empty() || each.method == method) found.push_back(each);
  return found;
}

std::vector<Recorded> Recorder::wait_for(std::size_t count, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout, [&] { return ended_.size() >= count; }))
    may_have_run(Code::deadline_exceeded,
                 std::to_string(ended_.size()) + " of " + std::to_string(count) + " calls have ended in time")
        .raise();
  return {ended_.begin(), ended_.end()};
}

bool Recorder::wait_until_idle(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return open_ == 0; });
}

void Recorder::clear() {
  const std::scoped_lock lock(mutex_);
  ended_.clear();
}

}  // namespace mf::interceptors
