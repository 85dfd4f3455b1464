// A server's connection, which joins a server's session and its stream.
//
// Threads. The reactor's thread reads, parses and hands requests to the Handler, with no lock held. The
// parsed events belong to the connection: if a handler waits, and so hands over the role of the reactor's
// thread (mf::blocking()), the next thread in that role continues with the other requests of the turn.
// Replies come from any thread: they are appended to the session's output under the lock and written
// together: by the reactor at the end of its turn, or at once by the thread that answers the last request in
// flight, so that a single call needs no thread switch.
//
// Limits (docs/limits.md). Without HELLO after 2 s the connection is closed. With 8 MiB of unwritten replies
// nothing more is read, and no request that was read already is started, until half of them are written.
// While replies wait, or a frame has begun to arrive, 512 KiB must be transferred every 10 s, or all that
// remains. More requests in flight than the limit, or 64 MiB of them, are answered OVERLOADED; above that,
// one-way calls, which have no answer, are still accepted, but nothing more is read until half of the
// requests have ended. What a connection holds is charged to its server (ServerLoad), in steps of 16 KiB.
// Frames that cause work without being calls (BIND, UNBIND, DESCRIBE) are limited in rate; those above it
// wait.
//
// Memory. An idle connection has no buffers: the thread that reads or writes it lends it its own.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/log.hpp"
#include "mf/link/liveness.hpp"
#include "mf/link/pipe.hpp"
#include "mf/link/server_load.hpp"
#include "mf/link/tally.hpp"
#include "mf/protocol/control.hpp"
#include "mf/protocol/session.hpp"
#include "mf/protocol/token_bucket.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/stream.hpp"

namespace mf::link {

class ServerLink final : public transport::Watched, public std::enable_shared_from_this<ServerLink> {
 public:
  /// What the layer above does with a connection. All functions except on_closed run on the reactor's thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Code::ok, or a refusal with its reason. Nothing: the answer follows by send_bound().
    using Answer = std::optional<std::pair<Code, std::string>>;
    virtual Answer on_bind(std::uint16_t first_route, const protocol::Bind& bind) = 0;
    /// The service of this name; null if it is not offered. Nothing: the answer follows by send_descriptor().
    virtual std::optional<const ServiceInfo*> on_describe(const protocol::Describe& asked) = 0;
    /// Whether on_request() gets the request at once, although its payload has only begun to arrive.
    [[nodiscard]] virtual bool passes_on(const protocol::Event& /*begun*/) { return false; }
    /// `now` is the time of this turn. Each request ends with one send_…() or end_request().
    virtual void on_request(const protocol::Event& event, TimePoint now) = 0;
    virtual void on_cancel(std::uint32_t id) = 0;
    /// DATA, CREDIT or END of a call that was started on this connection, whether it has ended or not.
    virtual void on_stream(const protocol::Event& event) = 0;
    /// False if no bound range begins here.
    virtual bool on_unbind(std::uint16_t first_route) = 0;
    /// has_room() is true again, after it returned false. Called on any thread, without a lock.
    virtual void on_room() = 0;
    virtual void on_turn_end() = 0;
    /// GOAWAY is sent and names this request as the latest: no later one may be executed.
    virtual void on_drain(std::uint32_t latest) = 0;
    /// The running on_request() has handed over the role of the reactor's thread: other events follow before
    /// it returns.
    virtual void on_handed_over() noexcept = 0;
    /// The peer's HELLO has arrived.
    virtual void on_greeted() = 0;
    /// All connections together hold too much, and the handler has to relieve them: see ServerLoad. Called on
    /// any thread, without a lock.
    virtual void on_overfull() = 0;
    /// Called once, on any thread.
    virtual void on_closed() = 0;
  };

  struct Options {
    protocol::SessionOptions session;
    std::chrono::milliseconds handshake_timeout{2'000};
    std::chrono::milliseconds progress_timeout{10'000};
    /// This many bytes, or all that remains, must be transferred within the progress timeout.
    std::size_t least_progress = std::size_t{512} << 10U;
    std::size_t max_output = std::size_t{8} << 20U;
    /// Shared by the connections of a server.
    std::shared_ptr<ServerLoad> load = std::make_shared<ServerLoad>(std::size_t{512} << 20U);
    std::size_t max_queued_bytes = std::size_t{64} << 20U;
    /// The rate of BIND, UNBIND and DESCRIBE: a burst, and how many a second.
    std::uint32_t questions_at_once = 8'192;
    std::uint32_t questions_per_second = 50'000;
    /// Throws if the peer may not subscribe to a topic for these agents. Empty: every peer may.
    using CheckSubscription = std::function<void(const Identity& identity, std::string_view peer,
                                                 std::string_view topic, std::string_view agents)>;
    CheckSubscription check_subscription{};
    /// What SessionOptions::admit has found out of the peer; nothing: what the stream says.
    std::function<std::optional<Identity>()> proved{};
    /// What its tickets refer to.
    std::shared_ptr<const void> keeps{};
    Log log;
  };

  ServerLink(std::unique_ptr<transport::Stream> stream, Options options,
             std::shared_ptr<transport::Reactor> reactor);
  ~ServerLink() override;

  /// What the peer has proved of itself; from Handler::on_greeted() on.
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }

