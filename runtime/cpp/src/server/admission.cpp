#include "server/admission.hpp"

namespace mf::server {

/// Calls that have left the queue. The destructor, which runs after the lock was released, tells them the
/// reason.
class Admission::Ended {
 public:
  Ended() = default;
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;
  ~Ended() {
    for (auto& [call, why] : ended_) {
      auto& it = *call;
      it.end(std::move(call), why);
    }
    for (auto& [call, gate] : started_) {
      auto& it = *call;
      it.go(std::move(call), std::move(gate));
    }
  }

  void end(Call call, QueuedCall::End why) { ended_.emplace_back(std::move(call), why); }
  void start(Call call, std::shared_ptr<Gate> gate) {
    started_.emplace_back(std::move(call), std::move(gate));
  }

 private:
  std::vector<std::pair<Call, QueuedCall::End>> ended_;
  std::vector<std::pair<Call, std::shared_ptr<Gate>>> started_;
};

QueuedCall::~QueuedCall() {
  if (place_) place_->admission().give_up_place(*place_);
}

Admission::Admission(const Limit& server) : server_(server), others_(*this, {}, {}) {}

Admission::~Admission() = default;

std::shared_ptr<Gate> Admission::gate(const Limit& limit, std::string what) {
  const std::scoped_lock lock(mutex_);
  auto* found = &others_;
  if (limit.concurrent != 0) {
    found = &gates_.emplace_back(*this, std::move(what), limit);
  } else if (!server_.bounded) {
    return nullptr;
  }
  return {shared_from_this(), found};
}

Admission::Entry Admission::enter(Gate& gate, TimePoint now, bool may_run) {
  Ended ended;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  auto& own = gate.counted_;
  if (may_run && own.free() && server_.free()) {
    ++own.running;
    ++server_.running;
    return Entry::runs;
  }
  if (stopped_) return Entry::refused;
  if (!own.has_room()) drop_expired(gate, now, ended);
  if (!server_.has_room()) {
    for (auto at = queues_.begin(); at != queues_.end();) drop_expired(**at++, now, ended);
  }
  if (!own.has_room() || !server_.has_room()) return Entry::refused;
  ++own.waiting;
  ++server_.waiting;
  return Entry::waits;
}

std::string Admission::refusal(const Gate& gate) const {
  const auto words = [](const Counted& counted, const std::string& what) {
    return "at most " + std::to_string(counted.most) + " calls" + what + " run at once on this server, and " +
           std::to_string(counted.room) + " wait";
  };
  const std::scoped_lock lock(mutex_);
  if (gate.counted_.bounded && (!gate.counted_.has_room() || server_.has_room()))
    return words(gate.counted_, " of " + gate.what_);
  return words(server_, "");
}

void Admission::queue(Call call) {
  Ended ended;
  const std::scoped_lock lock(mutex_);
  auto& gate = *call->place_;
  if (stopped_) {
    --gate.counted_.waiting;
    --server_.waiting;
    call->place_.reset();
    return ended.end(std::move(call), QueuedCall::End::stopped);
  }
  auto& it = *call;
  it.at_ = gate.queue_.emplace(it.deadline_, std::move(call));
  queues_.insert(&gate);
  if (!it.oneway_) by_id_.emplace(QueuedCall::Key{it.connection_, it.id_}, &it);
  start_next(ended);
}

void Admission::leave(Gate& gate) {
  Ended ended;
  const std::scoped_lock lock(mutex_);
  --gate.counted_.running;
  --server_.running;
  start_next(ended);
}

void Admission::give_up_place(Gate& gate) noexcept {
  const std::scoped_lock lock(mutex_);
  --gate.counted_.waiting;
  --server_.waiting;
}

void Admission::cancel(std::uint64_t connection, std::uint32_t id) {
  Ended ended;
  const std::scoped_lock lock(mutex_);
  const auto found = by_id_.find({connection, id});
  if (found != by_id_.end()) ended.end(take(*found->second), QueuedCall::End::cancelled);
}

void Admission::cancel_all(std::uint64_t connection) {
  Ended ended;
  const std::scoped_lock lock(mutex_);
  for (auto at = by_id_.lower_bound({connection, 0}); at != by_id_.end() && at->first.first == connection;
       at = by_id_.lower_bound({connection, 0}))
    ended.end(take(*at->second), QueuedCall::End::cancelled);
}

void Admission::stop() {
  Ended ended;
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  while (!queues_.empty()) {
    auto& queue = (*queues_.begin())->queue_;
    ended.end(take(*queue.begin()->second), QueuedCall::End::stopped);
  }
}

Admission::Gauges Admission::gauges() const {
  const std::scoped_lock lock(mutex_);
  return {.running = server_.running, .waiting = server_.waiting};
}

Admission::Gauges Admission::gauges(const Gate& gate) const {
  const std::scoped_lock lock(mutex_);
  return {.running = gate.counted_.running, .waiting = gate.counted_.waiting};
}

// All functions below require the lock.

/// Takes a call out of its queue and releases its place.
Admission::Call Admission::take(QueuedCall& call) {
  auto& gate = *call.place_;
  if (!call.oneway_) by_id_.erase({call.connection_, call.id_});
  auto taken = std::move(call.at_->second);
  gate.queue_.erase(call.at_);
  if (gate.queue_.empty()) queues_.erase(&gate);
  --gate.counted_.waiting;
  --server_.waiting;
  taken->place_.reset();  // never the last owner: the caller has another one
  return taken;
}

void Admission::drop_expired(Gate& gate, TimePoint now, Ended& ended) {
  while (!gate.queue_.empty() && gate.queue_.begin()->first <= now)
    ended.end(take(*gate.queue_.begin()->second), QueuedCall::End::expired);
}

/// The gate with the call to run next; null if none may.
Gate* Admission::next(TimePoint now, Ended& ended) {
  if (!server_.free()) return nullptr;
  Gate* found = nullptr;
  for (auto at = queues_.begin(); at != queues_.end();) {
    auto& gate = **at++;  // it may leave the set here
    if (!gate.counted_.free()) continue;
    drop_expired(gate, now, ended);
    if (gate.queue_.empty()) continue;
    if (found == nullptr || gate.queue_.begin()->first < found->queue_.begin()->first) found = &gate;
  }
  return found;
}

void Admission::start_next(Ended& ended) {
  if (queues_.empty()) return;
  const auto now = mf::now();
  while (auto* const gate = next(now, ended)) {
    auto place = gate->queue_.begin()->second->place_;
    auto call = take(*gate->queue_.begin()->second);
    ++gate->counted_.running;
    ++server_.running;
    ended.start(std::move(call), std::move(place));
  }
}

}  // namespace mf::server
