// The destination of a stub's calls: a service, and one or any of its agents. It handles encoded bytes and
// routes; call.hpp adds the types, and protocol::Call alone decides what is repeated.
//
// A target keeps the connections that it has used; link/balancing.hpp decides which of them gets a call, and
// which are avoided for a while. Offered instances that cannot be reached are tried again in the background,
// a few times a second while calls are made. Targets of one client for the same service and agent share all
// this.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/intercepting.hpp"
#include "mf/core/metadata.hpp"
#include "mf/core/options.hpp"
#include "mf/core/service.hpp"
#include "mf/link/binding.hpp"
#include "mf/link/local.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/session.hpp"

namespace mf::link {
class ClientLink;
class Waiter;
}  // namespace mf::link

namespace mf::client {

class MethodCache;
class Shared;

/// A connection on which the target's service is bound; the server keeps the binding while this object lives.
class Route {
 public:
  Route() noexcept = default;
  /// Takes over a pin of the binding. `chosen`: there were several candidates.
  Route(std::shared_ptr<link::ClientLink> to, link::Binding* pinned, bool chosen) noexcept
      : link(std::move(to)), chosen_(chosen), binding_(pinned) {}
  Route(Route&& other) noexcept
      : link(std::move(other.link)),
        chosen_(other.chosen_),
        binding_(std::exchange(other.binding_, nullptr)) {}
  Route& operator=(Route&& other) noexcept {
    if (binding_ != nullptr) binding_->unpin();
    binding_ = std::exchange(other.binding_, nullptr);
    link = std::move(other.link);
    chosen_ = other.chosen_;
    return *this;
  }
  Route(const Route&) = delete;
  Route& operator=(const Route&) = delete;
  ~Route() {
    if (binding_ != nullptr) binding_->unpin();
  }

  explicit operator bool() const noexcept { return binding_ != nullptr; }
  [[nodiscard]] std::uint16_t of(const MethodInfo& method) const noexcept { return of(method.index); }
  [[nodiscard]] std::uint16_t of(std::uint16_t method) const noexcept { return binding_->route(method); }
  /// Null if the server has the client's schema.
  [[nodiscard]] const link::Adaptation* adaptation() const noexcept { return binding_->adaptation(); }
  /// Another route on the same binding.
  [[nodiscard]] Route again() const noexcept {
    return binding_ != nullptr && binding_->pin() ? Route(link, binding_, chosen_) : Route();
  }
  /// Whether there were several candidates, so that the outcome of a call is recorded for balancing.
  [[nodiscard]] bool chosen() const noexcept { return chosen_; }

  std::shared_ptr<link::ClientLink> link;

 private:
  bool chosen_ = false;
  link::Binding* binding_ = nullptr;  // lives as long as the link
};

/// Writes the request's payload; called again for each attempt.
using Encode = FunctionRef<void(Gathered&)>;

/// What the requests of an intercepted call were, which its CallEnd says. Thread-safe.
class CallFacts {
 public:
  /// One or several attempts have ended, the last one on this connection; null: none was reached.
  void add(int attempts, std::shared_ptr<link::ClientLink> link, std::size_t request_bytes,
           std::size_t reply_bytes);
  /// The texts live as long as this.
  void write_to(CallEnd& end) const;

 private:
  std::atomic<bool> any_{false};  // a call in light has none, and takes no lock
  mutable std::mutex mutex_;
  std::uint32_t attempts_ = 0;
  std::size_t request_bytes_ = 0;
  std::size_t reply_bytes_ = 0;
  std::shared_ptr<link::ClientLink> link_;
};

/// The options of a call together with what its surroundings add. Refers to the caller's options.
struct CallContext {
  TimePoint now{};  // when the call was made
  TimePoint deadline = kNever;
  const Metadata* metadata = nullptr;  // metadata to send; null if there is none
  Metadata* reply_metadata = nullptr;  // where the reply's metadata go; null if they are not wanted
  const std::stop_token* stop = nullptr;
  const std::shared_ptr<CallFacts>* facts = nullptr;  // null: nothing asks for them
};

class Target {
 public:
  Target(const Client& client, const ServiceInfo& service);
  Target(const std::shared_ptr<Core>& core, const ServiceInfo& service);
  /// A target for one instance of a service without agents.
  Target(const std::shared_ptr<Core>& core, const ServiceInfo& service, const Instance& instance);

  [[nodiscard]] Target at(std::string_view agent) const;
  [[nodiscard]] Target any() const;
  [[nodiscard]] const ServiceInfo& service() const noexcept;

  /// The servant of an in-process client; throws Error(UNKNOWN_SERVICE or UNKNOWN_AGENT) if it has none for
  /// this target. It is looked up once; later calls cost a branch or two. All methods M of a target belong
  /// to its service, so they agree about the type.
  template <class M>
  [[nodiscard]] link::LocalOf<M> local() const {
    if (!in_process()) [[likely]]
      return {};
    // The service's name identifies the one generated class, which may be incomplete here.
    const auto found = interfaces();
    return {.plain = static_cast<typename M::Servant*>(found.plain),
            .async = static_cast<typename M::AsyncServant*>(found.async),
            .target = local_};
  }
  /// The same without the servant's type.
  [[nodiscard]] link::LocalBatch local_batch() const;