  /// Throws PERMISSION_DENIED if the peer may not subscribe to the topic for these agents.
  void check_subscription(std::string_view topic, std::string_view agents) const {
    if (options_.check_subscription) options_.check_subscription(identity_, peer(), topic, agents);
  }

  /// Starts reading. The handler lives as long as the link.
  void open(std::shared_ptr<Handler> handler);

  /// Both end the request, whose payload had this size: it is no longer counted when its reply is written, so
  /// that the peer may send the next one at once.
  /// A payload that is still arriving may be cut_short(): frames behind it wait for its rest.
  void send_reply(const protocol::ReplyHead& head, const protocol::Outbound& payload,
                  std::size_t request_size);
  void send_failure(const protocol::ReplyHead& head, Code code, Execution execution, std::string_view message,
                    std::size_t request_size);
  /// Ends the connection in the middle of a reply.
  void cut_short(const std::string& reason);
  // Answers that a Handler did not give at once.
  void send_bound(std::uint16_t first_route, Code code, std::string_view why);
  void send_descriptor(const protocol::Descriptor& descriptor);
  /// Answers a request that still counts until its handler has ended.
  void send_early(const protocol::ReplyHead& head, Code code, Execution execution, std::string_view message);
  /// Ends a request, whose payload had this size, without an answer.
  void end_request(std::size_t request_size);

  // Frames of streams; flush_now() writes them. They are dropped once the connection has ended.
  void send_data(const protocol::DataHead& head, const protocol::Outbound& payload);
  void send_credit(std::uint32_t id, std::uint32_t bytes);
  void send_cancel(std::uint32_t id);
  void flush_now();
  /// Whether more may be queued for writing. If not, Handler::on_room() follows.
  [[nodiscard]] bool has_room();
  /// Whether so many bytes wait to be written that no further request may be started.
  [[nodiscard]] bool full() const noexcept { return full_.load(std::memory_order_relaxed); }
  /// For a request that full() prevented from starting: true if Handler::on_room() follows, false if there is
  /// room now.
  [[nodiscard]] bool awaits_room();
  /// The bytes that are charged to the server for this connection.
  [[nodiscard]] std::size_t holds() const noexcept {
    return charged_.load(std::memory_order_relaxed) + stream_bytes_.load(std::memory_order_relaxed);
  }
  /// The streams of this connection keep so many bytes more, or less. Takes no lock of the link.
  void charge_streams(std::ptrdiff_t more) noexcept;
  /// Whether a handler may run that might wait, and then needs another thread to read.
  [[nodiscard]] bool has_spare() const noexcept { return reactor_->has_spare(); }
  [[nodiscard]] const std::shared_ptr<transport::Reactor>& reactor() const noexcept { return reactor_; }
  void post(UniqueFunction<void()> work) { reactor_->post(std::move(work)); }
  void at(TimePoint when, UniqueFunction<void()> work) { reactor_->at(when, std::move(work)); }

  /// From now on the peer is pinged when nothing has arrived for a fifth of this time, and the connection
  /// ends when nothing has arrived for four fifths. The shortest of several times applies.
  void keep_alive(std::chrono::milliseconds dead_after);

  /// Refuses new requests from now on; those in flight are finished. False: it did so already.
  bool drain(const std::string& reason);
  /// See Stream::trusted().
  [[nodiscard]] bool trusted() { return pipe_.stream->trusted(); }
  void close(const std::string& reason);
  /// Ends the connection because it exceeded a limit, with one line in the log.
  void cut(Cut why, std::string_view limit, const std::string& reason);

  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.now(); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  [[nodiscard]] bool idle();
  [[nodiscard]] const std::string& peer() const noexcept { return pipe_.stream->peer(); }
  [[nodiscard]] std::uint32_t client_id() const noexcept { return client_id_; }
  /// The peer's HELLO; available once Handler::on_greeted() was called, and constant then.
  [[nodiscard]] const protocol::Hello& hello() const noexcept { return pipe_.session.peer(); }
  [[nodiscard]] std::size_t max_payload() const noexcept { return peer_max_payload_; }
  /// The peer's initial credit for a stream to it.
  [[nodiscard]] std::uint32_t peer_stream_window() const noexcept { return peer_stream_window_; }
  [[nodiscard]] const protocol::Limits& limits() const noexcept { return options_.session.limits; }
  /// Frames of streams whose call had ended; such frames may cross its end.
  [[nodiscard]] std::uint64_t late_frames() const noexcept {
    return late_frames_.load(std::memory_order_relaxed);
  }
  void count_late_frame() noexcept { late_frames_.fetch_add(1, std::memory_order_relaxed); }

