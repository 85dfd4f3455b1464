// A call for which no thread waits on its stack: asynchronous calls, messages of batches, parts of scattered
// calls, and blocking calls that may be stopped. It drives protocol::Call: it finds a route, sends, and
// performs the steps that the state machine returns, on the thread where an event happens.
//
// Threads. One thread at a time drives the call: the one that starts it, then the one that ends its wait for
// a route or its request. Only cancel() may come from another thread, at any time; it ends what the call
// waits for. end() of a user's call runs on the client's completion executor, which is the reactor's thread;
// end() of the runtime's own calls runs on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "mf/client/decode.hpp"
#include "mf/client/target.hpp"
#include "mf/core/async.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/clock.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/call.hpp"
#include "mf/protocol/outbound.hpp"

namespace mf::link {
class AdaptedRequest;
class Adaptation;
class StreamCall;
}  // namespace mf::link

namespace mf::client {

class AsyncCall {
 public:
  /// `head` has no route yet. The payload begins with the context's metadata if the head says that it has
  /// some.
  AsyncCall(const Target& target, const MethodInfo& method, const protocol::RequestHead& head,
            Gathered&& payload, const CallContext& context, Streams streams = Streams::none);
  virtual ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  /// Starts the call, which ends exactly once; one of the runtime's own calls may end before this returns.
  static void launch(std::shared_ptr<AsyncCall> call, TimePoint now = {});
  /// The same on a given route; `reader` reads the replies (link::ClientLink::start()). If the call is
  /// repeated elsewhere, the reactor reads them.
  static void launch(std::shared_ptr<AsyncCall> call, Route route, link::Waiter* reader);

  /// `stop` cancels the call. To be called before launch().
  static void stop_with(const std::shared_ptr<AsyncCall>& call, const std::stop_token& stop);
  virtual void cancel();

  [[nodiscard]] TimePoint deadline() const noexcept { return call_.deadline(); }
  [[nodiscard]] const std::shared_ptr<Core>& core() const noexcept;

 protected:
  /// The payload of the reply is valid until this returns.
  virtual void end(link::Reply&& reply) = 0;
  /// Whether end() runs only code of the runtime that does not block.
  [[nodiscard]] virtual bool runs_anywhere() const noexcept { return false; }
  /// The streams of the call, if it has any.
  [[nodiscard]] virtual link::StreamCall* stream() noexcept { return nullptr; }
  [[nodiscard]] const std::shared_ptr<Target::State>& state() const noexcept { return state_; }
  [[nodiscard]] Metadata* reply_metadata() const noexcept { return reply_metadata_; }
  /// Prepares the call for cancel(). To be called before launch().
  void allow_cancel();
  /// Later calls have to keep their order: an attempt that may still run is not repeated. Before launch().
  void keep_order() noexcept { call_.keep_order(); }
  /// To be called when a message of the call's stream has arrived.
  void heard() noexcept { call_.heard(); }
  /// A call with streams is about to be sent to a server; null if the server has the client's schema.
  virtual void on_schema(const link::Adaptation* /*adaptation*/) {}
  /// An attempt has ended, and another one follows.
  virtual void on_again() noexcept {}

 private:
  friend struct Target::State;
  class Stopping;

  /// `now`: the current time, if it is known.
  static void go(std::shared_ptr<AsyncCall> call, protocol::CallStep step, TimePoint now = {});
  /// Continues a call that waited for a route, once there is one.
  static void go_on(std::shared_ptr<AsyncCall> call) { go(std::move(call), protocol::CallStep::resolve); }
  /// Ends the wait of a call for a route without one. `reached`: an instance was connected, but not bound.
  static void fail(std::shared_ptr<AsyncCall> call, protocol::CallEvent event, Failure failure,
                   bool reached = false);
  /// Sends the call on the connection. Returns the reply if it has ended already; otherwise it ends later.
  [[nodiscard]] static std::optional<link::Reply> send(std::shared_ptr<AsyncCall>& call, TimePoint now);
  [[nodiscard]] std::optional<link::Reply> adapt(protocol::RequestHead& head);
  [[nodiscard]] static std::optional<link::Reply> send_stoppable(const std::shared_ptr<AsyncCall>& call,
                                                                 const protocol::RequestHead& head,
                                                                 protocol::Outbound payload);
  static void on_reply(std::shared_ptr<AsyncCall> call, link::Reply&& reply);
  static void finish(std::shared_ptr<AsyncCall> call, link::Reply&& reply, bool where_completions_run);
  static void leave_reader(AsyncCall& call) noexcept;
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return payload_.size() + sizeof *this; }
  [[nodiscard]] bool stop_requested() const noexcept;

  const std::shared_ptr<Target::State> state_;
  const MethodInfo& method_;
  protocol::Call call_;
  protocol::RequestHead head_;
  // The request's payload if it is small; its buffer can then be reused at once.
  std::uint8_t small_size_ = 0;
  std::array<std::byte, 39> small_;
  Gathered payload_;
  Route route_;
  TimePoint sent_{};  // set only if the route was chosen among several
  link::Waiter* reader_ = nullptr;
  Metadata* const reply_metadata_;
  const std::shared_ptr<CallFacts> facts_;         // null: nothing asks for them
  std::unique_ptr<Stopping> stopping_;             // null unless the call may be cancelled
  std::unique_ptr<link::AdaptedRequest> adapted_;  // for an attempt at a server with another schema
  std::shared_ptr<AsyncCall> itself_;              // set while a link holds the call
};

/// An asynchronous call that a user started.
template <class M>
class StartedCall final : public AsyncCall {
 public:
  StartedCall(const Target& target, const protocol::RequestHead& head, Gathered&& payload,
              const CallContext& context, Callback<typename M::Result>&& done)
      : AsyncCall(target, M::kInfo, head, std::move(payload), context), done_(std::move(done)) {}

 private:
  void end(link::Reply&& reply) override {
    if constexpr (M::kInfo.oneway) {
      done_(reply.local() ? Outcome<void>(std::move(reply.failure)) : Outcome<void>());
    } else {
      done_(decode_single<M>(reply));
    }
  }

  Callback<typename M::Result> done_;
};

}  // namespace mf::client
