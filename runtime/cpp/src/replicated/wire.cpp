#include "replicated/wire.hpp"

#include <utility>

#include "mf/codec/constraints.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/replication.hpp"
#include "replicated/log.hpp"

namespace mf::replicated {
namespace {

using Link = replication::methods::ReplicaLink;
static_assert(Link::kParamElementTier == Link::kResultElementTier);
static_assert(Link::kParamElementTier == kMessageTier);

constexpr std::size_t kMostQueued = 65'536;
constexpr std::size_t kMostQueuedBytes = std::size_t{64} << 20U;
constexpr std::size_t kMessageBytes = 200;

std::size_t cost_of(const std::optional<Body>& body) noexcept {
  return body ? size_of(*body) : 0;
}

std::size_t cost_of(const std::vector<Entry>& entries) noexcept {
  std::size_t bytes = 0;
  for (const auto& each : entries) bytes += kMessageBytes + cost_of(each.body);
  return bytes;
}

}  // namespace

std::size_t cost_of(const Message& message) noexcept {
  switch (message.kind()) {
    case Message::Kind::submit:
      return kMessageBytes + size_of(message.submit().body);
    case Message::Kind::tagged:
      return kMessageBytes + size_of(message.tagged().body);
    case Message::Kind::direct:
      return kMessageBytes + size_of(message.direct().body);
    case Message::Kind::stamped:
      return kMessageBytes + cost_of(message.stamped().entry.body);
    case Message::Kind::ack:
      return kMessageBytes + message.ack().outcome.payload.size();
    case Message::Kind::sync:
      return kMessageBytes + cost_of(message.sync().entries);
    case Message::Kind::restore:
      return kMessageBytes + cost_of(message.restore().entries);
    case Message::Kind::part:
      return kMessageBytes + message.part().piece.size();
    default:
      return kMessageBytes;
  }
}

void Wire::send(Message message) {
  const auto cost = cost_of(message);
  const std::scoped_lock lock(mutex_);
  // One message is taken whatever it costs, so that a log that is large gets through.
  if (queue_.size() >= kMostQueued || (!queue_.empty() && queued_bytes_ + cost > kMostQueuedBytes)) return;
  queue_.push_back(std::move(message));
  queued_bytes_ += cost;
}

void Wire::flush() {
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return;
  }
  write();
}

void Wire::write() {
  writing_.ask([this] {
    Failure why;
    auto went = link::Pumped::too_large;  // such a message is dropped
    while (went == link::Pumped::too_large)
      went = link::pump(
          out_, [this](Buffer& out) { return append(out); }, [self = shared_from_this()] { self->write(); },
          why);
    if (went != link::Pumped::ended) return;
    // The stream has ended, and stays so: what is sent goes nowhere.
    const std::scoped_lock lock(mutex_);
    queue_.clear();
    queued_bytes_ = 0;
  });
}

bool Wire::append(Buffer& out) {
  Message message;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return false;
    message = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= cost_of(message);
  }
  codec::append_value<Link::kParamElementTier>(out, message);
  return true;
}

Wire::Got Wire::next(Message& into) {
  const auto got = values_.ready(in_);
  if (got == Values::Got::nothing) return Got::nothing;
  if (got != Values::Got::value || !values_.decode(into) || codec::violation(into)) return Got::ended;
  return Got::message;
}

}  // namespace mf::replicated
