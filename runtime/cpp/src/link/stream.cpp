#include "mf/link/stream.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/link/typed.hpp"

namespace mf::link {
namespace {

using protocol::kHeaderSize;
using protocol::kMaxDataPayload;

// Values are gathered up to this size before their writer sends them itself.
constexpr std::size_t kGathered = std::size_t{32} << 10U;
// With more than this pending, a writer waits.
constexpr std::size_t kMostPending = std::size_t{64} << 10U;
// With less credit than this a value is not cut into pieces, if there may be more soon.
constexpr std::size_t kLeastCredit = kHeaderSize + 1024;
constexpr std::uint16_t kMostValues = protocol::kExtendedCount - 1;

/// The longest payload of a DATA within this credit.
std::size_t payload_for(std::size_t credit) noexcept {
  const std::size_t whole = credit & ~std::size_t{7};
  return whole <= kHeaderSize ? 0 : std::min(whole - kHeaderSize, kMaxDataPayload);
}

}  // namespace

Failure wrong_encoding() {
  return may_have_run(Code::decode_error,
                      "the values of the stream have another encoding than the schema says");
}

StreamIn::StreamIn(StreamPort& port, std::uint32_t window, std::shared_ptr<protocol::WindowBudget> budget,
                   std::size_t most)
    : port_(port), budget_(std::move(budget)), most_(most), window_(window) {}

StreamIn::~StreamIn() {
  if (budget_) window_.release(*budget_);
}

void StreamIn::set_budget(std::shared_ptr<protocol::WindowBudget> budget) {
  const std::scoped_lock lock(mutex_);
  budget_ = std::move(budget);
}

void StreamIn::set_conversion(std::shared_ptr<StreamConversion> conversion) {
  const std::scoped_lock lock(mutex_);
  conversion_ = std::move(conversion);
}

StreamEvent StreamIn::refuse(Code code, std::string message) const {
  return {.failure = may_have_run(code, std::move(message))};
}

StreamEvent StreamIn::on_data(const protocol::Event& event) {
  const std::scoped_lock lock(mutex_);
  if (abandoned() || why_) return {};
  if (ended_) return refuse(Code::protocol_error, "the peer sent DATA after END");
  const std::size_t cost = protocol::padded(event.header.size);
  const bool whole = event.count != 0;
  if (!window_.arrived(cost))
    return refuse(Code::protocol_error, "the peer sent DATA that it had no credit for");
  if (forbidden_) return refuse(Code::protocol_error, "the peer sent DATA where the method has no stream");
  if (!whole && event.payload.empty())
    return refuse(Code::protocol_error, "the peer sent a piece of a value without bytes");
  StreamEvent done;
  if (!piece_open_ && whole) {
    keep({.bytes = event.keep(), .encoding = event.header.encoding(), .count = event.count, .cost = cost});
    wake(done);
    return done;
  }
  if (event.count > 1)
    return refuse(Code::protocol_error, "the peer sent more than the end of a value that goes on");
  if (piece_.size() + event.payload.size() > most_)
    return refuse(Code::message_too_large,
                  "a value of the stream has more than " + std::to_string(most_) + " bytes");
  if (piece_open_ && piece_encoding_ != event.header.encoding())
    return refuse(Code::protocol_error, "the pieces of a value have several encodings");
  piece_encoding_ = event.header.encoding();
  // What has come is not moved for the end of a value that is a little longer than a frame.
  if (piece_.capacity() == 0)
    piece_.reserve(std::min(most_, event.payload.size() + event.payload.size() / 8));
  piece_.append(event.payload);
  piece_open_ = !whole;
  piece_cost_ += cost;
  if (whole) {
    keep({.bytes = Bytes(std::exchange(piece_, Buffer())),
          .encoding = piece_encoding_,
          .count = 1,
          .cost = std::exchange(piece_cost_, 0)});
    wake(done);
  } else if (frames_.empty() && held_cost_ == 0) {
    // The user waits for this value, so its pieces count as taken.
    done.credit = window_.taken(std::exchange(piece_cost_, 0), *budget_);
  }
  charge_.set(kept_ + piece_.size());
  return done;
}

void StreamIn::keep(Frame frame) {
  kept_ += frame.bytes.size();
  frames_.push_back(std::move(frame));
  charge_.set(kept_ + piece_.size());
}

StreamEvent StreamIn::on_end(std::shared_ptr<const Failure> why) {
  const std::scoped_lock lock(mutex_);
  StreamEvent done;
  if (ended_) return why || why_ ? std::move(done) : refuse(Code::protocol_error, "the peer sent END twice");
  if (!why && forbidden_)
    return refuse(Code::protocol_error, "the peer sent END where the method has no stream");
  ended_ = true;
  why_ = std::move(why);
  if (!why_ && piece_open_) {
    why_ = mf::detail::shared(may_have_run(Code::protocol_error, "the stream ended within a value"));
  }
  wake(done);
  return done;
}

void StreamIn::wake(StreamEvent& event) {
  if (waiter_ != nullptr) std::exchange(waiter_, nullptr)->finish();
  event.completion = std::exchange(ready_, nullptr);
}

StreamIn::Got StreamIn::take(Frame& into) {
  std::uint32_t credit = 0;
  auto got = Got::nothing;
  std::shared_ptr<StreamConversion> conversion;
  {
    const std::scoped_lock lock(mutex_);
    into.bytes.clear();
    std::size_t taken = std::exchange(held_cost_, 0);
    if (!frames_.empty()) {
      into = std::move(frames_.front());
      frames_.pop_front();
      kept_ -= into.bytes.size();
      charge_.set(kept_ + piece_.size());
      held_cost_ = into.cost;
      got = Got::values;
      conversion = conversion_;
    } else {
      taken += std::exchange(piece_cost_, 0);
      if (ended_) got = Got::ended;
      seen_ = ended_;
    }
    if (taken != 0 && !ended_) credit = window_.taken(taken, *budget_);
  }
  if (credit != 0) port_.send_credit(credit);
  if (conversion && got == Got::values) [[unlikely]]
    convert(into, *conversion);
  return got;
}

// Values before one that cannot be converted are still read.
void StreamIn::convert(Frame& frame, StreamConversion& conversion) {
  if (frame.encoding != static_cast<std::uint8_t>(conversion.tier_before())) {
    frame.encoding = 0;
    return;
  }
  Buffer out;
  auto values = frame.bytes.span();
  std::uint32_t count = 0;
  std::optional<Failure> why;
  while (count < frame.count && !(why = conversion.convert(values, out))) ++count;
  if (!why && !values.empty())
    why = may_have_run(Code::decode_error, "a value of the stream: bytes follow its end");
  frame.bytes = Bytes(std::move(out));
  frame.count = count;
  frame.encoding = static_cast<std::uint8_t>(conversion.tier());
  if (why) frame.fault = mf::detail::shared(std::move(*why));
}

StreamIn::Got StreamIn::wait(Frame& into) {
  for (;;) {
    const auto got = take(into);
    if (got == Got::ended && why_) why_->raise();
    if (got != Got::nothing) return got;
    const auto until = port_.wait_until();
    const mf::detail::HandlerWait handler;
    if (handler.refused()) handler.refusal(Execution::unknown).raise();
    port_.check_process();
    Waiter waiter;
    {
      const std::scoped_lock lock(mutex_);
      if (!empty()) continue;
      waiter_ = &waiter;
    }
    port_.wait(waiter, until);
    bool late = false;
    {
      const std::scoped_lock lock(mutex_);
      waiter_ = nullptr;
      late = empty();
    }
    if (!late || until == kNever || mf::now() < until) continue;
    port_.out_of_time().raise();
  }
}

void StreamIn::when_ready(UniqueFunction<void()> ready) {
  port_.check_process();
  {
    const std::scoped_lock lock(mutex_);
    if (empty()) {
      ready_ = std::move(ready);
      return;
    }
  }
  ready();
}

bool StreamIn::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiter_ != nullptr || static_cast<bool>(ready_);
}

