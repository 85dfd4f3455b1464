#include "mf/server/call.hpp"

#include <stdexcept>
#include <string>

#include "mf/core/failure.hpp"
#include "mf/protocol/metadata.hpp"

namespace mf::server {
namespace {

using protocol::ServerCallEvent;
using protocol::ServerCallStep;

Failure why_stopped(ServerCallEvent event) {
  switch (event) {
    case ServerCallEvent::cancelled:
      return may_have_run(Code::cancelled, "the client has cancelled the call");
    case ServerCallEvent::expired:
      return may_have_run(Code::deadline_exceeded, "the deadline of the call has passed");
    default:
      return may_have_run(Code::connection_lost, "the client's connection has ended");
  }
}

}  // namespace

bool Calls::add(std::uint32_t id, Slot* slot) {
  const std::scoped_lock lock(mutex_);
  if (calls_.contains(id)) return false;
  calls_.insert(id, 0, kNever, slot);
  return true;
}

void Calls::replace(std::uint32_t id, const Slot* from, Slot* to) {
  const std::scoped_lock lock(mutex_);
  auto* const found = calls_.find(id);
  if (found == nullptr || *found != from) return;
  to->machine.take_over(from->machine);
  to->service = from->service;
  to->method = from->method;
  *found = to;
}

void Calls::remove(std::uint32_t id, const Slot* slot) noexcept {
  const std::scoped_lock lock(mutex_);
  if (auto* const found = calls_.find(id); found != nullptr && *found == slot) (void)calls_.take(id);
}

// A call leaves the table, under the same lock, before it is destroyed.
std::shared_ptr<Call> Calls::find(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  auto* const found = calls_.find(id);
  return found != nullptr && (*found)->call != nullptr ? (*found)->call->shared_from_this() : nullptr;
}

std::vector<std::shared_ptr<Call>> Calls::live() {
  std::vector<std::shared_ptr<Call>> live;
  const std::scoped_lock lock(mutex_);
  calls_.for_each([&](std::uint32_t /*id*/, const Slot* slot) {
    if (slot->call != nullptr) live.push_back(slot->call->shared_from_this());
  });
  return live;
}

void Calls::count(std::map<std::string, std::size_t>& by_method) {
  const std::scoped_lock lock(mutex_);
  calls_.for_each([&](std::uint32_t /*id*/, const Slot* slot) {
    ++by_method[std::string(slot->service) + "." + std::string(slot->method.empty() ? "*" : slot->method)];
  });
}

void Calls::on_cancel(std::uint32_t id) {
  auto step = ServerCallStep::none;
  std::shared_ptr<Call> call;
  {
    const std::scoped_lock lock(mutex_);
    auto* const found = calls_.find(id);
    if (found == nullptr) return;  // it has ended, or runs without a live call
    step = (*found)->machine.on(ServerCallEvent::cancelled);
    if ((*found)->call != nullptr) call = (*found)->call->shared_from_this();
  }
  if (call) call->on_stop(ServerCallEvent::cancelled, step);
}

void Calls::on_lost() {
  std::vector<std::pair<std::shared_ptr<Call>, ServerCallStep>> live;
  {
    const std::scoped_lock lock(mutex_);
    calls_.for_each([&](std::uint32_t /*id*/, Slot* slot) {
      const auto step = slot->machine.on(ServerCallEvent::lost);
      if (slot->call != nullptr) live.emplace_back(slot->call->shared_from_this(), step);
    });
  }
  for (const auto& [call, step] : live) call->on_stop(ServerCallEvent::lost, step);
}

Call::Call(std::shared_ptr<link::ServerLink> link, std::shared_ptr<Calls> calls,
           const protocol::ReplyHead& head, bool oneway, TimePoint deadline)
    : link_(std::move(link)), calls_(std::move(calls)), head_(head), deadline_(deadline), slot_(oneway) {
  slot_.call = this;
}

Call::~Call() {
  if (!streams_) return;
  streams_.reset();  // which gives back what it was charged
  --calls_->streams;
}

bool Call::begin() {
  in_table_ = calls_->add(head_.id, &slot_);
  return in_table_;
}

void Call::take_over(const Slot* slot) {
  in_table_ = true;
  calls_->replace(head_.id, slot, &slot_);
  if (slot_.machine.state() == protocol::ServerCallState::stopping) ask_to_stop();
}

void Call::open_streams(const Limits& limits) {
  streams_ = std::make_unique<Streams>(*this, limits, calls_->windows(), link_->max_payload());
  ++calls_->streams;
  watch_deadline();
}

bool Call::start() {
  return on(ServerCallEvent::started) == ServerCallStep::run;
}

void Call::on_queued() {
  (void)on(ServerCallEvent::queued);
}

bool Call::end() {
  // The client has cancelled the call at the same moment. The timer may not have fired yet.
  if (slot_.machine.state() == protocol::ServerCallState::running && deadline_ != kNever &&
      mf::now() >= deadline_)
    (void)on(ServerCallEvent::expired);
  const bool answer = on(ServerCallEvent::answered) == ServerCallStep::answer;
  if (in_table_.exchange(false)) calls_->remove(head_.id, &slot_);
  // Later events of its streams are ignored, and waits for them must end.
  if (streams_) end_streams(mf::detail::shared(may_have_run(Code::cancelled, "the call has ended")));
  return answer;
}

void Call::on_stop(ServerCallEvent event, ServerCallStep step) {
  if (step == ServerCallStep::none || step == ServerCallStep::wait) return;
  if (streams_) end_streams(mf::detail::shared(why_stopped(event)));
  ask_to_stop();
}

void Call::ask_to_stop() {
  std::optional<std::stop_source> source;
  {
    const std::scoped_lock lock(mutex_);
    stopped_.store(true, std::memory_order_release);
    source = stop_;
  }
  if (source) source->request_stop();
}

std::stop_token Call::stop_token() {
  std::stop_token token;
  {
    const std::scoped_lock lock(mutex_);
    if (!stop_) stop_.emplace();
    token = stop_->get_token();
    if (stopped_) stop_->request_stop();
  }
  watch_deadline();
  return token;
}

// A handler that cannot be stopped needs no timer.
void Call::watch_deadline() {
  {
    const std::scoped_lock lock(mutex_);
    if (deadline_ == kNever || std::exchange(deadline_watched_, true)) return;
  }
  link_->at(deadline_, [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->on_stop(ServerCallEvent::expired, self->on(ServerCallEvent::expired));
  });
}

void Call::set_reply_metadata(std::string_view key, std::string_view value) {
  const std::scoped_lock lock(mutex_);
  Metadata metadata = reply_metadata_.value_or(Metadata());
  metadata.set(key, value);
  (void)protocol::metadata_size(metadata);  // throws for too large metadata
  reply_metadata_ = std::move(metadata);
}

Metadata Call::take_reply_metadata() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(reply_metadata_, std::nullopt).value_or(Metadata());
}

