#pragma once
// Interceptors: what a program runs around all calls of a client, or around all handlers of a server or a
// mf::Light (docs/interceptors.md, decision 0098). This is their user's view; intercepting.hpp runs them.
//
//   struct Tenants : mf::Interceptor {
//     void begin(mf::InterceptedCall& call) override {
//       if (call.metadata.find("tenant") == nullptr)
//         throw mf::Error(mf::Code::unauthenticated, mf::Execution::not_executed, "no tenant is named");
//     }
//   };
//   mf::Server server({.interceptors = {std::make_shared<Tenants>()}});

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/answer.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/gathered.hpp"
#include "mf/core/metadata.hpp"
#include "mf/core/service.hpp"
#include "mf/core/unique_function.hpp"

namespace mf {

/// What a caller has asked for. A server sees a message, not why it was sent: it has calls, bulks (each
/// message with several items) and streams.
enum class CallKind : std::uint8_t { call, batch, bulk, scattered, stream, replicated };

/// "CALL", "BATCH", "BULK", "SCATTERED", "STREAM" or "REPLICATED".
[[nodiscard]] const char* name(CallKind kind) noexcept;

class Interceptor;

namespace detail {

class Intercepting;
class Onward;

/// Gets the requests of a call from where they are: an array of them, which lives as long as `kept` or the
/// source.
struct ArgumentSource {
  const void* (*get)(const void* source, std::shared_ptr<void>& kept) = nullptr;
  const void* source = nullptr;
};

}  // namespace detail

/// The values of a message with several items, each encoded as a message of that item alone has it.
class EncodedItems {
 public:
  virtual void append(Buffer& out, std::size_t item) const = 0;

 protected:
  ~EncodedItems() = default;
};

/// One call on its way through interceptors, at its client or at its server. All of them see the same object.
/// It lives until the last `end` has returned.
class InterceptedCall {
 public:
  /// `served`: the call as its handler sees it; null at a client.
  InterceptedCall(const ServiceInfo& service, std::string_view agent, const MethodInfo& info, CallKind kind,
                  std::size_t items, const CallInfo* served) noexcept
      : service_(&service), agent_(agent), info_(&info), kind_(kind), items_(items), served_(served) {}
  InterceptedCall(const InterceptedCall&) = delete;
  InterceptedCall& operator=(const InterceptedCall&) = delete;
  ~InterceptedCall();

  /// The full name of the service.
  [[nodiscard]] std::string_view service() const noexcept { return service_->name; }
  [[nodiscard]] std::string_view method() const noexcept { return info_->name; }
  /// The agent that was asked for; empty for any, for several, and for a service without `per`.
  [[nodiscard]] std::string_view agent() const noexcept { return agent_; }
  /// The method: idempotent, oneway and so on.
  [[nodiscard]] const MethodInfo& info() const noexcept { return *info_; }
  [[nodiscard]] CallKind kind() const noexcept { return kind_; }
  /// 1, or the number of requests of a batch or bulk.
  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  [[nodiscard]] bool is_client() const noexcept { return served_ == nullptr; }
  /// The caller's address at a server, "light:" in light. Empty at a client: CallEnd::peer says which server
  /// answered.
  [[nodiscard]] std::string_view peer() const noexcept { return served_ == nullptr ? "" : served_->peer; }
  /// What the caller has proved of itself to this server; null at a client.
  [[nodiscard]] const Identity* identity() const noexcept {
    return served_ == nullptr ? nullptr : &served_->identity();
  }
  /// What mf::current_call() gives to the handler; null at a client. Of a handler that answers later it keeps
  /// texts, times and the identity.
  [[nodiscard]] const CallInfo* served() const noexcept { return served_; }
  /// The size of the request at a server, in bytes; 0 at a client, which has not sent it yet, and in light.
  [[nodiscard]] std::size_t request_bytes() const noexcept { return request_bytes_; }
  /// The parameters without streams as they have come, in `begin` at a server; empty elsewhere.
  [[nodiscard]] std::span<const std::byte> encoded_requests() const noexcept { return encoded_requests_; }
  /// The parameters of each item of a bulk, in `begin` at a server; null elsewhere.
  [[nodiscard]] const EncodedItems* encoded_items() const noexcept { return encoded_items_; }
  /// The place of an item among the outcomes of its end. A server refuses items that break constraints before
  /// there is a call: they have outcomes, and are no items of it.
  [[nodiscard]] std::size_t place(std::size_t item) const noexcept {
    return places_.empty() ? item : places_[item];
  }
  /// When it began.
  [[nodiscard]] TimePoint began() const noexcept { return began_; }
  /// The time until its caller stops waiting; kInfinite without a deadline.
  [[nodiscard]] std::chrono::nanoseconds deadline_left() const noexcept;

