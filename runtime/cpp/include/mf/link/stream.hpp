// The two directions of a stream's call, in bytes: pending and received data, with their own locks, the same
// at clients and servers. Frames, credit and pieces are described in protocol.md section 5a;
// stream_values.hpp adds the types.
//
// Locks. A link may call on_…() with its own lock held, so a direction never calls its StreamPort with its
// own lock held. The link later acts on the result of on_…(): it sends credit, writes pending values, or runs
// a completion.
//
// Threads. One thread at a time calls on_…(), and another one the user functions of a direction.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/waiter.hpp"
#include "mf/protocol/session.hpp"
#include "mf/protocol/stream.hpp"

namespace mf::link {

/// What a stream needs of the connection of its call. Called on any thread, without a lock of a stream. All
/// functions do nothing once the call has ended.
class StreamPort {
 public:
  virtual ~StreamPort() = default;

  /// `flags`: kMetadata if the payload begins with the block of take_front().
  virtual void send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) = 0;
  /// The metadata block for the first DATA, of at most `most` bytes; empty: none. Called once.
  virtual Buffer take_front(std::size_t /*most*/) { return {}; }
  virtual void send_credit(std::uint32_t bytes) = 0;
  virtual void send_end() = 0;
  /// A client cancels the call; a server stops reading parameters.
  virtual void send_cancel() = 0;
  /// Whether the connection accepts more to write. If not, StreamOut::on_room() follows when it does.
  [[nodiscard]] virtual bool has_room() = 0;
  /// Writes what was sent now, on this thread unless another one writes.
  virtual void flush() = 0;
  /// Makes the loop call StreamOut::write_pending() within a turn.
  virtual void write_soon() = 0;
  /// Ends the stream if it cannot go on in this process, which is a forked child of its owner. To be called
  /// before each wait, without a lock.
  virtual void check_process() {}
  /// Waits until waiter.done(), or until the given time.
  virtual void wait(Waiter& waiter, TimePoint until) = 0;
  /// The time by which a wait must end: the call's deadline, or earlier if the idle time is limited.
  [[nodiscard]] virtual TimePoint wait_until() = 0;
  /// The failure of a wait that ran out of time; it ends the call, too.
  virtual Failure out_of_time() = 0;
  /// The failure of a write after StreamOut::end_here(); the call continues.
  [[nodiscard]] virtual Failure ended_here() = 0;
  /// Ends the call, since a written value cannot be sent.
  virtual void give_up(Failure /*why*/) { send_cancel(); }
  /// Runs `work` at the given time, where completions run. For asynchronous waits.
  virtual void at(TimePoint when, UniqueFunction<void()> work) = 0;
  /// The stream keeps so many bytes of values more, or less. Called with locks held, and takes none of a link
  /// or stream.
  virtual void charge(std::ptrdiff_t /*more*/) noexcept {}
};

/// What one direction keeps, charged to its port in steps of 16 KiB.
class StreamCharge {
 public:
  explicit StreamCharge(StreamPort& port) noexcept : port_(port) {}
  StreamCharge(const StreamCharge&) = delete;
  StreamCharge& operator=(const StreamCharge&) = delete;
  ~StreamCharge() { set(0); }

  void set(std::size_t now) noexcept {
    const auto more = static_cast<std::ptrdiff_t>(now) - static_cast<std::ptrdiff_t>(charged_);
    if (more == 0 || (now != 0 && std::abs(more) < kStep)) return;
    charged_ = now;
    port_.charge(more);
  }

 private:
  static constexpr std::ptrdiff_t kStep = std::ptrdiff_t{16} << 10;
  StreamPort& port_;
  std::size_t charged_ = 0;
};

/// What the link has to do after an event of a stream.
struct StreamEvent {
  std::optional<Failure> failure{};  // ends the call
  std::uint32_t credit = 0;          // to send
  bool write = false;                // StreamOut::write_pending() has something to do
  UniqueFunction<void()> completion{};

  /// Must be called without any lock of the link.
  void complete() {
    if (auto run = std::exchange(completion, nullptr)) run();
  }
};

/// Converts the values of a stream between two schemas. Used by one thread at a time.
class StreamConversion {
 public:
  virtual ~StreamConversion() = default;
  /// The tier of the values after the conversion.
  [[nodiscard]] virtual Tier tier() const noexcept = 0;
  /// Their tier before it.
  [[nodiscard]] virtual Tier tier_before() const noexcept = 0;
  /// Removes the first value from `values` and appends the converted one to `out`.
  [[nodiscard]] virtual std::optional<Failure> convert(std::span<const std::byte>& values, Buffer& out) = 0;
};

/// The receiving direction.
class StreamIn {
 public:
  struct Frame {
    Bytes bytes;                // whole values, one after another
    std::uint8_t encoding = 0;  // a Tier, if the values use the schema's encoding
    std::uint32_t count = 0;
    std::size_t cost = 0;                    // credit that must still be returned for it
    std::shared_ptr<const Failure> fault{};  // ends the stream after these values
  };
  enum class Got : std::uint8_t { values, nothing, ended };

