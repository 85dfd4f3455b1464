#include "mf/client/stream.hpp"

#include <algorithm>

#include "client/target_state.hpp"
#include "mf/client/failures.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/converting.hpp"
#include "mf/protocol/metadata.hpp"

namespace mf::client {
namespace {

std::int64_t ticks(TimePoint when) noexcept {
  return when.time_since_epoch().count();
}

}  // namespace

StreamedCall::StreamedCall(const Target& target, const link::Method& method,
                           const protocol::RequestHead& head, Gathered&& payload, const CallContext& context,
                           const CallOptions& options, Tier param_tier)
    : AsyncCall(target, method.info, head, std::move(payload), context, method.info.streams),
      method_(method),
      param_tier_(param_tier),
      idle_(options.idle),
      in_(*this, state()->core->options().stream_window, nullptr, state()->core->options().max_payload),
      out_(*this),
      sent_tier_(param_tier) {
  allow_cancel();
}

StreamedCall::~StreamedCall() = default;

StreamedCall::Place StreamedCall::place() const {
  if (state()->core->inherited()) [[unlikely]]
    return {};
  const std::scoped_lock lock(mutex_);
  return place_;
}

void StreamedCall::on_schema(const link::Adaptation* adaptation) {
  std::shared_ptr<const link::Adaptation> shared;
  if (adaptation != nullptr) shared = adaptation->shared_from_this();
  const auto conversion = [&](link::Direction direction) {
    return shared ? link::stream_conversion(shared, method_.info.index, direction) : nullptr;
  };
  auto sent = conversion(link::Direction::to_server);
  auto read = conversion(link::Direction::to_client);
  {
    const std::scoped_lock lock(mutex_);
    sent_tier_ = sent ? sent->tier() : param_tier_;
    adaptation_ = std::move(shared);
  }
  if (read || adapted_before_) in_.set_conversion(std::move(read));
  if (sent || adapted_before_) out_.set_conversion(std::move(sent));
  adapted_before_ = adaptation != nullptr;
}

std::shared_ptr<const link::Adaptation> StreamedCall::adaptation() const {
  const std::scoped_lock lock(mutex_);
  return adaptation_;
}

void StreamedCall::on_sent(const std::shared_ptr<link::ClientLink>& link, std::uint32_t id) {
  {
    const std::scoped_lock lock(mutex_);
    place_ = {.link = link, .id = id, .tier = sent_tier_};
  }
  data_seen_ = false;
  in_.set_budget(link->windows());
  if (out_.open(link->peer_stream_window(), link->max_payload()).write) write_soon();
  if (sent_) core()->reactor().post(sent_);
  if (idle_ == kInfinite) return;
  active_at_ = ticks(mf::now());
  if (!std::exchange(idle_watched_, true)) watch_idle();
}

// This connection has ended or accepts no calls: calls wait for the next one.
void StreamedCall::on_again() noexcept {
  const std::scoped_lock lock(mutex_);
  place_ = {};
}

link::StreamEvent StreamedCall::on_data(const protocol::Event& event) {
  const bool first = !std::exchange(data_seen_, true);
  if (first) heard();
  if (event.header.metadata()) [[unlikely]] {
    const auto refuse = [](Code code, std::string why) {
      return link::StreamEvent{.failure = may_have_run(code, std::move(why))};
    };
    if (!first) return refuse(Code::protocol_error, "metadata with a DATA that is not the first");
    if (event.metadata_fault != nullptr) return refuse(Code::decode_error, event.metadata_fault);
    if (reply_metadata() != nullptr) *reply_metadata() = protocol::read_metadata(event.metadata);
  }
  if (idle_ != kInfinite) active_at_ = ticks(mf::now());
  return in_.on_data(event);
}

link::StreamEvent StreamedCall::on_credit(std::uint32_t bytes) {
  if (idle_ != kInfinite) active_at_ = ticks(mf::now());
  return out_.on_credit(bytes);
}

// If the user waits and nothing arrives for the idle time, the other side counts as stalled.
void StreamedCall::watch_idle() {
  const TimePoint due = TimePoint(TimePoint::duration(active_at_)) + idle_;
  state()->core->reactor().at(due, [weak = weak_from_this()] {
    const auto call = weak.lock();
    if (!call) return;
    {
      const std::scoped_lock lock(call->mutex_);
      if (call->ended_) return;
    }
    const auto now = mf::now();
    const bool waits = call->in_.waiting() || call->out_.waiting();
    if (!waits) call->active_at_ = ticks(now);
    if (TimePoint(TimePoint::duration(call->active_at_)) + call->idle_ > now) return call->watch_idle();
    call->end_with(
        may_have_run(Code::deadline_exceeded, "no value and no credit came for the idle time of the call"));
  });
}

void StreamedCall::end_with(Failure why) noexcept {
  const auto at = place();
  if (at.link) {
    at.link->give_up(at.id, std::move(why));
  } else {
    AsyncCall::cancel();
  }
}

void StreamedCall::cancel() {
  AsyncCall::cancel();  // also ends the search for a route
  if (const auto at = place(); at.link) at.link->give_up(at.id, cancelled_by_caller(Execution::unknown));
}

void StreamedCall::abandon() noexcept {
  if (auto event = in_.abandon(cancelled_by_caller(Execution::unknown))) complete(std::move(*event));
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
  }
  cancel();
}