void Call::on_data(const protocol::Event& event) {
  if (!streams_)
    return answer_early(
        may_have_run(Code::protocol_error, "the client sent DATA for a call without a stream"));
  if (end_seen_) return answer_early(may_have_run(Code::protocol_error, "the client sent DATA after END"));
  if (event.header.metadata())
    return answer_early(may_have_run(Code::protocol_error, "the client sent metadata with DATA"));
  if (on(ServerCallEvent::data) == ServerCallStep::deliver) done(streams_->in.on_data(event));
}

void Call::on_end() {
  if (!streams_)
    return answer_early(
        may_have_run(Code::protocol_error, "the client sent END for a call without a stream"));
  if (std::exchange(end_seen_, true))
    return answer_early(may_have_run(Code::protocol_error, "the client sent END twice"));
  if (on(ServerCallEvent::end_of_stream) == ServerCallStep::deliver) done(streams_->in.on_end(nullptr));
}

void Call::on_credit(std::uint32_t bytes) {
  if (streams_ && on(ServerCallEvent::credit) == ServerCallStep::deliver)
    done(streams_->out.on_credit(bytes));
}

void Call::on_room() {
  if (streams_) done(streams_->out.on_room());
}

void Call::end_streams(std::shared_ptr<const Failure> why) {
  done(streams_->in.on_end(why));
  done(streams_->out.on_end(std::move(why)));
}

void Call::done(link::StreamEvent event) {
  if (event.failure) answer_early(*event.failure);
  if (event.credit != 0) send_credit(event.credit);
  if (event.write) streams_->out.write_pending();
  event.complete();
}

/// The client violated the rules of the call, or sent invalid data: it is told now, and the handler detects
/// that the call has ended. The call still counts until the handler returns.
void Call::answer_early(const Failure& failure) {
  bool answers = false;
  {
    // A thread that finds the call ended before its handler started learns the reason here, and does not
    // answer again.
    const std::scoped_lock lock(mutex_);
    answers = on(ServerCallEvent::answered) == ServerCallStep::answer;
    if (answers) answered_early_ = true;
  }
  if (answers) link_->send_early(head_, failure.code, failure.execution, failure.message);
  if (streams_) end_streams(mf::detail::shared(failure));
  ask_to_stop();
}

void Call::forbid_input() {
  done(streams_->in.forbid());
}

void Call::abandon() noexcept {
  auto event = streams_->in.abandon(may_have_run(Code::cancelled, "cancelled by the handler"));
  if (!event) return;
  send_cancel();
  if (event->completion) link_->post(std::move(event->completion));
}

void Call::fail(Failure failure) {
  answer_early(failure);
  failure.raise();
}

void Call::shut_down() {
  if (streams_)
    answer_early(may_have_run(Code::shutting_down, "the server stops, and the stream had not ended"));
}

void Call::refuse_value(const std::string& violation) {
  throw std::invalid_argument("a value of the result stream breaks the schema: " + violation);
}

void Call::send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) {
  link_->send_data({.id = head_.id, .tier = streams_->tier, .count = count, .flags = flags},
                   std::move(payload));
}

Buffer Call::take_front(std::size_t most) {
  Buffer block;
  const std::scoped_lock lock(mutex_);
  if (!reply_metadata_ || protocol::metadata_size(*reply_metadata_) > most)
    return block;  // it is sent with the reply
  block.resize(protocol::metadata_size(*reply_metadata_));
  protocol::write_metadata(block.data(), *reply_metadata_);
  reply_metadata_.reset();
  return block;
}

void Call::send_credit(std::uint32_t bytes) {
  link_->send_credit(head_.id, bytes);
}

void Call::send_cancel() {
  link_->send_cancel(head_.id);
}

void Call::write_soon() {
  link_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->streams_->out.write_pending();
  });
}

Failure Call::out_of_time() {
  return why_stopped(ServerCallEvent::expired);
}

}  // namespace mf::server
