// The two directions of a stream's call, in bytes: what waits to be sent and what has come, under their own
// locks, the same at clients and servers. Frames, credit and pieces are protocol.md section 5a; types are
// stream_values.hpp's.
//
// Locks. A link may call on_…() with its own lock held, so a direction never calls its StreamPort with its
// lock held. What on_…() gives back the link does when it may: send credit, have pending values written, run
// a completion.
//
// Threads. on_…() come from one thread at a time, the user's calls of a direction from another.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
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

/// What a stream needs of the connection that its call lives on. Any thread, no lock of a stream held. All do
/// nothing once the call has ended.
class StreamPort {
 public:
  virtual ~StreamPort() = default;

  /// `flags`: kMetadata, if the payload begins with what take_front() gave.
  virtual void send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) = 0;
  /// A block of metadata for the first DATA, of at most so many bytes; empty: none. Asked once.
  virtual Buffer take_front(std::size_t /*most*/) { return {}; }
  virtual void send_credit(std::uint32_t bytes) = 0;
  virtual void send_end() = 0;
  /// A client: gives the call up. A server: reads no more parameters.
  virtual void send_cancel() = 0;
  /// Does the connection take more to write? If not, StreamOut::on_room() follows when it does.
  [[nodiscard]] virtual bool has_room() = 0;
  /// Has what was sent written now, by this thread if nobody is writing.
  virtual void flush() = 0;
  /// Has StreamOut::write_pending() called within a turn of the loop.
  virtual void write_soon() = 0;
  /// Waits until waiter.done(), or until then.
  virtual void wait(Waiter& waiter, TimePoint until) = 0;
  /// When a wait has to end: the call's deadline, or earlier if nothing may happen for so long.
  [[nodiscard]] virtual TimePoint wait_until() = 0;
  /// What a wait that ran out of time ends with; the call ends with it, too.
  virtual Failure out_of_time() = 0;
  /// What a write ends with after StreamOut::end_here(); the call goes on.
  [[nodiscard]] virtual Failure ended_here() = 0;
  /// Ends the call, as a written value cannot be sent.
  virtual void give_up(Failure /*why*/) { send_cancel(); }
  /// Runs `work` when the time has come, where completions run. For asynchronous waits.
  virtual void at(TimePoint when, UniqueFunction<void()> work) = 0;
};

/// What is left to do for the link after an event of a stream.
struct StreamEvent {
  std::optional<Failure> failure{};  // ends the call
  std::uint32_t credit = 0;          // to send
  bool write = false;                // StreamOut::write_pending() has something to do
  UniqueFunction<void()> completion{};

  /// To be run without any lock of the link.
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

/// Values that come.
class StreamIn {
 public:
  struct Frame {
    Bytes bytes;                // whole values, one behind the other
    std::uint8_t encoding = 0;  // a Tier, if it is the schema's
    std::uint32_t count = 0;
    std::size_t cost = 0;                    // of credit that is still owed for it
    std::shared_ptr<const Failure> fault{};  // ends the stream behind these values: the next is unconvertible
  };
  enum class Got : std::uint8_t { values, nothing, ended };

  /// `most`: the longest value, in bytes. Without a budget, set_budget() follows before anything comes.
  StreamIn(StreamPort& port, std::uint32_t window, std::shared_ptr<protocol::WindowBudget> budget,
           std::size_t most);
  ~StreamIn();
  StreamIn(const StreamIn&) = delete;
  StreamIn& operator=(const StreamIn&) = delete;

  void set_budget(std::shared_ptr<protocol::WindowBudget> budget);
  /// Converts arriving values for the reader. Called before any arrive.
  void set_conversion(std::shared_ptr<StreamConversion> conversion);
  [[nodiscard]] StreamEvent on_data(const protocol::Event& event);
  /// Nothing more comes: the stream is complete, or why it is not.
  [[nodiscard]] StreamEvent on_end(std::shared_ptr<const Failure> why);

  /// The next values, if there are any: never waits. What was given before counts as taken.
  [[nodiscard]] Got take(Frame& into);
  /// The same, waiting. Throws what has ended the stream early, or that time ran out.
  [[nodiscard]] Got wait(Frame& into);
  /// Calls once when take() has more to say than `nothing`, perhaps at once.
  void when_ready(UniqueFunction<void()> ready);
  /// Does the user wait for values?
  [[nodiscard]] bool waiting() const;
  /// Why the stream ended early; null: it is complete.
  [[nodiscard]] std::shared_ptr<const Failure> why() const;
  /// The method has no stream in this direction: DATA and END end the call.
  [[nodiscard]] StreamEvent forbid();
  /// The user wants no more, and what he asks for now ends with `why`, unless he has seen the end. Nothing:
  /// the stream had ended.
  std::optional<StreamEvent> abandon(Failure why);
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }

 private:
  [[nodiscard]] StreamEvent refuse(Code code, std::string message) const;
  static void convert(Frame& frame, StreamConversion& conversion);
  void wake(StreamEvent& event);
  [[nodiscard]] bool empty() const noexcept { return frames_.empty() && !ended_; }