std::shared_ptr<const Failure> StreamIn::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

StreamEvent StreamIn::forbid() {
  const std::scoped_lock lock(mutex_);
  forbidden_ = true;
  if (frames_.empty() && !piece_open_ && (!ended_ || why_)) return {};
  return refuse(Code::protocol_error, "the peer sent DATA or END where the method has no stream");
}

std::optional<StreamEvent> StreamIn::abandon(Failure why) {
  const std::scoped_lock lock(mutex_);
  if (seen_ || abandoned_.exchange(true)) return std::nullopt;
  frames_.clear();
  piece_ = Buffer();
  charge_.set(kept_ = 0);
  if (!why_) why_ = mf::detail::shared(std::move(why));
  if (std::exchange(ended_, true)) return std::nullopt;
  StreamEvent done;
  wake(done);
  return done;
}

StreamOut::StreamOut(StreamPort& port, std::uint32_t credit, std::size_t most)
    : port_(port),
      most_(most),
      least_credit_(std::min<std::size_t>(kLeastCredit, credit / 2)),
      window_(credit) {}

void StreamOut::set_conversion(std::shared_ptr<StreamConversion> conversion) {
  const std::scoped_lock lock(mutex_);
  conversion_ = std::move(conversion);
}

StreamEvent StreamOut::open(std::uint32_t credit, std::size_t most) {
  const std::scoped_lock lock(mutex_);
  opened_ = true;
  to_convert_ = conversion_ != nullptr && !ends_.empty();
  window_ = protocol::SendWindow(credit);
  least_credit_ = std::min<std::size_t>(kLeastCredit, credit / 2);
  most_ = most;
  return woken();
}

