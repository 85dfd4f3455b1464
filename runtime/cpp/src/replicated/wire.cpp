#include "replicated/wire.hpp"

#include <utility>

#include "mf/codec/constraints.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/replication.methods.hpp"
#include "replicated/log.hpp"

namespace mf::replicated {
namespace {

using Link = replication::methods::ReplicaLink;
static_assert(Link::kParamElementTier == Link::kResultElementTier);

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
    if (queue_.empty() || std::exchange(writing_, true)) return;
  }
  write();
}

// One thread at a time: behind flush(), or when there is room in the stream again.
void Wire::write() {
  for (;;) {
    bool dry = false;
    const auto went = out_.write_many(
        [&](Buffer& out) {
          dry = !append(out);
          return !dry;
        },
        [self = shared_from_this()] { self->write(); });
    const bool too_large = !went && went.failure().code == Code::message_too_large;
    if (!too_large && (!went || !went.value())) {
      // The stream has ended, and stays so: what is sent goes nowhere.
      const std::scoped_lock lock(mutex_);
      queue_.clear();
      queued_bytes_ = 0;
      return;
    }
    if (!too_large && !dry) return;  // write() is called again
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) {
      writing_ = false;
      return;
    }
  }
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
  codec::Writer writer(out.append(codec::encoded_room<Link::kParamElementTier>(message)));
  codec::encode<Link::kParamElementTier>(writer, message);
  out.cut_at(writer.position());
  return true;
}

Wire::Got Wire::next(Message& into) {
  while (values_ == 0) {
    const auto got = in_.take(frame_);
    if (got == link::StreamIn::Got::nothing) return Got::nothing;
    if (got == link::StreamIn::Got::ended ||
        frame_.encoding != static_cast<std::uint8_t>(Link::kParamElementTier))
      return Got::ended;
    reader_.emplace(frame_.bytes.span());
    reader_->set_owner(frame_.bytes);
    values_ = frame_.count;
  }
  --values_;
  if (!codec::decode<Link::kParamElementTier>(*reader_, into) || (values_ == 0 && !reader_->finish()) ||
      codec::violation(into))
    return Got::ended;
  return Got::message;
}

}  // namespace mf::replicated