  void on_ready(transport::Ready ready) override;

 private:
  using Lock = Pipe::Lock;
  class Turn;
  // How a turn ended: more may be available at once, or not, or another thread continues it.
  enum class Went : std::uint8_t { more, enough, elsewhere };

  void on_ready(transport::Ready ready, bool go_on);
  void serve(transport::Ready ready, bool go_on);
  Went read_once();
  Went run_turn(bool full);
  bool leave_turn(Turn& turn) noexcept;
  void flush_left_turn() noexcept;
  bool may_go_on(const Turn& turn, TimePoint now);
  void hold_turn(Lock& lock);
  void go_on_with_turn();
  void end_turn(Lock& lock);
  void handle(protocol::Event& event, TimePoint now);
  [[nodiscard]] bool passes_on(protocol::Event& begun);
  void tell_coming();
  void on_bind(const protocol::Event& event);
  void answer(std::uint16_t first_route, Code code, std::string_view why);
  void answer(const protocol::Descriptor& descriptor);
  void on_stream(const protocol::Event& event);
  void flush(Lock& lock);
  void flush_after_reply(Lock& lock);
  void watch_progress();
  void look_at_progress();
  void watch_silence();
  void look_for_silence(Lock& lock);
  void note_output();
  void count_ended(std::size_t request_size);
  void send_too_large(const protocol::ReplyHead& head, std::size_t size);
  void make_room(Lock& lock);
  void charge();
  void relieve();
  [[nodiscard]] bool lacks_memory(std::size_t request_size) const noexcept;
  void release_stream();
  void cut(Cut why, std::string_view limit, const std::string& reason, Lock& lock);
  void refuse_and_close(Code code, const std::string& reason);
  [[nodiscard]] bool above(std::size_t divisor) const noexcept;
  void update_interest();
  void look_again();
  void shut(const std::string& reason, Lock& lock);
  void shut_by_peer(Lock& lock);

  const Options options_;
  Pipe pipe_;
  const std::shared_ptr<transport::Reactor> reactor_;
  std::shared_ptr<Handler> handler_;

  std::unique_ptr<std::condition_variable_any>
      written_all_;  // a thread has stopped writing; null: none waits for that
  // State of the turn; used only by the reactor's thread.
  std::vector<protocol::Event> events_;
  std::size_t next_event_ = 0;
  std::shared_ptr<const Buffer>
      turn_input_;           // the memory of the events, if the session reads into another one
  bool turn_waits_ = false;  // the turn waits for the next thread to continue it
  protocol::TokenBucket questions_;
  std::size_t questions_in_slice_ = 0;

  bool greeted_ = false;
  transport::Reactor::TimerId handshake_timer_ = 0;
  std::optional<std::string> drains_;  // the reason for draining
  bool in_turn_ = false;
  std::atomic<bool> reading_{false};  // a thread reads the stream, without the lock
  bool turn_held_ = false;            // until there is room for replies, or the rate permits its questions
  bool released_ = false;             // the stream's descriptor was closed
  bool paused_ = false;
  bool flush_posted_ = false;
  bool progress_watched_ = false;
  bool look_posted_ = false;
  bool ending_ = false;  // the session broke: write the pending output, then close
  transport::Interest interest_ = transport::Interest::none;
  std::uint64_t received_ = 0;
  std::uint64_t frames_ = 0;  // completed frames
  bool mid_frame_ = false;    // the latest read has ended within a frame
  std::shared_ptr<protocol::Coming>
      coming_;       // a request that is forwarded; the reading thread writes it, locked
  struct Progress {  // the state when progress_watched_ began
    std::uint64_t written = 0;
    std::uint64_t received = 0;
    std::uint64_t frames = 0;
    std::size_t output = 0;
    bool mid_frame = false;
  } progress_;
  Silence silence_{std::chrono::milliseconds(0)};
  transport::Reactor::TimerId silence_timer_ = 0;
  std::uint64_t received_before_ = 0;  // at the timer's last turn
  std::atomic<std::size_t> charged_{0};
  std::atomic<std::size_t> stream_bytes_{0};  // charged for values of streams
  std::atomic<bool> full_{false};
  Tally in_flight_;  // the reactor's thread adds to it and to the next one
  Tally queued_bytes_;
  std::atomic<bool> crowded_{false};  // one-way calls above the limit: nothing is read
  std::atomic<bool> closed_{false};
  std::uint32_t client_id_ = 0;
  std::size_t peer_max_payload_ = protocol::kMaxPayloadBeforeHello;
  std::uint32_t peer_stream_window_ = 0;
  Identity identity_;
  bool room_wanted_ = false;
  std::atomic<std::uint64_t> late_frames_{0};
};

}  // namespace mf::link