StreamEvent StreamOut::woken() {
  StreamEvent done;
  if (waiter_ != nullptr) {
    std::exchange(waiter_, nullptr)->finish();  // the waiting writer writes itself
  } else {
    again_ = emitting_;
    done.write = unsent() != 0 && !emitting_;
  }
  return done;
}

StreamEvent StreamOut::on_credit(std::uint32_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (ended_ || stopped_) return {};
  if (!window_.add(bytes))
    return {.failure = may_have_run(Code::protocol_error, "the peer gave more credit than 2^31 - 1")};
  return woken();
}

StreamEvent StreamOut::on_room() {
  const std::scoped_lock lock(mutex_);
  return woken();
}

StreamEvent StreamOut::on_stopped() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  StreamEvent done = woken();
  done.write = static_cast<bool>(ready_) || static_cast<bool>(drained_);  // write_pending() calls them
  return done;
}

StreamEvent StreamOut::on_end(std::shared_ptr<const Failure> why) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(ended_, true)) return {};
  why_ = std::move(why);
  charge_.set(0);
  StreamEvent done = woken();
  done.write = static_cast<bool>(ready_) || static_cast<bool>(drained_);
  return done;
}

bool StreamOut::may_write() const {
  if (ended_ && why_) why_->raise();
  return !ended_ && !stopped_;
}

bool StreamOut::end_here() {
  const std::scoped_lock lock(mutex_);
  return !std::exchange(ended_here_, true);
}

Outcome<bool> StreamOut::state() const {
  if (ended_ && why_) return Outcome<bool>(why_);
  return !ended_ && !stopped_;
}

bool StreamOut::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiter_ != nullptr || static_cast<bool>(ready_) || static_cast<bool>(drained_);
}

bool StreamOut::stopped() const {
  const std::scoped_lock lock(mutex_);
  return stopped_ || ended_;
}

/// A value was appended; it is removed if it is too large.
std::optional<Failure> StreamOut::add_value() {
  if (conversion_ && opened_) [[unlikely]] {
    if (auto lost = convert_last(ends_.empty() ? 0 : ends_.back())) return lost;
  }
  const std::size_t before = ends_.empty() ? 0 : ends_.back();
  const std::size_t size = pending_.size() - before;
  if (size <= most_) [[likely]] {
    ends_.push_back(pending_.size());
    return std::nullopt;
  }
  pending_.resize(before);
  return not_executed(Code::message_too_large, "a value of " + std::to_string(size) + " bytes is above the " +
                                                   std::to_string(most_) + " that the peer takes");
}

/// The last value is not in ends_ yet, and stays out if it cannot be converted.
std::optional<Failure> StreamOut::convert_last(std::size_t before) {
  Buffer value;
  value.append(std::span<const std::byte>(pending_.data() + before, pending_.size() - before));
  pending_.resize(before);
  if (to_convert_) {
    if (auto lost = convert_pending()) return lost;
  }
  std::span<const std::byte> bytes = value.span();
  return conversion_->convert(bytes, pending_);
}

