#include "replicated/outgoing.hpp"

#include <utility>

#include "mf/replication.client.hpp"

namespace mf::replicated {
namespace {

using Link = replication::methods::ReplicaLink;

// The longest pause between two links.
constexpr std::chrono::milliseconds kLongestPause{1'000};

}  // namespace

OutgoingLink::OutgoingLink(std::shared_ptr<client::Core> core, client::Target target, replication::Peer peer,
                           Events events)
    : core_(std::move(core)),
      target_(std::move(target)),
      peer_(std::move(peer)),
      events_(std::move(events)),
      standing_(core_, kLongestPause) {}

// On the reactor's thread, where no call is being handled whose deadline this one would have.
void OutgoingLink::begin() {
  core_->reactor().post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->launch();
  });
}

void OutgoingLink::launch() {
  const auto call = standing_.make<Link>(target_, peer_);
  if (!call) return;
  call->when_sent([weak = weak_from_this(), of = std::weak_ptr<client::StreamedCall>(call)] {
    const auto self = weak.lock();
    if (const auto sent = of.lock(); self && sent) self->opened(sent);
  });
  call->when_ended([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ended();
  });
  standing_.launch(call);
}

void OutgoingLink::opened(const std::shared_ptr<client::StreamedCall>& call) {
  {
    const std::scoped_lock lock(mutex_);
    if (!standing_.is_current(call.get())) return;
    wire_ = std::make_shared<Wire>(call, call->input(), call->output());
    up_ = call.get();
  }
  standing_.came_up();
  events_.opened();
  events_.readable();
}

void OutgoingLink::ended() {
  bool was_up = false;
  {
    const std::scoped_lock lock(mutex_);
    was_up = std::exchange(wire_, nullptr) != nullptr;
  }
  if (standing_.left()) return;
  if (was_up) events_.closed();
  standing_.again([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->launch();
  });
}

void OutgoingLink::leave() {
  standing_.leave();
  const std::scoped_lock lock(mutex_);
  wire_.reset();
}

void OutgoingLink::reopen() {
  if (const auto of = wire()) end(of);
}

void OutgoingLink::end(const std::shared_ptr<Wire>& of) {
  const client::StreamedCall* call = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (wire_ != of) return;
    call = up_;
  }
  standing_.reopen(call);
}

std::shared_ptr<Wire> OutgoingLink::wire() const {
  const std::scoped_lock lock(mutex_);
  return wire_;
}

void OutgoingLink::send(Message message) {
  if (const auto to = wire()) to->send(std::move(message));
}

void OutgoingLink::flush() {
  if (const auto to = wire()) to->flush();
}

bool OutgoingLink::next(Message& into) {
  const auto from = wire();
  if (!from) return false;
  const auto got = from->next(into);
  if (got == Wire::Got::message) return true;
  if (got == Wire::Got::ended) {
    // Ended by the other side, or by what is no message: then by this one.
    end(from);
    return false;
  }
  from->when_ready([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->events_.readable();
  });
  return false;
}

}  // namespace mf::replicated
