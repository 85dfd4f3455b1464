// Where a stub's calls go: one service, and which of its agents. Knows encoded bytes, routes and retries;
// types are call.hpp's business.
//
// A target keeps the connections that it has used and picks the one with fewer calls in flight of two drawn
// at random. While instances that are offered cannot be reached they are tried again in the background, a few
// times a second while calls are made. Targets of one client for the same service and agent share all this.
//
// A blocking call that never left, or whose method is idempotent, is sent again at most twice, to another
// server if there is one. An asynchronous one is, if its connection turns out to be gone before it is given
// to it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/function_ref.hpp"
#include "mf/core/options.hpp"
#include "mf/core/service.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/link/local.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/session.hpp"

namespace mf::link {
class ClientLink;
class Waiter;
}  // namespace mf::link

namespace mf::client {

/// A connection on which the target's service is bound.
struct Route {
  std::shared_ptr<link::ClientLink> link;
  std::uint16_t first = 0;
};

/// Writes the request's payload into the buffer; called again for each attempt.
using Encode = FunctionRef<void(Buffer&)>;

class Target {
 public:
  Target(const Client& client, const ServiceInfo& service);
  ~Target();
  Target(const Target&);
  Target& operator=(const Target&);

  [[nodiscard]] Target at(std::string_view agent) const;
  [[nodiscard]] Target any() const;
  [[nodiscard]] const ServiceInfo& service() const noexcept;

  /// The servant, if the client is an in-process one; throws Error(UNKNOWN_SERVICE or UNKNOWN_AGENT) if
  /// that has none for this target. Found once: then it costs one branch. All methods M of a target belong to
  /// its service, so they agree about the type.
  template <class M>
  [[nodiscard]] link::LocalOf<M> local() const {
    if (!in_process_) [[likely]]
      return {};
    // By the name of the service, which one generated class alone has: it need not be complete here.
    const auto found = interfaces();
    return {.plain = static_cast<typename M::Servant*>(found.plain),
            .async = static_cast<typename M::AsyncServant*>(found.async),
            .agent = agent_};
  }
  /// The same without its type.
  [[nodiscard]] link::LocalBatch local_batch() const;

  void call(link::ReplySlot& slot, const MethodInfo& method, const protocol::RequestHead& head, Encode encode,
            TimePoint deadline) const;
  void send_oneway(const MethodInfo& method, const protocol::RequestHead& head, Encode encode,
                   TimePoint deadline) const;

  /// Starts a call; `done` runs once, on this thread or another. Read by the reactor; with a waiter, which
  /// `done` finishes, and if a link is given back: by its drive().
  std::shared_ptr<link::ClientLink> start(const MethodInfo& method, const protocol::RequestHead& head,
                                          Buffer payload, TimePoint deadline, link::Completion done,
                                          link::Waiter* reader = nullptr) const;
  /// The same for a one-way call; how its sending ended.
  void start_oneway(const MethodInfo& method, const protocol::RequestHead& head, Buffer payload,
                    TimePoint deadline, UniqueFunction<void(Outcome<void>)> done) const;

  /// A connection to the service; waits for one as calls do.
  [[nodiscard]] Outcome<Route> route(TimePoint deadline) const;

  [[nodiscard]] bool in_process() const noexcept { return in_process_; }

  struct State;

 private:
  friend class ScatterTarget;

  explicit Target(std::shared_ptr<State> state);
  [[nodiscard]] Servant* local_servant() const;
  [[nodiscard]] Interfaces interfaces() const {
    if (void* const plain = plain_servant_.load(); plain != nullptr) [[likely]]
      return {.plain = plain};
    return find_interfaces();
  }
  [[nodiscard]] Interfaces find_interfaces() const;
  [[nodiscard]] Route ready_route() const;

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
  bool in_process_ = false;
  std::string_view agent_;  // lives in the state
  mutable Cached plain_servant_;
};

/// Several agents of a service at once: those named, or all that are known at the time of a call.
class ScatterTarget {
 public:
  ScatterTarget(const Target& target, std::vector<std::string> agents);
  explicit ScatterTarget(const Target& target);

  /// One target an agent; for "everywhere" those known now. Throws Error(UNAVAILABLE) if that is none.
  [[nodiscard]] std::vector<std::pair<std::string, Target>> targets(TimePoint deadline) const;
  [[nodiscard]] bool in_process() const noexcept { return target_.in_process(); }

 private:
  Target target_;
  std::optional<std::vector<std::string>> agents_;
};

}  // namespace mf::client
