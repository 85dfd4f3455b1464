#include "replicated/outgoing.hpp"

#include <utility>

#include "mf/client/stream.hpp"
#include "mf/core/random.hpp"
#include "mf/replication.client.hpp"

namespace mf::replicated {
namespace {

using Link = replication::methods::ReplicaLink;

}  // namespace

std::chrono::milliseconds pause_after(std::chrono::nanoseconds lasted, link::Backoff& pauses) {
  if (lasted >= kLongestPause) pauses.reset();
  return pauses.next();
}

/// The call that a link is, which says when it was sent and when it has ended.
class OutgoingLink::Call final : public client::StreamedCall {
 public:
  Call(std::weak_ptr<OutgoingLink> link, const client::Target& target, const protocol::RequestHead& head,
       Gathered&& payload, const client::CallContext& context, const CallOptions& options)
      : StreamedCall(target, mf::link::kMethod<Link>, head, std::move(payload), context, options,
                     Link::kParamElementTier),
        link_(std::move(link)) {}

  void on_sent(const std::shared_ptr<mf::link::ClientLink>& link, std::uint32_t id) override {
    StreamedCall::on_sent(link, id);
    // The lock of the connection is held.
    core()->reactor().post([link = link_, self = std::weak_ptr(shared_from_this())] {
      const auto to = link.lock();
      const auto call = self.lock();
      if (to && call) to->opened(static_cast<const Call*>(call.get()));
    });
  }

 private:
  void end(mf::link::Reply&& reply) override {
    const auto outcome = client::decode_single<Link>(reply);
    end_streams(outcome ? nullptr : mf::detail::shared(Failure(outcome.failure())));
  }

  const std::weak_ptr<OutgoingLink> link_;
};

OutgoingLink::OutgoingLink(std::shared_ptr<client::Core> core, client::Target target, replication::Peer peer,
                           Events events)
    : core_(std::move(core)),
      target_(std::move(target)),
      peer_(std::move(peer)),
      events_(std::move(events)),
      backoff_(random_number(), kLongestPause) {}

OutgoingLink::~OutgoingLink() {
  if (call_) call_->abandon();
}

// On the reactor's thread, where no call is being handled whose deadline this one would have.
void OutgoingLink::begin() {
  core_->reactor().post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->launch();
  });
}

void OutgoingLink::launch() {
  CallOptions options;
  options.deadline = kInfinite;
  Gathered payload;
  client::detail::encode_arguments<Link>(payload, peer_);
  const client::Context context(target_, options, Link::kInfo);
  auto head = client::detail::head<Link>();
  head.flags |= protocol::kStream;
  const auto call =
      std::make_shared<Call>(weak_from_this(), target_, head, std::move(payload), context, options);
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    call_ = call;
  }
  call->when_ended([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->ended();
  });
  client::AsyncCall::launch(call, context.now);
}

void OutgoingLink::opened(const Call* call) {
  {
    const std::scoped_lock lock(mutex_);
    if (left_ || call_.get() != call) return;
    wire_ = std::make_shared<Wire>(call_, call_->input(), call_->output());
    up_since_ = mf::now();
  }
  events_.opened();
  events_.readable();
}

void OutgoingLink::ended() {
  bool was_up = false;
  auto lasted = std::chrono::nanoseconds::zero();
  {
    const std::scoped_lock lock(mutex_);
    if (left_) return;
    was_up = std::exchange(wire_, nullptr) != nullptr;
    if (was_up) lasted = mf::now() - up_since_;
    call_.reset();
  }
  if (was_up) events_.closed();
  core_->reactor().at(mf::now() + pause_after(lasted, backoff_), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->launch();
  });
}

void OutgoingLink::leave() {
  std::shared_ptr<Call> call;
  {
    const std::scoped_lock lock(mutex_);
    left_ = true;
    wire_.reset();
    call = std::exchange(call_, nullptr);
  }
  if (call) call->abandon();
}

void OutgoingLink::reopen() {
  if (const auto of = wire()) end(of);
}

void OutgoingLink::end(const std::shared_ptr<Wire>& of) {
  std::shared_ptr<Call> call;
  {
    const std::scoped_lock lock(mutex_);
    if (wire_ == of) call = call_;
  }
  if (call) call->abandon();
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
