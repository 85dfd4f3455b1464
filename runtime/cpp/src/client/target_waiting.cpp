// Calls for which no thread waits: they search together, on a thread of the client's, step by step.
#include "client/target_state.hpp"

#include <algorithm>
#include <iterator>

#include "client/attempt.hpp"
#include "mf/client/failures.hpp"
#include "mf/core/failure.hpp"

namespace mf::client {
namespace {

// How long a step of a search waits for connections, which are made meanwhile and afterwards.
constexpr auto kLongestStep = std::chrono::milliseconds(5);

}  // namespace

void Target::State::find_later(std::shared_ptr<AsyncCall> call) {
  auto* const waiting = call.get();
  const auto deadline = call->deadline();
  const auto bytes = call->waiting_bytes();
  if (!core->reserve_wait(bytes)) {
    return AsyncCall::fail(
        std::move(call), protocol::CallEvent::unreachable,
        not_executed(Code::overloaded, "too many calls wait for a connection to " + what() + " and others"));
  }
  bool closed = false;
  bool search = false;
  const std::weak_ptr<AsyncCall> weak = call;
  {
    const std::scoped_lock lock(mutex);
    waiting_.push_back({.call = std::move(call), .bytes = bytes});
    closed = core->closed();
    search = !closed && !std::exchange(searching_, true);
  }
  if (closed) return stop_waiting(waiting, protocol::CallEvent::unreachable, client_closed());
  if (search) begin_search();
  if (deadline != kNever) {
    core->reactor().at(deadline, [self = weak_from_this(), weak] {
      const auto state = self.lock();
      const auto late = weak.lock();
      if (state && late) state->stop_waiting(late.get(), protocol::CallEvent::expired, state->out_of_time());
    });
  }
  if (const auto still = weak.lock(); still && still->stop_requested())
    stop_waiting(waiting, protocol::CallEvent::cancelled, cancelled_by_caller(Execution::not_executed));
}

void Target::State::begin_search() {
  search_in_background(std::make_shared<Search>(Search{.backoff = link::Backoff(random_number())}));
}

void Target::State::search_in_background(std::shared_ptr<Search> search) {
  core->in_background([self = shared_from_this(), search = std::move(search)] { self->search_step(search); });
}

void Target::State::search_step(const std::shared_ptr<Search>& search) {
  // A silent server must not block this thread: the next step checks again.
  const auto now = mf::now();
  auto until = now;
  const MethodInfo* method = nullptr;
  {
    const std::scoped_lock lock(mutex);
    covered_ = waiting_.size();
    method = method_to_search();
    for (const auto& waiting : waiting_) until = std::max(until, waiting.call->deadline());
  }
  Found found;
  try {
    found = look(*search, method, std::min(until, now + kLongestStep));
  } catch (const std::exception& error) {
    found.over = true;
    found.failure = not_executed(Code::internal, error.what());
  }
  if (found.route || found.over) {
    end_search(found, method);
  } else {
    {
      const std::scoped_lock lock(mutex);
      last_failure_ = found.failure;
    }
    search_later(search, std::move(found.offers), found.again_at);
  }
}

// Under the lock. A method that some connected instance allows comes first, so that its calls do not wait
// for instances which another method needs.
const MethodInfo* Target::State::method_to_search() const {
  if (waiting_.empty()) return nullptr;
  const auto can_go_on =
      std::ranges::find_if(waiting_, [&](const Waiting& each) { return can_be_asked(each.call->method_); });
  return &(can_go_on == waiting_.end() ? waiting_.front() : *can_go_on).call->method_;
}

void Target::State::search_later(const std::shared_ptr<Search>& search, Resolver::Snapshot known,
                                 TimePoint again_at) {
  const auto now = mf::now();
  core->reactor().at(std::min(again_at, now + kLookEvery),
                     [weak = weak_from_this(), search, known = std::move(known), again_at]() mutable {
                       const auto self = weak.lock();
                       if (!self || self->core->closed()) return;
                       {
                         const std::scoped_lock lock(self->mutex);
                         if (self->waiting_.empty()) {
                           self->searching_ = false;
                           return;
                         }
                       }
                       if (mf::now() >= again_at || self->resolver().offers(self->service->name) != known) {
                         self->search_in_background(search);
                       } else {
                         self->search_later(search, std::move(known), again_at);
                       }
                     });
}

// Results of a step do not end calls that started to wait after it had begun; nor do failures of one method
// end calls of others.
void Target::State::end_search(Found& found, const MethodInfo* method) {
  std::vector<Waiting> ended;
  bool again = false;
  {
    const std::scoped_lock lock(mutex);
    const auto count = found.route ? waiting_.size() : covered_;
    const auto covered = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Waiting> others;
    for (auto each = waiting_.begin(); each != covered; ++each) {
      const bool of_another = found.of_method && each->call->method_.index != method->index;
      (of_another ? others : ended).push_back(std::move(*each));
    }
    const auto rest = waiting_.erase(waiting_.begin(), covered);
    waiting_.insert(rest, std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    last_failure_.reset();
    again = !waiting_.empty();
    searching_ = again;
  }
  if (again) begin_search();
  for (auto& waiting : ended) {
    core->release_wait(waiting.bytes);
    if (found.route) {
      AsyncCall::go_on(std::move(waiting.call));
    } else {
      AsyncCall::fail(std::move(waiting.call), protocol::CallEvent::unreachable, found.failure,
                      found.reached);
    }
  }
}

void Target::State::stop_waiting(const AsyncCall* call, protocol::CallEvent event, Failure failure) {
  if (auto resting = stop_resting(call))
    return AsyncCall::fail(std::move(resting), event, std::move(failure));
  Waiting stopped;
  {
    const std::scoped_lock lock(mutex);
    const auto found =
        std::ranges::find_if(waiting_, [call](const Waiting& waiting) { return waiting.call.get() == call; });
    if (found == waiting_.end()) return;
    if (static_cast<std::size_t>(found - waiting_.begin()) < covered_) --covered_;
    stopped = std::move(*found);
    waiting_.erase(found);
  }
  core->release_wait(stopped.bytes);
  AsyncCall::fail(std::move(stopped.call), event, std::move(failure));
}

Failure Target::State::out_of_time() {
  const std::scoped_lock lock(mutex);
  return gave_up(last_failure_ ? *last_failure_
                               : not_executed(Code::unavailable, "no connection for " + what() + " yet"));
}

void Target::State::on_close() noexcept {
  std::vector<Waiting> ended;
  std::vector<std::shared_ptr<AsyncCall>> rested;
  {
    const std::scoped_lock lock(mutex);
    closed_.notify_all();
    rested.swap(resting_);
    if (opening_) opening_->give_up();
    ended.swap(waiting_);
    covered_ = 0;
  }
  for (auto& call : rested)
    AsyncCall::fail(std::move(call), protocol::CallEvent::unreachable, client_closed());
  for (auto& waiting : ended) {
    core->release_wait(waiting.bytes);
    AsyncCall::fail(std::move(waiting.call), protocol::CallEvent::unreachable, client_closed());
  }
}

}  // namespace mf::client