  StreamPort& port_;
  std::shared_ptr<protocol::WindowBudget> budget_;
  const std::size_t most_;

  mutable std::mutex mutex_;
  protocol::ReceiveWindow window_;
  std::deque<Frame> frames_;
  Buffer piece_;  // of a value that goes on
  std::uint8_t piece_encoding_ = 0;
  bool piece_open_ = false;
  std::shared_ptr<StreamConversion> conversion_;
  std::size_t piece_cost_ = 0;  // of its frames, as far as no credit was given back for them
  std::size_t held_cost_ = 0;   // of the frame that the user is reading
  bool ended_ = false;
  bool seen_ = false;  // the user knows that it has
  std::atomic<bool> abandoned_{false};
  bool forbidden_ = false;
  std::shared_ptr<const Failure> why_;
  Waiter* waiter_ = nullptr;
  UniqueFunction<void()> ready_;
};

/// Values that go.
class StreamOut {
 public:
  StreamOut(StreamPort& port, std::uint32_t credit, std::size_t most);
  /// Nothing leaves before open().
  explicit StreamOut(StreamPort& port) : StreamOut(port, 0, SIZE_MAX) {}
  StreamOut(const StreamOut&) = delete;
  StreamOut& operator=(const StreamOut&) = delete;

  /// Converts each written value before it is sent. Null: values are sent unchanged.
  void set_conversion(std::shared_ptr<StreamConversion> conversion);
  /// The call is on a connection, whose server gives this credit and takes values of at most so many bytes.
  [[nodiscard]] StreamEvent open(std::uint32_t credit, std::size_t most);
  [[nodiscard]] StreamEvent on_credit(std::uint32_t bytes);
  /// The connection takes more again.
  [[nodiscard]] StreamEvent on_room();
  /// The other side wants no more, though the call goes on.
  [[nodiscard]] StreamEvent on_stopped();
  [[nodiscard]] StreamEvent on_end(std::shared_ptr<const Failure> why);

  /// `append(buffer)` writes one value behind what the buffer holds. Waits while much is pending. False: the
  /// other side wants no more. Throws what has ended the call, that time ran out, or that end_here() came
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
  /// The same without waiting: `done(Outcome<bool>)` runs when the next one may be written, perhaps at once.
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
        emit(lock);
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
    emit(lock);
    return state();
  }

  /// This side writes no more values, and those that are pending still leave. False: it has said so before.
  bool end_here();
  /// Sends what is pending, as far as there is credit.
  void write_pending();
  /// Waits until nothing is pending. False, or throws, as write() does.
  bool drain();
  /// Calls once when nothing is pending, or when nothing more will be sent; perhaps at once.
  void when_drained(UniqueFunction<void()> drained);
  [[nodiscard]] bool stopped() const;
  /// Does the user wait for credit?
  [[nodiscard]] bool waiting() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Piece {
    std::uint16_t count = 0;
    std::uint8_t flags = 0;
    Buffer bytes;
  };

  [[nodiscard]] bool may_write() const;
  /// As much as the frame before took, so that values are not moved while they are gathered.
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
  void emit(Lock& lock);
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
  std::size_t least_credit_;  // with less, a value is not begun
  protocol::SendWindow window_;
  Buffer pending_;
  std::vector<std::size_t> ends_;  // of the values in pending_
  std::size_t begin_ = 0;          // what is before has been sent
  std::size_t first_ = 0;          // the first value of ends_ that is not wholly sent
  std::shared_ptr<StreamConversion> conversion_;
  bool opened_ = false;
  bool to_convert_ = false;  // pending values were written before the server's schema was known
  std::size_t usual_ = 512;
  Buffer front_;        // stands in front of the first frame's values
  bool begun_ = false;  // take_front() was asked
  bool emitting_ = false;
  bool again_ = false;  // something has changed while a thread was emitting
  bool soon_ = false;
  bool stopped_ = false;
  bool ended_here_ = false;
  bool ended_ = false;
  std::shared_ptr<const Failure> why_;
  Waiter* waiter_ = nullptr;
  UniqueFunction<void()> ready_;    // of an asynchronous write: when little is pending
  UniqueFunction<void()> drained_;  // when nothing is
};

class ClientLink;

/// A call with streams as its client's link sees it. Called with the link's lock held.
class StreamCall {
 public:
  virtual ~StreamCall() = default;
  /// Whether its results are a stream.
  [[nodiscard]] virtual bool reads() const noexcept = 0;
  /// Its request is in the output of the link, with this id.
  virtual void on_sent(const std::shared_ptr<ClientLink>& link, std::uint32_t id) = 0;
  [[nodiscard]] virtual StreamEvent on_data(const protocol::Event& event) = 0;
  [[nodiscard]] virtual StreamEvent on_credit(std::uint32_t bytes) = 0;
  /// The server reads no more parameters.
  [[nodiscard]] virtual StreamEvent on_stopped() = 0;
  [[nodiscard]] virtual StreamEvent on_room() = 0;
  virtual void write_later() = 0;
};

}  // namespace mf::link
