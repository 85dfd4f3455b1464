// Calls within a process: the lookup of servants, and calling one without encoding anything.
//
// Arguments are passed by reference to the servant's own function on the caller's thread: one branch and one
// virtual call. Constraints are checked once; a deadline is checked only if the caller, or the surrounding
// call, has set one: before the handler starts, and when the handler requests a stop token. The caller of an
// asynchronous servant returns at the deadline, and when its stop is requested. Handlers end as they do
// across hosts (mf/core/handler.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/current_call.hpp"
#include "mf/core/handler.hpp"
#include "mf/core/options.hpp"
#include "mf/core/servant.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/handler_failures.hpp"
#include "mf/link/intercepted.hpp"
#include "mf/link/method.hpp"
#include "mf/link/results.hpp"

namespace mf {

/// The servants of a process, by service and agent. Thread-safe.
class LocalServants {
 public:
  virtual ~LocalServants() = default;

  /// The servant for this agent, or for any agent if it is nullptr. Null if there is none.
  [[nodiscard]] virtual std::shared_ptr<Servant> find(std::string_view service,
                                                      const std::string* agent) const = 0;
  [[nodiscard]] virtual std::vector<std::string> agents(std::string_view service) const = 0;
  /// The names of the offered services.
  [[nodiscard]] virtual std::vector<std::string> services() const = 0;
  /// Runs `work` on a thread of its own: the handler of a stream, or a completion.
  virtual void run(UniqueFunction<void()> work) const = 0;
  /// Runs `work` at the given time, on one thread for all such work; it must not block.
  virtual void at(TimePoint when, UniqueFunction<void()> work) const = 0;
  /// Where failures of handlers are logged.
  [[nodiscard]] virtual link::HandlerFailures& failures() const noexcept = 0;
  /// What runs around their handlers; null: nothing.
  [[nodiscard]] virtual const std::shared_ptr<const mf::detail::InterceptorList>& interceptors()
      const noexcept = 0;
};

namespace link {

/// The data of an in-process target beside its servant.
struct LocalTarget {
  const LocalServants* servants = nullptr;  // null: the target is not in-process
  std::string_view agent{};
  std::span<const std::string> forwarded{};         // keys of metadata that calls of this client forward
  InterceptorsRef interceptors = nullptr;           // around the handlers; null: none
  const std::shared_ptr<Servant>* owner = nullptr;  // of the servant, which may be read once it was found
};

/// A servant that was found, as the two interfaces that it may have; all null if the target is not
/// in-process.
template <class Servant, class AsyncServant>
struct Local {
  Servant* plain = nullptr;
  AsyncServant* async = nullptr;
  LocalTarget target{};

  explicit operator bool() const noexcept { return plain != nullptr || async != nullptr; }
};
template <class M>
using LocalOf = Local<typename M::Servant, typename M::AsyncServant>;

template <class M, class... Args>
void check_arguments(const Args&... args) {
  if constexpr (codec::Constrained<typename M::Request>) {
    if (auto bad = codec::violation_of<typename M::Request>(args...)) [[unlikely]]
      refuse_argument(kMethod<M>, *bad);
  }
}

/// Throws DEADLINE_EXCEEDED.
[[noreturn]] void refuse_expired();

/// A handler's view of its call beyond times and texts: metadata from the options and from the surrounding
/// call, and the request to stop, by the caller or when the deadline passes.
class LocalHandle final : public mf::detail::CallHandle {
 public:
  /// Keeps references to all arguments.
  LocalHandle(const CallOptions& options, const CallInfo* outer, const LocalTarget& target,
              const TimePoint& deadline)
      : options_(options), outer_(outer), target_(target), deadline_(deadline) {}
  LocalHandle(const LocalHandle&) = delete;
  LocalHandle& operator=(const LocalHandle&) = delete;
  ~LocalHandle();

  [[nodiscard]] std::stop_token stop_token() override;
  [[nodiscard]] bool cancelled() noexcept override;
  [[nodiscard]] const Metadata& metadata() noexcept override;
  void set_reply_metadata(std::string_view key, std::string_view value) override;

 private:
  struct Stopping;

  const CallOptions& options_;
  const CallInfo* const outer_;
  const LocalTarget& target_;
  const TimePoint& deadline_;
  std::optional<Metadata> metadata_;
  std::shared_ptr<Stopping> stopping_;  // set once a handler with a deadline has requested a stop token
};

/// The scope of an in-process handler. It is cheap if the options are unset and there is no surrounding call;
/// otherwise it reads the clock once, if there is a deadline. Throws for a call whose deadline has passed.
class LocalScope {
 public:
  LocalScope(const ServiceInfo& service, const LocalTarget& target, const CallOptions& options,
             std::chrono::nanoseconds deadline)
      : info_{.service = service.name, .agent = target.agent, .peer = "light:"}, scope_(info_) {
    const bool plain = options.metadata.empty() && options.reply_metadata == nullptr &&
                       !options.stop.stop_possible() && deadline == kUnset && scope_.outer() == nullptr;
    if (!plain) [[unlikely]]
      add_context(options, target, deadline);
  }

