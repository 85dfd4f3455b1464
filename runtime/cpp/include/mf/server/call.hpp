// A call at its server, from its REQUEST to the end of its handler: its deadline, metadata and cancellation
// as the handler sees them, and its streams. An object is made only for a call that may be asked about while
// it runs: one that waits for a worker, belongs to an asynchronous servant, or has a stream or metadata. A
// plain handler on the thread that read its request gets one on demand.
//
// Threads. The reactor's thread calls on_…(), the handler's thread calls the rest, and the thread that
// answers calls end(). Live calls of a connection are in its table (Calls) from begin() to end().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/current_call.hpp"
#include "mf/link/method.hpp"
#include "mf/link/server_link.hpp"
#include "mf/link/stream.hpp"
#include "mf/protocol/calls.hpp"
#include "mf/protocol/server_call.hpp"

namespace mf::server {

class Call;

/// A call in the table of its connection: its state, and the live call if one was made.
struct Slot {
  explicit Slot(bool oneway = false) noexcept : machine(oneway) {}
  protocol::ServerCall machine;
  Call* call = nullptr;
  std::string_view service{};  // of its offer, which lives longer
  std::string_view method{};   // empty if it is not known here
};

/// The calls of a connection that wait, or that may be asked about while they run. Thread-safe.
class Calls {
 public:
  Calls(std::size_t max_streams, std::size_t stream_window)
      : windows_(std::make_shared<protocol::WindowBudget>(max_streams, stream_window)) {}

  /// False if there is one with this id. Otherwise the slot must stay at its address until remove().
  [[nodiscard]] bool add(std::uint32_t id, Slot* slot);
  /// Replaces the call's slot by `to`, which takes over the state of `from`.
  void replace(std::uint32_t id, const Slot* from, Slot* to);
  /// Removes the call if this slot still represents it.
  void remove(std::uint32_t id, const Slot* slot) noexcept;
  /// The live call with this id, if there is one.
  [[nodiscard]] std::shared_ptr<Call> find(std::uint32_t id);
  [[nodiscard]] std::vector<std::shared_ptr<Call>> live();
  /// Adds the calls in the table to their methods.
  void count(std::map<std::string, std::size_t>& by_method);
  void on_cancel(std::uint32_t id);
  /// To be called when the connection has ended.
  void on_lost();
  /// The budget of receive windows of this server's streams.
  [[nodiscard]] const std::shared_ptr<protocol::WindowBudget>& windows() const noexcept { return windows_; }

  std::atomic<std::size_t> streams{0};

 private:
  const std::shared_ptr<protocol::WindowBudget> windows_;
  std::mutex mutex_;
  protocol::PendingCalls<Slot*> calls_;
};

class Call final : public std::enable_shared_from_this<Call>,
                   public mf::detail::CallHandle,
                   public link::StreamPort {
 public:
  struct Limits {
    std::uint32_t stream_window = 0;  // receive window of this server
    std::uint32_t credit = 0;         // initial credit of the client
    std::size_t max_payload = 0;      // the largest payload that this server accepts
  };

  Call(std::shared_ptr<link::ServerLink> link, std::shared_ptr<Calls> calls, const protocol::ReplyHead& head,
       bool oneway, TimePoint deadline);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Adds the new call to the table. False: another call with its id is alive.
  [[nodiscard]] bool begin();
  /// Replaces a slot that is in the table.
  void take_over(const Slot* slot);
  /// The names live as long as the call.
  void set_method(std::string_view service, std::string_view method) noexcept {
    slot_.service = service;
    slot_.method = method;
  }
  void set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }
  /// Creates both directions; run_stream() then closes those that the method does not have.
  void open_streams(const Limits& limits);

  // ---- events ----

  /// False: it was cancelled or lost before; the handler must not run, and no answer is expected.
  [[nodiscard]] bool start();
  void on_queued();
  /// The state machine got the event to stop the call, and returned `step`.
  void on_stop(protocol::ServerCallEvent event, protocol::ServerCallStep step);
  void on_data(const protocol::Event& event);
  void on_end();
  void on_credit(std::uint32_t bytes);
  void on_room();
  /// Ends a call with streams, since the server stops waiting for calls.
  void shut_down();
  /// The handler has ended; true: its answer is to be sent. Removes the call from the table.
  [[nodiscard]] bool end();