void StreamedCall::fail(Failure failure) {
  end_with(failure);
  failure.raise();
}

void StreamedCall::refuse_value(const std::string& violation) {
  // The value was not sent; but the handler of the call may run.
  throw Error(Code::invalid_argument, Execution::unknown, "a value of the stream: " + violation);
}

void StreamedCall::end_streams(std::shared_ptr<const Failure> why) {
  complete(in_.on_end(why));
  complete(out_.on_end(std::move(why)));
  UniqueFunction<void()> done;
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    place_.link.reset();
    if (waiter_ != nullptr) std::exchange(waiter_, nullptr)->finish();
    done = std::exchange(done_, nullptr);
  }
  if (done) state()->core->complete(std::move(done));
}

void StreamedCall::complete(link::StreamEvent event) {
  if (event.write) write_soon();
  if (event.completion) state()->core->complete(std::move(event.completion));
}

void StreamedCall::end_output() {
  if (out_.drain()) send_end();
}

void StreamedCall::end_output_later() {
  out_.when_drained([self = shared_from_this()] {
    if (!self->out_.stopped()) self->send_end();
  });
}

void StreamedCall::wait_for_end() {
  check_process();
  const mf::detail::HandlerWait handler;
  if (handler.refused()) handler.refusal(Execution::unknown).raise();
  for (;;) {
    link::Waiter waiter;
    {
      const std::scoped_lock lock(mutex_);
      if (ended_) return;
      waiter_ = &waiter;
    }
    wait(waiter, kNever);  // the call ends by itself at its deadline
    const std::scoped_lock lock(mutex_);
    waiter_ = nullptr;
  }
}

void StreamedCall::when_ended(UniqueFunction<void()> done) {
  check_process();
  {
    const std::scoped_lock lock(mutex_);
    if (!ended_) done_ = std::move(done);
  }
  if (done) done();
}

void StreamedCall::send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) {
  const auto at = place();
  if (at.link)
    at.link->send_data({.id = at.id, .tier = at.tier, .count = count, .flags = flags}, std::move(payload));
}

void StreamedCall::send_credit(std::uint32_t bytes) {
  const auto at = place();
  if (at.link) at.link->send_credit(at.id, bytes);
}

void StreamedCall::send_end() {
  const auto at = place();
  if (at.link) at.link->send_end(at.id);
}

bool StreamedCall::has_room() {
  const auto at = place();
  return at.link && at.link->has_room();
}

void StreamedCall::flush() {
  if (const auto at = place(); at.link) at.link->write_now();
}

void StreamedCall::write_soon() {
  if (state()->core->inherited()) return out_.write_pending();  // the loop's thread is not here
  state()->core->reactor().post([weak = weak_from_this()] {
    if (const auto call = weak.lock()) call->out_.write_pending();
  });
}

void StreamedCall::check_process() {
  if (!state()->core->inherited()) [[likely]]
    return;
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
  }
  end(link::Reply::failed(inherited("stream"), link::Ended::lost));
}

void StreamedCall::wait(link::Waiter& waiter, TimePoint until) {
  const auto at = place();
  if (at.link) return at.link->drive_interruptibly(waiter, until);
  waiter.wait_until(until);
}

TimePoint StreamedCall::wait_until() {
  // The call ends by itself at its deadline, which the link or the search for one ensures, except while the
  // thread that does so waits here itself, in a callback.
  if (deadline() == kNever || state()->core->reactor().on_own_thread()) return deadline();
  return deadline() + std::chrono::seconds(1);
}

Failure StreamedCall::out_of_time() {
  auto why = may_have_run(Code::deadline_exceeded, "the stream did not end by its deadline");
  end_with(why);
  return why;
}

void StreamedCall::at(TimePoint when, UniqueFunction<void()> work) {
  state()->core->reactor().at(when, std::move(work));
}

}  // namespace mf::client