/// Nothing has been sent. A value that cannot be converted ends the stream, since its write has returned.
std::optional<Failure> StreamOut::convert_pending() {
  to_convert_ = false;
  Buffer out;
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  for (const auto end : ends_) {
    std::span<const std::byte> value(pending_.data() + begin, end - begin);
    if (auto why = conversion_->convert(value, out)) {
      ended_ = true;
      why_ = mf::detail::shared(Failure(*why));
      pending_.clear();
      ends_.clear();
      return why;
    }
    begin = end;
    ends.push_back(out.size());
  }
  pending_ = std::move(out);
  ends_ = std::move(ends);
  return std::nullopt;
}

bool StreamOut::much() const noexcept {
  return left() >= kGathered || unsent() >= kMostValues;
}

bool StreamOut::too_much() const noexcept {
  return left() >= kMostPending || unsent() >= 2 * kMostValues;
}

bool StreamOut::wrote(Lock& lock) {
  if (const auto too_large = add_value()) too_large->raise();
  if (much()) {
    transmit(lock);
    return !too_much() || wait(lock, false);
  }
  if (!std::exchange(soon_, true)) {
    lock.unlock();
    port_.write_soon();
  }
  return true;
}

void StreamOut::async_wrote(Lock& lock, UniqueFunction<void(Outcome<bool>&&)> done) {
  if (auto too_large = add_value()) {
    lock.unlock();
    return done(std::move(*too_large));
  }
  if (much()) transmit(lock);
  if (too_much() && !ended_ && !stopped_) {
    ready_ = [this, done = std::move(done)]() mutable {
      Lock relock(mutex_);
      end_write(relock, std::move(done));
    };
    return;
  }
  const bool soon = unsent() != 0 && !std::exchange(soon_, true);
  auto outcome = state();
  lock.unlock();
  if (soon) port_.write_soon();
  done(std::move(outcome));
}

void StreamOut::end_write(Lock& lock, UniqueFunction<void(Outcome<bool>&&)> done) {
  auto outcome = state();
  lock.unlock();
  done(std::move(outcome));
}

bool StreamOut::wait(Lock& lock, bool for_all) {
  for (;;) {
    lock.unlock();
    port_.check_process();
    const auto until = port_.wait_until();
    const mf::detail::HandlerWait handler;
    lock.lock();
    emitted_.wait(lock, [this] { return !emitting_; });  // another thread writes, which never blocks
    transmit(lock);
    // The lock is held from here until the wait, so that later changes find the waiter.
    if (ended_ || stopped_ || (for_all ? unsent() == 0 : !too_much())) return may_write();
    if (handler.refused()) handler.refusal(Execution::unknown).raise();
    Waiter waiter;
    waiter_ = &waiter;
    lock.unlock();
    port_.wait(waiter, until);
    lock.lock();
    waiter_ = nullptr;
    if (waiter.done() || until == kNever || mf::now() < until) continue;
    lock.unlock();
    port_.out_of_time().raise();
  }
}

bool StreamOut::drain() {
  Lock lock(mutex_);
  return wait(lock, true);
}

void StreamOut::when_drained(UniqueFunction<void()> drained) {
  {
    Lock lock(mutex_);
    transmit(lock);
    if (unsent() != 0 && !ended_ && !stopped_) {
      drained_ = std::move(drained);
      return;
    }
  }
  drained();
}

void StreamOut::write_pending() {
  UniqueFunction<void()> ready;
  UniqueFunction<void()> drained;
  {
    Lock lock(mutex_);
    soon_ = false;
    transmit(lock);
    const bool over = ended_ || stopped_;
    if (over || !too_much()) ready = std::exchange(ready_, nullptr);
    if (over || unsent() == 0) drained = std::exchange(drained_, nullptr);
  }
  if (ready) ready();
  if (drained) drained();
}

// Frames are cut with the lock held and passed to the connection without it; one thread at a time does both,
// so that they are sent in order.
void StreamOut::transmit(Lock& lock) {
  if (emitting_) return;
  if (to_convert_) [[unlikely]] {
    if (auto lost = convert_pending()) {
      lock.unlock();
      port_.give_up(std::move(*lost));
      lock.lock();
      return;
    }
  }
  emitting_ = true;
  bool sent = false;
  try {
    sent = transmit_pieces(lock);
  } catch (const std::exception& error) {
    if (!lock.owns_lock()) lock.lock();
    break_off(error, lock);
  }
  emitting_ = false;
  charge_.set(ended_ ? 0 : left());  // nothing more is sent then
  emitted_.notify_all();
  if (!sent) return;
  lock.unlock();
  port_.flush();
  lock.lock();
}