  [[nodiscard]] const CallInfo& info() const noexcept { return info_; }

 private:
  void add_context(const CallOptions& options, const LocalTarget& target, std::chrono::nanoseconds deadline);

  CallInfo info_;
  std::optional<LocalHandle> handle_;
  CallScope scope_;
};

/// Call it in a catch block: a failed one-way call is only logged, as across hosts.
void log_oneway_failure(const Method& method);

/// Call it in a catch block: logs the failure of a handler, and throws what its caller gets.
[[noreturn]] void raise_handler_failure(const Method& method, const LocalTarget& target);

/// The failure of a handler as its caller gets it, which is logged.
[[nodiscard]] Failure noted_failure(const Method& method, const LocalTarget& target, const Failure& failure);

/// The call of a plain handler with interceptors around it. In light the end is that of the handler.
class LocalWay final : public mf::detail::Intercepting {
 public:
  LocalWay(const Method& method, const LocalTarget& target, CallKind kind, std::size_t items,
           const CallInfo& info, mf::detail::ArgumentSource arguments);

  /// Throws what one refuses the call with.
  void begin();
  /// Runs `handler` through those that are around it.
  [[nodiscard]] Answer run(FunctionRef<Answer()> handler);
  void end_with(CallEnd&& how) noexcept;

 private:
  const std::shared_ptr<const mf::detail::InterceptorList> list_;
};

/// Moves a request to an asynchronous servant and waits for the answer.
void local_async(const BatchMethod& method, void* servant, const LocalTarget& target,
                 const CallOptions& options, void* request, Results& results);
/// Moves a request of a one-way method to an asynchronous servant.
void local_async_oneway(const BatchMethod& method, void* servant, const LocalTarget& target, void* request);

template <class Result>
Result call_async_servant(const BatchMethod& method, void* servant, const LocalTarget& target,
                          const CallOptions& options, void* request) {
  ResultsOf<Result> results(1);
  local_async(method, servant, target, options, request, results);
  return std::move(results.outcomes()[0]).value();
}

/// A plain handler with interceptors around it. `handler` sets its outcome, which its caller gets.
void local_call_intercepted(const Method& method, const mf::detail::OutcomeType& type,
                            const LocalTarget& target, const CallInfo& info,
                            mf::detail::ArgumentSource arguments, FunctionRef<void(void* outcome)> handler,
                            void* outcome);

template <class M, class... Args>
[[gnu::noinline]] typename M::Result local_call_intercepted(const LocalOf<M>& local, const CallInfo& info,
                                                            const Args&... args) {
  using Result = typename M::Result;
  const auto given = [&] { return request_of<M>(args...); };
  const auto handler = [&](void* outcome) {
    *static_cast<Outcome<Result>*>(outcome) = outcome_of([&] { return M::invoke(*local.plain, args...); });
  };
  Outcome<Result> outcome;
  local_call_intercepted(kMethod<M>, mf::detail::kOutcomeType<Result>, local.target, info,
                         copied_request(given), handler, &outcome);
  if constexpr (M::kInfo.oneway) {
    return;
  } else {
    return std::move(outcome).value();
  }
}

template <class M, class... Args>
typename M::Result local_call(const LocalOf<M>& local, const CallOptions& options, const Args&... args) {
  check_arguments<M>(args...);
  // No other thread takes over from a plain handler, so its clock is read only if the caller set a deadline.
  const LocalScope scope(
      M::kService, local.target, options,
      local.plain != nullptr ? options.deadline : effective_deadline(options.deadline, M::kInfo.deadline));
  if (local.target.interceptors != nullptr && local.plain != nullptr) [[unlikely]]
    return local_call_intercepted<M>(local, scope.info(), args...);
  if constexpr (M::kInfo.oneway) {
    try {
      if (local.plain != nullptr) return M::invoke(*local.plain, args...);
      typename M::Request request{args...};
      local_async_oneway(kBatchMethod<M>, local.async, local.target, &request);
    } catch (...) {
      log_oneway_failure(kMethod<M>);
    }
  } else {
    if (local.plain == nullptr) {
      typename M::Request request{args...};
      return call_async_servant<typename M::Result>(kBatchMethod<M>, local.async, local.target, options,
                                                    &request);
    }
    try {
      return M::invoke(*local.plain, args...);
    } catch (...) {
      raise_handler_failure(kMethod<M>, local.target);
    }
  }
}

/// The servants of a batch, without their type; all null if the target is not in-process.
struct LocalBatch {
  explicit operator bool() const noexcept { return plain != nullptr || async != nullptr; }

  void* plain = nullptr;
  void* async = nullptr;
  LocalTarget target{};
};

/// Runs all items and sets an outcome for each; nothing is copied for a plain servant.
void local_batch(const BatchMethod& method, const LocalBatch& local, const CallOptions& options,
                 Items requests, Results& results);

}  // namespace link
}  // namespace mf