  /// The parameters without streams, as the Request of the method's description M
  /// (docs/generated-code.md); the requests of a batch or bulk. Empty if this is a call of another method,
  /// and for a scattered call. Valid in `begin`, and around a call until it is answered.
  template <class M>
  [[nodiscard]] std::span<const typename M::Request> requests() const {
    if (info_ != &M::kInfo || arguments_.get == nullptr) return {};
    return {static_cast<const typename M::Request*>(arguments_.get(arguments_.source, kept_arguments_)),
            items_};
  }

  /// What one interceptor keeps until the call ends, made on first use. Each has one object of one type.
  template <class T>
  [[nodiscard]] T& note(const Interceptor& of) const {
    if (void* const known = find_note(of)) return *static_cast<T*>(known);
    auto made = std::make_shared<T>();
    notes_.emplace_back(&of, made);
    return *made;
  }

  /// At a client what is sent, which interceptors may change before they go on; at a server a copy of what
  /// has come.
  Metadata metadata{};
  /// When its caller stops waiting. An interceptor of a client may change it before it goes on.
  TimePoint deadline = kNever;

 private:
  friend class detail::Intercepting;
  struct Lasting;

  [[nodiscard]] void* find_note(const Interceptor& of) const noexcept;

  const ServiceInfo* service_;
  std::string_view agent_;
  const MethodInfo* info_;
  CallKind kind_;
  std::size_t items_;
  const CallInfo* served_;
  std::size_t request_bytes_ = 0;
  std::span<const std::byte> encoded_requests_{};
  const EncodedItems* encoded_items_ = nullptr;
  std::span<const std::size_t> places_{};
  TimePoint began_{};
  detail::ArgumentSource arguments_{};
  mutable std::shared_ptr<void> kept_arguments_;
  mutable std::vector<std::pair<const Interceptor*, std::shared_ptr<void>>> notes_;
  std::shared_ptr<Lasting> lasting_;  // copies of texts, of a call that outlives its message
};

/// The outcomes of the items of a call.
class ItemOutcomes {
 public:
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;
  /// Null if the item has a value.
  [[nodiscard]] virtual const Failure* failure(std::size_t item) const noexcept = 0;

 protected:
  ~ItemOutcomes() = default;
};

/// How a call has ended. It lives while `end` runs.
struct CallEnd {
  /// OK, DECLARED, or that of the failure. OK for a batch, a bulk or a scattered call that was answered:
  /// `outcomes` says how each item has ended.
  Code code = Code::ok;
  /// The failure or the declared error; null for OK.
  const Failure* failure = nullptr;
  /// Those of a batch, a bulk or a scattered call, in order (InterceptedCall::place()); null for others, and
  /// where they are not known.
  const ItemOutcomes* outcomes = nullptr;
  /// Requests that the client has made for it: more than 1 if it was repeated. 1 at a server.
  std::uint32_t attempts = 1;
  /// At a client the server of the latest attempt; empty in light, and if none was reached. At a server the
  /// caller.
  std::string_view peer{};
  /// Payloads without the values of streams; 0 in light.
  std::size_t request_bytes = 0;
  std::size_t reply_bytes = 0;
  /// When the call began.
  TimePoint began{};
  /// At a server the results as they are sent, if all items of the message have one; otherwise null.
  const Gathered* encoded_results = nullptr;
  /// At a server the results of a bulk, by their places; those that failed must not be asked for. Null for
  /// others.
  const EncodedItems* encoded_items = nullptr;
  const void* result = nullptr;       // of the type `result_type`
  const void* result_type = nullptr;  // the address of its detail::type_mark

