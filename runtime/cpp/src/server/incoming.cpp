#include "mf/server/incoming.hpp"

#include "mf/protocol/metadata.hpp"
#include "server/admission.hpp"
#include "server/tally.hpp"

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
  give_back_slot();
  const auto link = std::exchange(link_, nullptr);
  if (call_) {
    (void)call_->end();
  } else if (slot_ != nullptr) {
    (void)slot_->machine.on(protocol::ServerCallEvent::answered);
  }
  if (link) link->end_request(payload_size_);
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