  /// `most`: the largest value, in bytes. Without a budget, set_budget() must be called before anything
  /// arrives.
  StreamIn(StreamPort& port, std::uint32_t window, std::shared_ptr<protocol::WindowBudget> budget,
           std::size_t most);
  ~StreamIn();
  StreamIn(const StreamIn&) = delete;
  StreamIn& operator=(const StreamIn&) = delete;

  void set_budget(std::shared_ptr<protocol::WindowBudget> budget);
  /// Converts arriving values for the reader. Called before any arrive.
  void set_conversion(std::shared_ptr<StreamConversion> conversion);
  [[nodiscard]] StreamEvent on_data(const protocol::Event& event);
  /// Ends the stream; `why` is null if it is complete.
  [[nodiscard]] StreamEvent on_end(std::shared_ptr<const Failure> why);

  /// Returns the next values if there are any, and never waits. The values returned before count as taken.
  [[nodiscard]] Got take(Frame& into);
  /// The same, but waits. Throws the failure that ended the stream early, or that time ran out.
  [[nodiscard]] Got wait(Frame& into);
  /// Calls `ready` once when take() returns anything but `nothing`, perhaps at once.
  void when_ready(UniqueFunction<void()> ready);
  /// Whether the user waits for values.
  [[nodiscard]] bool waiting() const;
  /// Why the stream ended early; null if it is complete.
  [[nodiscard]] std::shared_ptr<const Failure> why() const;
  /// To be called if the method has no stream in this direction: DATA and END end the call.
  [[nodiscard]] StreamEvent forbid();
  /// The user wants no more values; a pending read ends with `why`, unless the user has seen the end. Returns
  /// nothing if the stream had ended.
  std::optional<StreamEvent> abandon(Failure why);
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] StreamEvent refuse(Code code, std::string message) const;
  static void convert(Frame& frame, StreamConversion& conversion);
  void keep(Frame frame);
  void wake(StreamEvent& event);
  [[nodiscard]] bool empty() const noexcept { return frames_.empty() && !ended_; }

  StreamPort& port_;
  std::shared_ptr<protocol::WindowBudget> budget_;
  const std::size_t most_;

  mutable std::mutex mutex_;
  protocol::ReceiveWindow window_;
  std::deque<Frame> frames_;
  Buffer piece_;  // of an incomplete value
  std::uint8_t piece_encoding_ = 0;
  bool piece_open_ = false;
  std::shared_ptr<StreamConversion> conversion_;
  std::size_t piece_cost_ = 0;  // of its frames, as far as no credit was returned for them
  std::size_t held_cost_ = 0;   // of the frame that the user reads
  std::size_t kept_ = 0;        // bytes of frames_
  StreamCharge charge_{port_};
  bool ended_ = false;
  bool seen_ = false;  // the user has seen that the stream has ended
  std::atomic<bool> abandoned_{false};
  bool forbidden_ = false;
  std::shared_ptr<const Failure> why_;
  Waiter* waiter_ = nullptr;
  UniqueFunction<void()> ready_;
};

/// The sending direction.
class StreamOut {
 public:
  StreamOut(StreamPort& port, std::uint32_t credit, std::size_t most);
  /// Nothing is sent before open().
  explicit StreamOut(StreamPort& port) : StreamOut(port, 0, SIZE_MAX) {}
  StreamOut(const StreamOut&) = delete;
  StreamOut& operator=(const StreamOut&) = delete;

  /// Converts each written value before it is sent. Null: values are sent unchanged.
  void set_conversion(std::shared_ptr<StreamConversion> conversion);
  /// The call is on a connection whose server grants this credit and accepts values of at most `most` bytes.
  [[nodiscard]] StreamEvent open(std::uint32_t credit, std::size_t most);
  [[nodiscard]] StreamEvent on_credit(std::uint32_t bytes);
  /// The connection accepts more again.
  [[nodiscard]] StreamEvent on_room();
  /// The other side stops reading, but the call continues.
  [[nodiscard]] StreamEvent on_stopped();
  [[nodiscard]] StreamEvent on_end(std::shared_ptr<const Failure> why);

  /// `append(buffer)` appends one value to the buffer. Waits while much is pending. False if the other side
  /// wants no more. Throws the failure that ended the call, that time ran out, or that end_here() was called
  /// before.
  template <class Append>
  bool write(Append&& append) {
    std::unique_lock lock(mutex_);
    if (ended_here_) [[unlikely]] {
      lock.unlock();
      port_.ended_here().raise();
    }
    if (!may_write()) return false;
    make_room();
    append(pending_);
    return wrote(lock);
  }
  /// The same without waiting: `done(Outcome<bool>)` runs when the next value may be written, perhaps at
  /// once.
  template <class Append>
  void async_write(Append&& append, UniqueFunction<void(Outcome<bool>&&)> done) {
    std::unique_lock lock(mutex_);
    if (ended_here_) [[unlikely]] {
      lock.unlock();
      return done(port_.ended_here());
    }
    if (ended_ || stopped_) return end_write(lock, std::move(done));
    make_room();
    append(pending_);
    async_wrote(lock, std::move(done));
  }