  /// What the caller gets, or the handler has given: null for streams, for calls of many items, and for a
  /// failure.
  template <class T>
  [[nodiscard]] const T* value() const noexcept {
    return result_type == &detail::type_mark<T> ? static_cast<const T*>(result) : nullptr;
  }
  /// Since the call began, until now.
  [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return mf::now() - began; }
  /// How many items have failed.
  [[nodiscard]] std::size_t failed_items() const noexcept;
};

/// Derive from it, override what is needed, and give objects to ClientOptions, ServerOptions or mf::Light as
/// `interceptors`. The first one given is the outermost: it begins first and ends last. Any number of threads
/// may be inside of one at a time.
///
/// For each call: `begin` of all; `call` or `call_async` (of those that derive from AroundInterceptor), each
/// around the next one; `end` of all that have begun, in reverse order.
class Interceptor {
 public:
  Interceptor() = default;
  Interceptor(const Interceptor&) = default;
  Interceptor& operator=(const Interceptor&) = default;
  virtual ~Interceptor();

  /// Called before the call goes on; it must not wait. To refuse the call, throw an mf::Error or a declared
  /// error: the caller gets it as it is.
  virtual void begin(InterceptedCall& call);
  /// Called once for each call whose `begin` has returned, when its end is known, on the thread that learns
  /// it; it must not wait. At a server the reply leaves afterwards. What it throws is logged, and changes
  /// nothing.
  virtual void end(const InterceptedCall& call, const CallEnd& end);
};

/// Takes the answer of a call, once, on any thread. Dropped unanswered, it answers that the call was given
/// up.
class AnswerDone {
 public:
  AnswerDone() noexcept = default;
  template <class F>
    requires std::is_invocable_v<F&, Answer&&>
  explicit AnswerDone(F function)
      : function_([function = std::move(function)](Answer&& answer, bool /*dropped*/) mutable {
          function(std::move(answer));
        }) {}
  AnswerDone(AnswerDone&&) noexcept = default;
  AnswerDone& operator=(AnswerDone&&) = delete;
  AnswerDone(const AnswerDone&) = delete;
  AnswerDone& operator=(const AnswerDone&) = delete;
  ~AnswerDone();

  /// Later answers are ignored.
  void operator()(Answer answer) {
    if (auto function = std::exchange(function_, nullptr)) function(std::move(answer), false);
  }

 private:
  friend class detail::Onward;
  using Function = UniqueFunction<void(Answer&&, bool dropped)>;
  struct Whole {};
  AnswerDone(Whole /*tag*/, Function function) noexcept : function_(std::move(function)) {}

  Function function_;
};

/// Calls on: the next interceptor, and behind the last one the request or the handler. At a client it may be
/// used several times, also on other threads, each time for another request; at a server once.
class Proceed {
 public:
  /// Waits for the answer. In `call` until that has returned.
  Answer operator()() const;
  /// The answer comes later, on any thread, perhaps before this returns; `stop` cancels the request. In
  /// `call_async`, and at a client in `call`, too: the call returns when all that was started there has
  /// ended.
  void start(AnswerDone done, const std::stop_token& stop = {}) const;
  /// Whether this thread may wait for what start() has started: not on the client's own thread, where it
  /// would be answered.
  [[nodiscard]] bool may_wait() const;
  /// Stops when the interceptor outside does not want this request any more: end a wait of your own then. It
  /// never stops in `call`, nor for a request that cannot be cancelled from outside.
  [[nodiscard]] const std::stop_token& stop_token() const noexcept { return stop_; }

 private:
  friend class detail::Onward;
  Proceed(std::shared_ptr<detail::Onward> onward, std::size_t at, std::stop_token stop) noexcept
      : onward_(std::move(onward)), at_(at), stop_(std::move(stop)) {}

  std::shared_ptr<detail::Onward> onward_;
  std::size_t at_;
  std::stop_token stop_;  // of the interceptor outside of the one that has this
};

/// An interceptor that is around calls: it may wait, refuse, answer without going on, change the answer, and
/// at a client go on several times.
class AroundInterceptor : public Interceptor {
 public:
  /// Around a call that blocks, and around a plain handler. Returns what the caller shall get: what
  /// `proceed()` returns, or an answer of its own. An exception is the answer, too.
  virtual Answer call(InterceptedCall& call, const Proceed& proceed) = 0;
  /// Around an async_ call, and around the handler of an asynchronous servant. It must not wait: it answers
  /// `done`, at once or later, and may keep `call` and `proceed` until then.
  virtual void call_async(InterceptedCall& call, Proceed proceed, AnswerDone done) = 0;
};

/// Those of a client, of a server or of a mf::Light, the outermost first.
using Interceptors = std::vector<std::shared_ptr<Interceptor>>;

}  // namespace mf
