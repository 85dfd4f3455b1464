#include "mf/topics/fanout.hpp"

#include "mf/core/error.hpp"
#include "mf/topics/pattern.hpp"

namespace mf::topics {

bool Fanout::match(Attached& attached, Outlet& outlet) {
  const auto& origin = *outlet.origin();
  if (!pattern_matches(attached.agents, origin.agent)) return false;
  Outlet::Since since{.replay = attached.replay};
  const auto seen = attached.seen.find({origin.publisher, origin.agent});
  if (seen != attached.seen.end()) {
    since.seen = seen->second;
    attached.seen.erase(seen);
  }
  outlet.attach(attached.queue, since, true);
  return true;
}

bool Fanout::attach(const std::shared_ptr<Queue>& queue, const Request& request) {
  Attached attached{.queue = queue, .agents = std::string(request.agents), .replay = request.replay};
  queue->belong_to(std::string(request.peer), std::string(request.agents));
  if (request.seen != nullptr) {
    for (const auto& position : *request.seen)
      attached.seen[{position.publisher, position.agent}] = position.sequence;
  }
  const std::scoped_lock lock(mutex_);
  if (ended_) return false;
  if (subscriptions_.size() >= most_)
    throw Error(Code::overloaded, Execution::not_executed,
                "topic " + topic_ + " has " + std::to_string(most_) + " subscriptions, the most that this " +
                    who_ + " takes");
  // Nobody waits for the queue yet.
  for (const auto& [source, outlet] : outlets_) match(attached, *outlet);
  subscriptions_.emplace(queue.get(), std::move(attached));
  return true;
}

std::optional<SubscriptionStats> Fanout::detach(const Queue& queue) {
  Attached gone;
  const std::scoped_lock lock(mutex_);
  const auto found = subscriptions_.find(&queue);
  if (found == subscriptions_.end()) return std::nullopt;
  gone = std::move(found->second);
  subscriptions_.erase(found);
  for (const auto& [source, outlet] : outlets_) outlet->detach(queue);
  return gone.queue->subscription();
}

void Fanout::add(const std::shared_ptr<Outlet>& outlet, Woken& woken) {
  const std::scoped_lock lock(mutex_);
  outlets_[{outlet->origin()->publisher, outlet->origin()->agent}] = outlet;
  for (auto& [queue, attached] : subscriptions_) {
    if (match(attached, *outlet)) woken.push_back(attached.queue);
  }
}

void Fanout::add(const std::shared_ptr<Outlet>& outlet) {
  Woken woken;
  add(outlet, woken);
  wake_all(woken);
}

void Fanout::end(Outlet& outlet, Woken& woken) {
  std::shared_ptr<Outlet> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  const auto found = outlets_.find({outlet.origin()->publisher, outlet.origin()->agent});
  if (found != outlets_.end() && found->second.get() == &outlet) {
    gone = std::move(found->second);
    outlets_.erase(found);
  }
  outlet.end(woken);
}

void Fanout::end(Outlet& outlet) {
  Woken woken;
  end(outlet, woken);
  wake_all(woken);
}

void Fanout::remove_all() {
  decltype(outlets_) gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  gone.swap(outlets_);
}

bool Fanout::retire() {
  const std::scoped_lock lock(mutex_);
  if (!subscriptions_.empty()) return false;
  ended_ = true;
  return true;
}

std::vector<std::shared_ptr<Queue>> Fanout::end() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  return queues();
}

std::size_t Fanout::size() const {
  const std::scoped_lock lock(mutex_);
  return subscriptions_.size();
}

std::vector<std::shared_ptr<Queue>> Fanout::queues() const {
  std::vector<std::shared_ptr<Queue>> queues;
  const std::scoped_lock lock(mutex_);
  for (const auto& [queue, attached] : subscriptions_) queues.push_back(attached.queue);
  return queues;
}

std::vector<SubscriptionStats> Fanout::stats() const {
  std::vector<SubscriptionStats> stats;
  const std::scoped_lock lock(mutex_);
  for (const auto& [queue, attached] : subscriptions_) stats.push_back(attached.queue->subscription());
  return stats;
}

}  // namespace mf::topics
