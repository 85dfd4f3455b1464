// Calls that stay in the process: where the servants are found, and how one is called without any bytes.
//
// Arguments are passed by reference to the servant's own function on the caller's thread: one branch and one
// virtual call. Constraints are checked once; a deadline is looked at only if the caller gave one, and only
// before the handler starts. Handlers end as they do across hosts (mf/core/handler.hpp).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/handler.hpp"
#include "mf/core/log.hpp"
#include "mf/core/options.hpp"
#include "mf/core/servant.hpp"

namespace mf {

/// The servants of a process, by service and agent. Thread-safe.
class LocalServants {
 public:
  virtual ~LocalServants() = default;

  /// The servant for this agent; for nullptr any. Null if there is none.
  [[nodiscard]] virtual std::shared_ptr<Servant> find(std::string_view service,
                                                      const std::string* agent) const = 0;
  [[nodiscard]] virtual std::vector<std::string> agents(std::string_view service) const = 0;
};

namespace link {

/// A servant that was found, as both interfaces that it may have; all null: the call leaves the process.
template <class M>
struct Local {
  typename M::Servant* plain = nullptr;
  typename M::AsyncServant* async = nullptr;
  std::string_view agent;

  explicit operator bool() const noexcept { return plain != nullptr || async != nullptr; }
};

template <class M>
[[noreturn]] void refuse_argument(const std::string& violation) {
  throw Error(Code::invalid_argument, Execution::not_executed,
              std::string(M::kService.name) + "." + std::string(M::kInfo.name) + ": " + violation);
}

template <class M>
[[noreturn]] void refuse_item(std::size_t item, const std::string& violation) {
  refuse_argument<M>("item " + std::to_string(item) + ": " + violation);
}

/// Before a batch is sent: the first item that breaks a constraint refuses it whole.
template <class M>
void check_requests(std::span<const typename M::Request> requests) {
  if constexpr (codec::Constrained<typename M::Request>) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (auto bad = codec::violation(requests[i])) [[unlikely]] {
        refuse_item<M>(i, *bad);
      }
    }
  }
}

template <class M, class... Args>
void check_arguments(const Args&... args) {
  if (auto bad = codec::violation_of<typename M::Request>(args...)) [[unlikely]]
    refuse_argument<M>(*bad);
}

inline void refuse_expired(TimePoint deadline) {
  if (deadline != kNever && std::chrono::steady_clock::now() >= deadline) {
    throw Error(Code::deadline_exceeded, Execution::not_executed, "the deadline had passed before the call");
  }
}

template <class M>
CallInfo local_call_info(const Local<M>& local, const CallOptions& options) {
  CallInfo info{.service = M::kService.name, .agent = local.agent, .peer = "light:"};
  if (options.deadline != kUnset)
    info.deadline = deadline_after(std::chrono::steady_clock::now(), options.deadline);
  return info;
}

/// How long the answer of an asynchronous servant is waited for.
template <class M>
TimePoint async_deadline(const CallOptions& options) {
  return deadline_after(std::chrono::steady_clock::now(),
                        effective_deadline(options.deadline, M::kInfo.deadline));
}

template <class M>
Failure declared_or_failed(const Failure& failure) {
  const bool declared = mf::detail::Declares<typename M::Errors>::contains(*failure.declared);
  return declared ? failure : mf::detail::undeclared(failure);
}

/// Waits for what an asynchronous servant answers.
template <class T>
class LocalReply {
 public:
  Responder<T> responder() {
    return Responder<T>([state = state_](Outcome<T>&& outcome) {
      const std::scoped_lock lock(state->mutex);
      state->outcome = std::move(outcome);
      state->done = true;
      state->changed.notify_all();
    });
  }

  /// A handler that throws has dropped its responder, which has answered.
  template <class M>
  void begin(const Local<M>& local, typename M::Request&& request) {
    (void)outcome_of([&] { M::invoke(*local.async, std::move(request), responder()); });
  }

