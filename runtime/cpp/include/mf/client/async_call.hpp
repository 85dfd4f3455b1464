// A call that no thread waits for on its stack: asynchronous calls, messages of batches, parts of scattered
// calls, and blocking calls that may be stopped. A driver of protocol::Call: it finds a route, sends, and
// does what the machine says, on whichever thread something happens.
//
// Threads. The call is driven by one at a time: by who starts it, then by whoever ended its wait for a route,
// or its request. Only cancel() may come from elsewhere, at any time; it ends what the call waits for.
// end() of a user's call runs on the client's completion executor, which is the reactor's thread; that of the
// runtime's own calls runs anywhere.
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

namespace mf::link {
class AdaptedRequest;
class Adaptation;
class Payload;
class StreamCall;
}  // namespace mf::link

namespace mf::client {

class AsyncCall {
 public:
  /// `head`: without its route. The payload begins with the context's metadata, if there is any, as the head
  /// says.
  AsyncCall(const Target& target, const MethodInfo& method, const protocol::RequestHead& head,
            Gathered&& payload, const CallContext& context, Streams streams = Streams::none);
  virtual ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  /// Begins the call, which ends once, perhaps before this returns if it is one of the runtime's own.
  static void launch(std::shared_ptr<AsyncCall> call, TimePoint now = {});
  /// The same on a route that is there, with replies that `reader` fetches (link::ClientLink::start()). After
  /// a repetition elsewhere the reactor does.
  static void launch(std::shared_ptr<AsyncCall> call, Route route, link::Waiter* reader);

  /// `stop` cancels it. Before launch().
  static void stop_with(const std::shared_ptr<AsyncCall>& call, const std::stop_token& stop);
  virtual void cancel();

  [[nodiscard]] TimePoint deadline() const noexcept { return call_.deadline(); }

 protected:
  /// The payload of the reply is good until this returns.
  virtual void end(link::Reply&& reply) = 0;
  /// Does end() only what the runtime does, and that at once?
  [[nodiscard]] virtual bool runs_anywhere() const noexcept { return false; }
  /// The streams of the call, if it has any.
  [[nodiscard]] virtual link::StreamCall* stream() noexcept { return nullptr; }
  [[nodiscard]] const std::shared_ptr<Target::State>& state() const noexcept { return state_; }
  [[nodiscard]] Metadata* reply_metadata() const noexcept { return reply_metadata_; }
  /// cancel() may come. Before launch().
  void allow_cancel();
  /// Others follow in order: an attempt that may still run must not be repeated beside them. Before launch().
  void keep_order() noexcept { call_.keep_order(); }
  /// Something of the call's stream has come.
  void heard() noexcept { call_.heard(); }
  /// A stream's call is about to be sent to a server; null: the server has the client's schema.
  virtual void on_schema(const link::Adaptation* /*adaptation*/) {}
  /// An attempt is over, and another one follows.
  virtual void on_again() noexcept {}

 private:
  friend struct Target::State;
  class Stopping;

  [[nodiscard]] static Failure cancelled_by_caller();
  /// `now`: the time, if it is known.
  static void go(std::shared_ptr<AsyncCall> call, protocol::CallStep step, TimePoint now = {});
  /// There is a route for a call that waits for one.
  static void go_on(std::shared_ptr<AsyncCall> call) { go(std::move(call), protocol::CallStep::resolve); }
  /// The call waits for a route, and there is none. `reached`: an instance was, but could not be bound.
  static void fail(std::shared_ptr<AsyncCall> call, protocol::CallEvent event, Failure failure,
                   bool reached = false);
  /// Gives the call to the connection. What is given back says how that ended; nothing: it will end later.
  [[nodiscard]] static std::optional<link::Reply> send(std::shared_ptr<AsyncCall>& call, TimePoint now);
  [[nodiscard]] std::optional<link::Reply> adapt(protocol::RequestHead& head);
  [[nodiscard]] static std::optional<link::Reply> send_stoppable(const std::shared_ptr<AsyncCall>& call,
                                                                 const protocol::RequestHead& head,
                                                                 link::Payload payload);
  static void on_reply(std::shared_ptr<AsyncCall> call, link::Reply&& reply);
  static void finish(std::shared_ptr<AsyncCall> call, link::Reply&& reply, bool where_completions_run);
  static void leave_reader(AsyncCall& call) noexcept;
  [[nodiscard]] std::size_t waiting_bytes() const noexcept { return payload_.size() + sizeof *this; }
  [[nodiscard]] bool stop_requested() const noexcept;

  const std::shared_ptr<Target::State> state_;
  const MethodInfo& method_;
  protocol::Call call_;
  protocol::RequestHead head_;
  // The request's payload: a small one is kept here, so that its buffer can be used again at once.
  std::uint8_t small_size_ = 0;
  std::array<std::byte, 39> small_;
  Gathered payload_;
  Route route_;
  TimePoint sent_{};  // on a route that was chosen
  link::Waiter* reader_ = nullptr;
  Metadata* const reply_metadata_;
  std::unique_ptr<Stopping> stopping_;             // of one that may be cancelled
  std::unique_ptr<link::AdaptedRequest> adapted_;  // for an attempt at a server with another schema
  std::shared_ptr<AsyncCall> itself_;              // while a link has it
};

/// An asynchronous call of a user.
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