  /// Writes many values: `append(buffer)` appends one to the buffer, or returns false if there is none. Never
  /// waits: when too much is pending it stops, and `more` is called once when there is room again. Returns
  /// what has ended the stream, if it has ended; a value that is too large does not end it.
  template <class Append>
  Outcome<bool> write_many(Append&& append, UniqueFunction<void()> more) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (ended_ || stopped_) return state();
      if (much()) {
        transmit(lock);
        if (ended_ || stopped_) return state();
        if (too_much()) {
          ready_ = std::move(more);
          return true;
        }
      }
      make_room();
      if (!append(pending_)) break;
      if (auto too_large = add_value()) return std::move(*too_large);
    }
    transmit(lock);
    return state();
  }

  /// Ends this side's stream; pending values are still sent. False if it was ended before.
  bool end_here();
  /// Sends pending values as far as there is credit.
  void write_pending();
  /// Waits until nothing is pending. Returns false, or throws, as write() does.
  bool drain();
  /// Calls `drained` once when nothing is pending, or nothing more will be sent; perhaps at once.
  void when_drained(UniqueFunction<void()> drained);
  [[nodiscard]] bool stopped() const;
  /// Whether the user waits for credit.
  [[nodiscard]] bool waiting() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Piece {
    std::uint16_t count = 0;
    std::uint8_t flags = 0;
    Buffer bytes;
  };

  [[nodiscard]] bool may_write() const;
  /// Reserves as much as the previous frame took, so that values are not moved while they are gathered.
  void make_room() {
    if (pending_.capacity() == 0) pending_.reserve(usual_);
  }
  [[nodiscard]] std::optional<Failure> add_value();
  [[nodiscard]] std::optional<Failure> convert_last(std::size_t before);
  [[nodiscard]] std::optional<Failure> convert_pending();
  bool wrote(Lock& lock);
  void async_wrote(Lock& lock, UniqueFunction<void(Outcome<bool>&&)> done);
  void end_write(Lock& lock, UniqueFunction<void(Outcome<bool>&&)> done);
  [[nodiscard]] Outcome<bool> state() const;
  bool wait(Lock& lock, bool for_all);
  void transmit(Lock& lock);
  bool transmit_pieces(Lock& lock);
  void break_off(const std::exception& error, Lock& lock);
  [[nodiscard]] bool next_piece(Piece& piece);
  [[nodiscard]] Buffer cut_front(std::size_t size);
  void forget_sent();
  [[nodiscard]] bool much() const noexcept;
  [[nodiscard]] bool too_much() const noexcept;
  [[nodiscard]] std::size_t left() const noexcept { return pending_.size() - begin_; }
  [[nodiscard]] std::size_t unsent() const noexcept { return ends_.size() - first_; }  // values
  [[nodiscard]] StreamEvent woken();

  StreamPort& port_;

  mutable std::mutex mutex_;
  std::condition_variable emitted_;
  std::size_t most_;
  std::size_t least_credit_;  // with less credit, no value is started
  protocol::SendWindow window_;
  Buffer pending_;
  std::vector<std::size_t> ends_;  // the ends of the values in pending_
  std::size_t begin_ = 0;          // everything before has been sent
  std::size_t first_ = 0;          // the first value of ends_ that is not sent completely
  std::shared_ptr<StreamConversion> conversion_;
  bool opened_ = false;
  bool to_convert_ = false;  // pending values were written before the server's schema was known
  std::size_t usual_ = 512;
  Buffer front_;        // sent before the first frame's values
  bool begun_ = false;  // take_front() was called
  bool emitting_ = false;
  bool again_ = false;  // something changed while a thread was emitting
  bool soon_ = false;
  bool stopped_ = false;
  bool ended_here_ = false;
  bool ended_ = false;
  std::shared_ptr<const Failure> why_;
  Waiter* waiter_ = nullptr;
  UniqueFunction<void()> ready_;    // of an asynchronous write, called when little is pending
  UniqueFunction<void()> drained_;  // called when nothing is
  StreamCharge charge_{port_};
};

class ClientLink;

/// The link's view of a call with streams. Called with the link's lock held.
class StreamCall {
 public:
  virtual ~StreamCall() = default;
  /// Whether its results are a stream.
  [[nodiscard]] virtual bool reads() const noexcept = 0;
  /// Its request is in the link's output, with this id.
  virtual void on_sent(const std::shared_ptr<ClientLink>& link, std::uint32_t id) = 0;
  [[nodiscard]] virtual StreamEvent on_data(const protocol::Event& event) = 0;
  [[nodiscard]] virtual StreamEvent on_credit(std::uint32_t bytes) = 0;
  /// The server reads no more parameters.
  [[nodiscard]] virtual StreamEvent on_stopped() = 0;
  [[nodiscard]] virtual StreamEvent on_room() = 0;
  virtual void write_later() = 0;
};

}  // namespace mf::link