  /// Whether the outcome has been sent to the client already.
  [[nodiscard]] bool answered_early() const noexcept {
    const std::scoped_lock lock(mutex_);
    return answered_early_;
  }

  // ---- the handler's view ----

  [[nodiscard]] std::stop_token stop_token() override;
  [[nodiscard]] bool cancelled() noexcept override { return stopped_.load(std::memory_order_acquire); }
  [[nodiscard]] const Metadata& metadata() noexcept override { return metadata_; }
  void set_reply_metadata(std::string_view key, std::string_view value) override;
  void keep_alive(std::chrono::milliseconds dead_after) override { link_->keep_alive(dead_after); }
  /// Returns the metadata for the reply, once; empty if there are none.
  [[nodiscard]] Metadata take_reply_metadata();

  // ---- streams ----

  [[nodiscard]] bool has_streams() const noexcept { return streams_ != nullptr; }
  [[nodiscard]] link::StreamIn& input() noexcept { return streams_->in; }
  [[nodiscard]] link::StreamOut& output() noexcept { return streams_->out; }
  void set_results(Tier tier, const link::Method& method) noexcept {
    streams_->tier = tier;
    streams_->method = &method;
  }
  /// To be called if the method has no parameter stream.
  void forbid_input();
  /// The handler stops reading: notifies the client, unless the stream has been received completely.
  void abandon() noexcept;
  /// Ends the call: sends the failure to the client, and throws it to the handler.
  [[noreturn]] void fail(Failure failure);
  /// Throws, since a value that the handler wrote violates the schema.
  [[noreturn]] static void refuse_value(const std::string& violation);

  void send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) override;
  Buffer take_front(std::size_t most) override;
  void send_credit(std::uint32_t bytes) override;
  void send_end() override {}
  void send_cancel() override;
  [[nodiscard]] bool has_room() override { return link_->has_room(); }
  void flush() override { link_->flush_now(); }
  void write_soon() override;
  void wait(link::Waiter& waiter, TimePoint until) override { waiter.wait_until(until); }
  [[nodiscard]] TimePoint wait_until() override { return deadline_; }
  Failure out_of_time() override;
  [[nodiscard]] Failure ended_here() override { return link::ended_here(*streams_->method); }
  void at(TimePoint when, UniqueFunction<void()> work) override { link_->at(when, std::move(work)); }
  void charge(std::ptrdiff_t more) noexcept override { link_->charge_streams(more); }

 private:
  struct Streams {
    Streams(Call& call, const Limits& limits, std::shared_ptr<protocol::WindowBudget> windows,
            std::size_t most)
        : in(call, limits.stream_window, std::move(windows), limits.max_payload),
          out(call, limits.credit, most) {}
    link::StreamIn in;
    link::StreamOut out;
    Tier tier = Tier::memcpy;
    const link::Method* method = nullptr;  // the method whose results are written
  };

  [[nodiscard]] protocol::ServerCallStep on(protocol::ServerCallEvent event) {
    return slot_.machine.on(event);
  }
  void ask_to_stop();
  void end_streams(std::shared_ptr<const Failure> why);
  void done(link::StreamEvent event);
  void answer_early(const Failure& failure);
  void watch_deadline();
  void leave_table() noexcept;

  const std::shared_ptr<link::ServerLink> link_;
  const std::shared_ptr<Calls> calls_;
  const protocol::ReplyHead head_;
  const TimePoint deadline_;
  Metadata metadata_;
  std::unique_ptr<Streams> streams_;
  bool end_seen_ = false;  // used only by the reactor's thread
  std::atomic<bool> stopped_{false};

  Slot slot_;
  std::atomic<bool> in_table_{false};

  mutable std::mutex mutex_;  // guards all members below
  bool answered_early_ = false;
  bool deadline_watched_ = false;
  std::optional<std::stop_source> stop_;
  std::optional<Metadata> reply_metadata_;
};

}  // namespace mf::server
