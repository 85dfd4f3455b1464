#include "client/attempt.hpp"

#include "mf/core/failure.hpp"
#include "mf/protocol/reply.hpp"

namespace mf::client {
namespace {

using protocol::Call;
using protocol::CallEvent;
using protocol::CallStep;

CallEvent event_of(link::Ended how) noexcept {
  switch (how) {
    case link::Ended::refused:
      return CallEvent::refused;
    case link::Ended::lost:
      return CallEvent::lost;
    case link::Ended::expired:
      return CallEvent::expired;
    case link::Ended::cancelled:
      return CallEvent::cancelled;
    case link::Ended::replied:
    case link::Ended::unreadable:
      break;
  }
  return CallEvent::replied;
}

/// Handles a REPLY whose items have all failed. Its failure ends the call unless the state machine decides
/// otherwise.
CallStep settle_failure(Call& call, link::Reply& reply) {
  protocol::FailureRecord record;
  if (!protocol::parse_failure(reply.payload, record)) return call.on(CallEvent::replied);
  auto failure = make_failure(reply.status, record.execution, std::string(record.message));
  const auto step = call.fail(CallEvent::replied, failure, mf::now());
  if (step == CallStep::end && failure.execution != record.execution)
    reply = link::Reply::failed(std::move(failure), link::Ended::lost);
  return step;
}

}  // namespace

CallStep settle(Call& call, link::Reply& reply) {
  if (reply.how != link::Ended::refused) (void)call.on(CallEvent::written);
  if (reply.how == link::Ended::replied) {
    if (reply.status == Code::ok || reply.status == Code::declared) [[likely]]
      return call.on(CallEvent::replied);
    return settle_failure(call, reply);
  }
  return call.fail(event_of(reply.how), reply.failure, mf::now());
}

}  // namespace mf::client