  /// The cache of a cached method, for all agents.
  [[nodiscard]] MethodCache& cache(const MethodInfo& method) const;
  /// The same if a call with these options may be answered from the cache, otherwise null.
  [[nodiscard]] MethodCache* cache(const MethodInfo& method, const CallOptions& options) const;
  /// The part of cache keys that separates agents: "=" and the agent, or "*" for any agent.
  [[nodiscard]] std::string_view agent_key() const noexcept;

  /// Makes one blocking call; a one-way call ends when it has been handed to a connection.
  void call(link::ReplySlot& slot, const MethodInfo& method, const protocol::RequestHead& head, Encode encode,
            const CallContext& context) const;

  /// Returns a connection on which the method can be called; waits for one as calls do, or until `stop`.
  [[nodiscard]] Outcome<Route> route(const MethodInfo& method, TimePoint deadline,
                                     const std::stop_token& stop) const;

  [[nodiscard]] bool in_process() const noexcept { return local_.servants != nullptr; }

  /// Whether interceptors of its client are around its calls. They are not around those that they make
  /// themselves.
  [[nodiscard]] bool is_intercepted() const noexcept {
    return interceptors_ != nullptr && interceptors_ != mf::detail::inside_interceptors;
  }
  /// Null: its client has none.
  [[nodiscard]] const mf::detail::InterceptorList* interceptors() const noexcept { return interceptors_; }
  /// The same target without interceptors.
  [[nodiscard]] Target past() const;
  /// For an in-process client: the owner of the servant that local() found, and the servants that run its
  /// streams.
  [[nodiscard]] std::shared_ptr<Servant> shared_servant() const;
  [[nodiscard]] std::shared_ptr<const LocalServants> servants() const;

  /// What all targets of its client share.
  [[nodiscard]] const std::shared_ptr<Core>& core() const noexcept;
  /// As users write it; empty for any.
  [[nodiscard]] std::string_view agent_text() const noexcept { return local_.agent; }
  /// Nothing: any agent.
  [[nodiscard]] const std::optional<std::string>& agent() const noexcept;
  /// What another floor keeps for the service and agent: the object of an earlier call, as long as it lives,
  /// or that of `find`, which this target does not own. There is one kind of such objects.
  [[nodiscard]] std::shared_ptr<Shared> kept(FunctionRef<std::shared_ptr<Shared>()> find) const;

  struct State;
  [[nodiscard]] const std::shared_ptr<State>& state() const& noexcept { return state_; }
  [[nodiscard]] std::shared_ptr<State> state() && noexcept { return std::move(state_); }

 private:
  friend class ScatterTarget;
  explicit Target(std::shared_ptr<State> state);
  /// Makes one attempt of a call on a route to a server with another schema.
  static void call_adapted(link::ReplySlot& slot, const Route& route, const MethodInfo& method,
                           protocol::RequestHead head, Gathered& payload, TimePoint deadline);
  void call_stoppable(link::ReplySlot& slot, const MethodInfo& method, const protocol::RequestHead& head,
                      Encode encode, const CallContext& context) const;
  [[nodiscard]] Servant* local_servant() const;
  [[nodiscard]] Interfaces interfaces() const {
    if (void* const plain = plain_servant_.load(); plain != nullptr) [[likely]]
      return {.plain = plain};
    if (void* const async = async_servant_.load(); async != nullptr) return {.async = async};
    return find_interfaces();
  }
  [[nodiscard]] Interfaces find_interfaces() const;

  /// An atomic pointer that is copied with its target.
  class Cached {
   public:
    Cached() = default;
    Cached(const Cached& other) noexcept : pointer_(other.load()) {}
    Cached& operator=(const Cached& other) noexcept {
      store(other.load());
      return *this;
    }
    [[nodiscard]] void* load() const noexcept { return pointer_.load(std::memory_order_acquire); }
    void store(void* pointer) noexcept { pointer_.store(pointer, std::memory_order_release); }

   private:
    std::atomic<void*> pointer_{nullptr};
  };

  std::shared_ptr<State> state_;
  link::LocalTarget local_;                                    // refers to members of the state
  const mf::detail::InterceptorList* interceptors_ = nullptr;  // those of the client
  mutable Cached plain_servant_;
  mutable Cached async_servant_;  // only if there is no plain one
};

/// A call's context, including what it inherits from the call that this thread handles: the deadline, the
/// trace, and the keys of ClientOptions::forward_metadata.
class Context : public CallContext {
 public:
  /// Keeps references to the options, and to `call_facts`. Its deadline counts from `made`.
  Context(const Target& target, const CallOptions& options, const MethodInfo& method,
          TimePoint made = mf::now(), const std::shared_ptr<CallFacts>* call_facts = nullptr);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  Metadata composed_;
};

/// Inserts the metadata before a payload that is already encoded. Throws Error(MESSAGE_TOO_LARGE).
void prepend_metadata(Gathered& payload, const Metadata& metadata);

/// Several agents of a service: the named ones, or all that are known at the time of a call.
class ScatterTarget {
 public:
  ScatterTarget(const Target& target, std::vector<std::string> agents);
  explicit ScatterTarget(const Target& target);

  /// A target for each agent. Without names it takes those known now, and throws Error(UNAVAILABLE) if there
  /// are none.
  [[nodiscard]] std::vector<std::pair<std::string, Target>> targets(TimePoint deadline) const;
  [[nodiscard]] bool in_process() const noexcept { return target_.in_process(); }
  [[nodiscard]] const Target& target() const noexcept { return target_; }

 private:
  Target target_;
  std::optional<std::vector<std::string>> agents_;
};

}  // namespace mf::client
