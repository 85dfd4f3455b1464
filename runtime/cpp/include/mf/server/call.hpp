// One call at its server, from its REQUEST to the end of its handler: what the handler may see of it
// (deadline, metadata, cancellation) and its streams hang here. Made for a call that somebody may ask for
// while it runs: one that waits for a worker, one of an asynchronous servant, one with a stream or metadata.
// A plain handler that runs where its request was read has none until it asks.
//
// Threads. on_…() come from the reactor's thread, the rest from the handler's, end() from whoever answers.
// The calls of a connection that are alive are in its table (Calls), from begin to end().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "mf/core/current_call.hpp"
#include "mf/link/method.hpp"
#include "mf/link/server_link.hpp"
#include "mf/link/stream.hpp"
#include "mf/protocol/calls.hpp"
#include "mf/protocol/server_call.hpp"

namespace mf::server {

class Call;

/// A call in the table of its connection: where it stands, and the live call, if somebody has asked for it.
struct Slot {
  explicit Slot(bool oneway = false) noexcept : machine(oneway) {}
  protocol::ServerCall machine;
  Call* call = nullptr;
};

/// The calls of one connection that wait, or that may be asked about while they run. Thread-safe.
class Calls {
 public:
  Calls(std::size_t max_streams, std::size_t stream_window)
      : windows_(std::make_shared<protocol::WindowBudget>(max_streams, stream_window)) {}

  /// False: there is one with this id. Otherwise the slot stays where it is until remove().
  [[nodiscard]] bool add(std::uint32_t id, Slot* slot);
  /// `to` stands for the call from now on, in the state that `from` has reached.
  void replace(std::uint32_t id, const Slot* from, Slot* to);
  /// If this slot still stands for the call.
  void remove(std::uint32_t id, const Slot* slot) noexcept;
  /// The live call with this id, if there is one.
  [[nodiscard]] std::shared_ptr<Call> find(std::uint32_t id);
  [[nodiscard]] std::vector<std::shared_ptr<Call>> live();
  void on_cancel(std::uint32_t id);
  /// The connection has ended.
  void on_lost();
  /// Of the streams towards this server.
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
    std::uint32_t stream_window = 0;  // towards this server
    std::uint32_t credit = 0;         // towards the client, at first
    std::size_t max_payload = 0;      // that this server takes
  };

  Call(std::shared_ptr<link::ServerLink> link, std::shared_ptr<Calls> calls, const protocol::ReplyHead& head,
       bool oneway, TimePoint deadline);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Puts it into the table; once, after it was made. False: another call with its id is alive.
  [[nodiscard]] bool begin();
  /// Takes the place of a slot that is in the table.
  void take_over(const Slot* slot);
  void set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }
  /// Makes both directions; which of them the method has, run_stream() says.
  void open_streams(const Limits& limits);

  // ---- what happens to it ----

  /// False: it was cancelled or lost before; nothing is to be run, nobody waits for an answer.
  [[nodiscard]] bool start();
  void on_queued();
  /// Its machine was told that it is to stop, and said `step`.
  void on_stop(protocol::ServerCallEvent event, protocol::ServerCallStep step);
  void on_data(const protocol::Event& event);
  void on_end();
  void on_credit(std::uint32_t bytes);
  void on_room();
  /// The server stops and waits no longer: a call with streams ends.
  void shut_down();
  /// The handler has ended; true: its answer is to be sent. Takes the call out of the table.
  [[nodiscard]] bool end();

  /// Was the client told already how the call has ended?
  [[nodiscard]] bool answered_early() const noexcept {
    const std::scoped_lock lock(mutex_);
    return answered_early_;
  }

  // ---- what a handler sees ----

  [[nodiscard]] std::stop_token stop_token() override;
  [[nodiscard]] bool cancelled() noexcept override { return stopped_.load(std::memory_order_acquire); }
  [[nodiscard]] const Metadata& metadata() noexcept override { return metadata_; }
  void set_reply_metadata(std::string_view key, std::string_view value) override;
  void keep_alive(std::chrono::milliseconds dead_after) override { link_->keep_alive(dead_after); }
  /// What goes with the reply, once; empty if nothing does.
  [[nodiscard]] Metadata take_reply_metadata();

  // ---- its streams ----

  [[nodiscard]] bool has_streams() const noexcept { return streams_ != nullptr; }
  [[nodiscard]] link::StreamIn& input() noexcept { return streams_->in; }
  [[nodiscard]] link::StreamOut& output() noexcept { return streams_->out; }
  void set_results(Tier tier, const link::Method& method) noexcept {
    streams_->tier = tier;
    streams_->method = &method;
  }
  /// The method has no parameter stream.
  void forbid_input();
  /// The handler reads no more: the client is told, unless all has come.
  void abandon() noexcept;
  /// Ends the call: the client is told, and so is the handler, by what is thrown here.
  [[noreturn]] void fail(Failure failure);
  /// A value that the handler wrote is not what the schema says.
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

 private:
  struct Streams {
    Streams(Call& call, const Limits& limits, std::shared_ptr<protocol::WindowBudget> windows,
            std::size_t most)
        : in(call, limits.stream_window, std::move(windows), limits.max_payload),
          out(call, limits.credit, most) {}
    link::StreamIn in;
    link::StreamOut out;
    Tier tier = Tier::memcpy;
    const link::Method* method = nullptr;  // that results are written for
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
  bool end_seen_ = false;  // by the reactor's thread only
  std::atomic<bool> stopped_{false};

  Slot slot_;
  std::atomic<bool> in_table_{false};

  mutable std::mutex mutex_;  // all below
  bool answered_early_ = false;
  bool deadline_watched_ = false;
  std::optional<std::stop_source> stop_;
  std::optional<Metadata> reply_metadata_;
};

}  // namespace mf::server