  Outcome<T> wait(TimePoint deadline) {
    std::unique_lock lock(state_->mutex);
    const auto done = [&] { return state_->done; };
    if (deadline == kNever) {
      state_->changed.wait(lock, done);
    } else if (!state_->changed.wait_until(lock, deadline, done)) {
      return Failure{.code = Code::deadline_exceeded,
                     .execution = Execution::unknown,
                     .message = "no reply within the deadline",
                     .declared = nullptr};
    }
    return std::move(state_->outcome);
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Outcome<T> outcome;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

template <class M, class... Args>
typename M::Result call_async_servant(const Local<M>& local, const CallOptions& options,
                                      const Args&... args) {
  LocalReply<typename M::Result> reply;
  reply.template begin<M>(local, typename M::Request{args...});
  auto outcome = reply.wait(async_deadline<M>(options));
  if (!outcome && outcome.failure().declared) declared_or_failed<M>(outcome.failure()).raise();
  return std::move(outcome).value();
}

/// Nobody is told how a one-way call ended, here as across hosts.
template <class M, class Run>
void run_oneway(Run run) {
  const auto outcome = outcome_of(run);
  if (!outcome) {
    Log().write(Level::warning, "oneway_failed",
                {{"service", M::kService.name},
                 {"method", M::kInfo.name},
                 {"code", name(outcome.failure().code)},
                 {"message", outcome.failure().message}});
  }
}

template <class M, class... Args>
typename M::Result local_call(const Local<M>& local, const CallOptions& options, const Args&... args) {
  check_arguments<M>(args...);
  const auto info = local_call_info(local, options);
  refuse_expired(info.deadline);
  const CallScope scope(info);
  if constexpr (M::kInfo.oneway) {
    run_oneway<M>([&] {
      if (local.plain != nullptr) return M::invoke(*local.plain, args...);
      M::invoke(*local.async, typename M::Request{args...});
    });
  } else {
    if (local.plain == nullptr) return call_async_servant<M>(local, options, args...);
    try {
      return M::invoke(*local.plain, args...);
    } catch (...) {
      handler_failure<typename M::Errors>().raise();
    }
  }
}

template <class Result>
Outcomes<Result> local_async_batch(std::size_t items, TimePoint deadline,
                                   FunctionRef<void(LocalReply<Result>&, std::size_t)> begin) {
  std::vector<LocalReply<Result>> replies(items);
  for (std::size_t i = 0; i < items; ++i) begin(replies[i], i);
  Outcomes<Result> outcomes;
  outcomes.reserve(items);
  for (auto& reply : replies) outcomes.push_back(reply.wait(deadline));
  return outcomes;
}

/// All items at once, outcome by outcome; nothing is copied for a plain servant.
template <class M>
Outcomes<typename M::Result> local_batch(const Local<M>& local, const CallOptions& options,
                                         std::span<const typename M::Request> requests) {
  using Result = typename M::Result;
  check_requests<M>(requests);
  const auto info = local_call_info(local, options);
  refuse_expired(info.deadline);
  const CallScope scope(info);
  if constexpr (M::kInfo.oneway) {
    run_oneway<M>([&] {
      if (local.plain != nullptr) return M::invoke_batch(*local.plain, requests);
      for (const auto& request : requests) M::invoke(*local.async, typename M::Request(request));
    });
    return Outcomes<Result>(requests.size());
  } else {
    Outcomes<Result> outcomes;
    if (local.plain != nullptr) {
      auto ran = outcome_of([&] { return M::invoke_batch(*local.plain, requests); });
      if (ran) {
        outcomes = std::move(ran).value();
      } else {
        outcomes.resize(requests.size());
        for (auto& outcome : outcomes) outcome = ran.failure();
      }
    } else {
      outcomes = local_async_batch<Result>(
          requests.size(), async_deadline<M>(options), [&](LocalReply<Result>& reply, std::size_t item) {
            reply.template begin<M>(local, typename M::Request(requests[item]));
          });
    }
    for (auto& outcome : outcomes) {
      if (!outcome && outcome.failure().declared) outcome = declared_or_failed<M>(outcome.failure());
    }
    if (outcomes.size() != requests.size()) {  // the servant forgot some, or made some up
      outcomes.resize(requests.size(), Outcome<Result>(std::make_shared<const Failure>()));
    }
    return outcomes;
  }
}

}  // namespace link
}  // namespace mf
