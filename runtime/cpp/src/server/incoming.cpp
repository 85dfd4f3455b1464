#include "mf/server/incoming.hpp"

#include "mf/core/failure.hpp"
#include "mf/monitor/tally.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/server/run.hpp"
#include "server/admission.hpp"

namespace mf::server {

std::shared_ptr<Gate> Ticket::leave_gate() {
  auto gate = std::exchange(gate_, nullptr);
  gate->admission().leave(*gate);
  return gate;
}

std::shared_ptr<link::ServerLink> Ticket::take_link() {
  give_back_slot();
  auto link = std::exchange(link_, nullptr);
  const bool wanted = call_ ? call_->end()
                            : slot_ == nullptr || slot_->machine.on(protocol::ServerCallEvent::answered) ==
                                                      protocol::ServerCallStep::answer;
  if (!link || (wanted && !oneway_)) return link;
  link->end_request(payload_size_);
  return nullptr;
}

void Ticket::drop() {
  if (begun_) {
    fail(Code::internal, Execution::unknown, "the handler ended without an answer");
  } else {
    fail(Code::shutting_down, Execution::not_executed, "the server stopped before it ran the call");
  }
}

void Ticket::item_ends(Code how, std::uint32_t calls) noexcept {
  if (tally_ != nullptr) tally_->ended(how, calls);
}

void Ticket::count_time() noexcept {
  tally_->answered(mf::now() - came_);
}

void Ticket::answer(std::uint16_t status, Tier tier, Gathered& payload) {
  if (status == protocol::kStatusOk) {
    ends(Code::ok);
  } else if (tally_ != nullptr && link_) {
    count_time();  // its items were counted one by one
  }
  const auto link = take_link();
  if (way_) [[unlikely]]
    way_->answered(link != nullptr, payload.size(), status == protocol::kStatusOk ? &payload : nullptr);
  if (!link) return;
  head_.status = status;
  head_.encoding = static_cast<std::uint8_t>(tier);
  if (call_) [[unlikely]] {
    if (const auto metadata = call_->take_reply_metadata(); !metadata.empty()) {
      protocol::write_metadata(payload.prepend(protocol::metadata_size(metadata)), metadata);
      head_.flags = protocol::kMetadata;
    }
  }
  link->send_reply(head_, payload, payload_size_);
}

void Ticket::fail(Code code, Execution execution, std::string_view message) {
  ends(code);
  if (way_) [[unlikely]]
    way_->failed(make_failure(code, execution, std::string(message)));
  if (const auto link = take_link()) link->send_failure(head_, code, execution, message, payload_size_);
}

void Ticket::refuse(Code code, std::string_view message) {
  ends(code);
  give_back_slot();
  const auto link = std::exchange(link_, nullptr);
  const bool told = call_ && call_->answered_early();
  if (call_) (void)call_->end();
  if (!link) return;
  if (oneway_ || told) return link->end_request(payload_size_);
  link->send_failure(head_, code, Execution::not_executed, message, payload_size_);
}

void Ticket::done() {
  ends(oneway_ ? Code::ok : Code::cancelled);
  if (way_) [[unlikely]]
    way_->answered(oneway_, 0, nullptr);
  give_back_slot();
  const auto link = std::exchange(link_, nullptr);
  if (call_) {
    (void)call_->end();
  } else if (slot_ != nullptr) {
    (void)slot_->machine.on(protocol::ServerCallEvent::answered);
  }
  if (link) link->end_request(payload_size_);
}

ServerWay::ServerWay(Incoming& in, const link::Method& method, CallKind kind, link::Items requests)
    : Intercepting(**in.interceptors(), method.service, in.info().agent, method.info, kind, requests.count,
                   &in.info()),
      list_(*in.interceptors()),
      offer_(in.offer()) {
  call.deadline = in.info().deadline;
  if (const auto& metadata = in.metadata(); !metadata.empty()) call.metadata = metadata;
  set_arguments(link::given_items(requests));
  set_encoded_requests(in.payload());
}

bool ServerWay::begin(Incoming& in, const link::Method& method) {
  const auto refused = Intercepting::begin(mf::now(), &mf::detail::refusal);
  if (!refused) return true;
  detail::refuse_intercepted(in, method, *refused);
  return false;
}

void ServerWay::answered(bool wanted, std::size_t reply_bytes, const Gathered* results) noexcept {
  auto how = std::exchange(gives_, CallEnd());
  how.reply_bytes = reply_bytes;
  how.encoded_results = results;
  // A failure whose text needs no memory: the caller gets no late answer.
  Failure instead;
  if (call.deadline != kNever && mf::now() >= call.deadline) {
    instead.code = Code::deadline_exceeded;
  } else if (!wanted) {
    instead.code = Code::cancelled;
  } else {
    return finish(std::move(how));
  }
  how.code = instead.code;
  how.failure = &instead;
  how.outcomes = nullptr;
  how.encoded_results = nullptr;
  how.encoded_items = nullptr;
  how.result_type = nullptr;
  finish(std::move(how));
}

void ServerWay::failed(const Failure& failure) noexcept {
  finish({.code = failure.code, .failure = &failure});
}

void ServerWay::leave() noexcept {
  if (!ended()) failed(mf::detail::unset_failure());
}

void ServerWay::finish(CallEnd&& how) noexcept {
  how.peer = call.peer();
  how.request_bytes = call.request_bytes();
  end(std::move(how));
}

const std::shared_ptr<Call>& Incoming::live_call() {
  if (call_ || ticket_.oneway() || !ticket_.link()) return call_;
  auto call = std::make_shared<Call>(ticket_.link(), calls_, ticket_.head(), false, info_.deadline);
  call->set_method(info_.service, {});
  if (auto* const slot = ticket_.slot()) {
    call->take_over(slot);
  } else if (!call->begin() || !call->start()) {
    return call_;
  }
  ticket_.set_call(call);
  call_ = std::move(call);
  return call_;
}

bool Incoming::cancelled() noexcept {
  if (call_) return call_->cancelled();
  const auto* const slot = ticket_.slot();
  return slot != nullptr && slot->machine.state() == protocol::ServerCallState::stopping;
}

std::stop_token Incoming::stop_token() {
  const auto& call = live_call();
  return call ? call->stop_token() : std::stop_token();
}

const Metadata& Incoming::metadata() noexcept {
  static const Metadata kNone;
  return call_ ? call_->metadata() : kNone;
}

void Incoming::keep_alive(std::chrono::milliseconds dead_after) {
  if (const auto& call = live_call()) call->keep_alive(dead_after);
}

void Incoming::set_reply_metadata(std::string_view key, std::string_view value) {
  if (const auto& call = live_call()) call->set_reply_metadata(key, value);
}

}  // namespace mf::server