/// A piece is lost, mostly for lack of memory: the stream cannot go on.
void StreamOut::break_off(const std::exception& error, Lock& lock) {
  auto why =
      may_have_run(Code::internal, std::string("the values of the stream cannot be sent: ") + error.what());
  ended_ = true;
  why_ = mf::detail::shared(why);
  lock.unlock();
  port_.give_up(std::move(why));
  lock.lock();
}

/// True if something was sent.
bool StreamOut::transmit_pieces(Lock& lock) {
  bool sent = false;
  while (unsent() != 0 && !ended_ && !stopped_) {
    again_ = false;
    const bool first = !std::exchange(begun_, true);
    const std::size_t half = window_.credit() / 2;
    lock.unlock();
    const bool room = port_.has_room();
    Buffer front = first ? port_.take_front(half) : Buffer();
    lock.lock();
    if (first) front_ = std::move(front);
    Piece piece;
    if (!room || !next_piece(piece)) {
      if (again_) continue;
      break;
    }
    lock.unlock();
    port_.send_data(piece.count, std::move(piece.bytes), piece.flags);
    lock.lock();
    sent = true;
  }
  return sent;
}

// The next frame: as many whole values as fit, or a piece of one that does not fit alone.
bool StreamOut::next_piece(Piece& piece) {
  if (ended_ || stopped_) return false;
  const std::size_t room = payload_for(window_.credit());
  const std::size_t most = room - std::min(room, front_.size());
  const bool within = first_ == 0 ? begin_ != 0 : begin_ != ends_[first_ - 1];
  const auto first = ends_.begin() + static_cast<std::ptrdiff_t>(first_);
  std::size_t size = 0;
  if (within) {
    size = std::min(*first - begin_, most);
    piece.count = size == *first - begin_ ? 1 : 0;
  } else {
    const auto fitting = std::upper_bound(first, ends_.end(), begin_ + most);
    const auto count = std::min<std::ptrdiff_t>(fitting - first, kMostValues);
    piece.count = static_cast<std::uint16_t>(count);
    size = count == 0 ? std::min(*first - begin_, most) : *(first + count - 1) - begin_;
  }
  if (piece.count == 0 && (size == 0 || window_.credit() < least_credit_)) return false;
  if (!window_.spend(protocol::data_cost(front_.size() + size))) return false;
  first_ += piece.count;
  piece.bytes = cut_front(size);
  if (!front_.empty()) [[unlikely]] {
    front_.append(piece.bytes.span());
    piece.bytes = std::exchange(front_, Buffer());
    piece.flags = protocol::kMetadata;
  }
  return true;
}

Buffer StreamOut::cut_front(std::size_t size) {
  if (begin_ == 0 && size == pending_.size()) {
    ends_.clear();
    first_ = 0;
    usual_ = std::min(pending_.size() + 512, kGathered + kGathered / 2);
    return std::exchange(pending_, Buffer());
  }
  Buffer front;
  if (begin_ == 0 && first_ == 0 && pending_.size() - size <= size / 8) {
    // The piece of a value takes the memory, since little is copied behind it; one byte keeps its place until
    // then.
    front.append(std::span<const std::byte>(pending_.data() + size - 1, pending_.size() - size + 1));
    std::swap(front, pending_);
    front.resize(size);
    for (auto& end : ends_) end -= size - 1;
    begin_ = 1;
    return front;
  }
  front.append(std::span<const std::byte>(pending_.data() + begin_, size));
  begin_ += size;
  if (first_ == ends_.size()) {
    pending_.clear();
    ends_.clear();
    begin_ = 0;
    first_ = 0;
  } else if (begin_ >= kMostPending && first_ != 0) {
    forget_sent();
  }
  return front;
}

/// Moves unsent values to the front, so that a busy stream does not grow.
void StreamOut::forget_sent() {
  const std::size_t gone = ends_[first_ - 1];
  std::memmove(pending_.data(), pending_.data() + gone, pending_.size() - gone);
  pending_.resize(pending_.size() - gone);
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(first_));
  for (auto& end : ends_) end -= gone;
  begin_ -= gone;
  first_ = 0;
}

}  // namespace mf::link
