#include "replicated/caller.hpp"

#include <algorithm>
#include <utility>

#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"

namespace mf::replicated {

std::size_t Caller::Call::most() const {
  std::size_t most = 0;
  for (const auto& [of, members] : acked) most = std::max(most, members.size());
  return most;
}

bool Caller::Call::acked_by(const std::string& member) const {
  return std::any_of(acked.begin(), acked.end(),
                     [&](const auto& each) { return each.second.contains(member); });
}

Caller::Caller(const Uuid& client, std::vector<std::string> members, const Uuid& schema, std::uint64_t window)
    : client_(client), members_(std::move(members)), schema_(schema), window_(std::min(window, kMostAhead)) {}

std::vector<CallerEffect> Caller::take() {
  return std::exchange(effects_, {});
}

std::uint64_t Caller::start(std::string method, Bytes payload, Pattern pattern, Require require,
                            TimePoint deadline, TimePoint now) {
  const auto sequence = next_++;
  auto& call = calls_[sequence];
  call.body = {.origin = {.client = client_, .sequence = sequence, .oldest = sequence},
               .schema = schema_,
               .method = std::move(method),
               .pattern = pattern,
               .require = require,
               .payload = std::move(payload)};
  call.need = needed(require, members_.size());
  call.deadline = deadline;
  call.again_at = now;
  waiting_.push_back(sequence);
  admit(now);
  return sequence;
}

void Caller::cancel(std::uint64_t sequence) {
  calls_.erase(sequence);
}

void Caller::end_all(const Failure& failure) {
  while (!calls_.empty()) end(calls_.begin(), failure);
}

void Caller::connected(const std::string& member, TimePoint now) {
  if (std::find(connected_.begin(), connected_.end(), member) == connected_.end())
    connected_.push_back(member);
  send_all_again(now);
}

void Caller::disconnected(const std::string& member) {
  std::erase(connected_, member);
}

void Caller::receive(const std::string& member, const Message& message, TimePoint now) {
  if (message.is_ack()) return acked(message.ack(), now);
  if (message.is_given()) return given(message.given());
  if (message.is_refused()) return refused(member, message.refused());
  if (message.is_leading() && (!leading_ || message.leading().epoch > leading_->epoch)) {
    leading_ = message.leading();
    send_all_again(now);
  }
}

void Caller::tick(TimePoint now) {
  for (auto each = calls_.begin(); each != calls_.end();) {
    const auto at = each++;
    auto& call = at->second;
    if (now >= call.deadline) {
      end(at, too_late(call));
    } else if (now >= call.again_at && !call.waits) {
      send(call, now);
    }
  }
  admit(now);
}

/// Those that waited for room, in their order.
void Caller::admit(TimePoint now) {
  while (!waiting_.empty()) {
    const auto found = calls_.find(waiting_.front());
    if (found != calls_.end()) {
      const auto oldest = calls_.begin()->first;
      if (found->first - oldest >= window_) return;
      auto& call = found->second;
      call.waits = false;
      call.body.origin.oldest = oldest;
      send(call, now);
    }
    waiting_.pop_front();
  }
}

void Caller::send_all_again(TimePoint now) {
  for (auto& [sequence, call] : calls_) {
    if (call.waits) continue;
    call.pause = kFirstRepeat;
    send(call, now);
  }
}

bool Caller::leader_is_connected() const {
  return leading_ && std::find(connected_.begin(), connected_.end(), leading_->member) != connected_.end();
}

void Caller::send(Call& call, TimePoint now) {
  call.again_at = now + call.pause;
  call.pause = std::min(call.pause * 2, kLongestRepeat);
  const auto& body = call.body;
  if (body.pattern == Pattern::no_versioning) {
    for (const auto& member : connected_) {
      if (!call.acked_by(member)) send_to(call, member, Message::of_direct({.body = body}));
    }
  } else if (!leader_is_connected()) {
    return;
  } else if (body.pattern == Pattern::wait_for_version) {
    for (const auto& member : connected_)
      send_to(call, member, Message::of_tagged({.body = body, .tag = leading_->member}));
  } else if (body.pattern == Pattern::version_request) {
    send_to(call, leading_->member, Message::of_ask({.origin = body.origin}));
  } else {
    send_to(call, leading_->member, Message::of_submit({.body = body}));
  }
}

void Caller::send_to(Call& call, const std::string& member, Message message) {
  call.sent = true;
  effects_.emplace_back(SendTo{.member = member, .message = std::move(message)});
}

/// A version for a message: all get it, or all but the versioning server, which has it.
void Caller::given(const Given& message) {
  const auto found = calls_.find(message.sequence);
  if (found == calls_.end()) return;
  auto& call = found->second;
  const Stamped stamped{.entry = {.version = message.version, .body = call.body},
                        .under = message.under,
                        .then = {},
                        .applied = {}};
  const bool to_all = call.body.pattern == Pattern::version_request;
  for (const auto& member : connected_) {
    if (to_all || !leading_ || member != leading_->member)
      send_to(call, member, Message::of_stamped(stamped));
  }
}

void Caller::acked(const Ack& ack, TimePoint now) {
  const auto found = calls_.find(ack.sequence);
  if (found == calls_.end() || ack.client != client_) return;
  auto& members = found->second.acked[{ack.under, ack.version}];
  for (const auto& each : ack.applied) {
    if (std::find(members_.begin(), members_.end(), each) != members_.end()) members.insert(each);
  }
  if (members.size() < found->second.need) return;
  end(found,
      Applied{.version = ack.version, .members = {members.begin(), members.end()}, .outcome = ack.outcome});
  admit(now);
}

void Caller::refused(const std::string& member, const Refused& message) {
  const auto found = calls_.find(message.sequence);
  if (found == calls_.end()) return;
  found->second.refusal = member + ": " + message.text;
  const auto code = static_cast<Code>(message.code);
  if (is_for_good(code)) end(found, not_executed(code, found->second.refusal));
}

Failure Caller::too_late(const Call& call) const {
  auto text = std::to_string(call.most()) + " of " + std::to_string(members_.size()) +
              " replicas are known to have applied it, " + std::to_string(call.need) + " must";
  if (call.waits) {
    text += "; it waited for earlier calls of this client to end";
  } else if (!leading_) {
    text += "; no versioning server is known";
  } else if (!leader_is_connected()) {
    text += "; the versioning server " + leading_->member + " is not reached";
  }
  if (!call.refusal.empty()) text += "; " + call.refusal;
  return make_failure(Code::deadline_exceeded, call.sent ? Execution::unknown : Execution::not_executed,
                      std::move(text));
}

void Caller::end(Calls::iterator call, std::variant<Applied, Failure> result) {
  const auto sequence = call->first;
  calls_.erase(call);
  effects_.emplace_back(Done{.sequence = sequence, .result = std::move(result)});
}

}  // namespace mf::replicated
