#pragma once
// What a client's connection has asked its server for: bindings of services, and descriptions of them. A
// server holds a limited number of bindings (max_bindings): above it, the least recently used one that no
// call uses is taken back (binding.hpp).
//
// Lock. The link's, for all of it: what is asked goes into the session, which the link writes. Waiters are
// finished under it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/link/binding.hpp"
#include "mf/link/waiter.hpp"
#include "mf/protocol/session.hpp"

namespace mf::link {

/// A service as its server describes it.
struct Described {
  std::string text;  // empty: the server does not know the service
  std::string annex;
};

class Bindings {
 public:
  /// `peer`: the server as failures name it; lives as long as this.
  Bindings(protocol::Session& session, const std::string& peer) noexcept : session_(session), peer_(peer) {}

  /// The server has said how many it holds.
  void set_most(std::size_t most) noexcept { most_ = most; }

  /// Returns a pinned binding that is bound or requested. `broken`: why the connection has ended, if it has.
  [[nodiscard]] Outcome<std::shared_ptr<Binding>> begin(const ServiceInfo& service, const std::string& agent,
                                                        std::span<const std::byte> via,
                                                        const std::shared_ptr<const Adaptation>& adaptation,
                                                        const Failure* broken);
  /// Nothing if the binding is bound.
  [[nodiscard]] std::optional<Failure> why_not_bound(const Binding& binding, std::string_view service,
                                                     const Failure* broken) const;
  void on_bound(const protocol::Event& event);
  /// Whether an answer to a BIND is awaited.
  [[nodiscard]] bool awaited() const noexcept { return !asked_.empty(); }

  struct Description {
    bool answered = false;
    Described said;
    std::vector<Waiter*> waiters;
  };
  using Descriptions = std::map<std::pair<std::string, Fingerprint>, std::shared_ptr<Description>>;
  [[nodiscard]] Descriptions::iterator ask(std::string_view service, const Fingerprint& asked);
  /// The answer, if there is one. A description that is not awaited any more is forgotten, and its answer
  /// dropped.
  [[nodiscard]] std::optional<Described> take(const Descriptions::key_type& key, const Description& asked);
  void on_descriptor(const protocol::Event& event);

  /// The connection has ended: wakes all waiters for an answer.
  void end();

 private:
  /// Bindings of one service that differ in any member are different bindings.
  struct Key {
    std::string service;
    std::string agent;
    Fingerprint fingerprint{};
    std::vector<std::string> methods;
    std::shared_ptr<const Adaptation> adaptation{};
    auto operator<=>(const Key&) const = default;
  };
  [[nodiscard]] Outcome<std::shared_ptr<Binding>> ask(const ServiceInfo& service, Key&& key,
                                                      std::span<const std::byte> via);
  [[nodiscard]] bool make_room_for(std::size_t methods, std::uint16_t& first);
  [[nodiscard]] bool unbind_oldest();

  protocol::Session& session_;
  const std::string& peer_;
  std::size_t most_ = 1;
  std::map<Key, std::shared_ptr<Binding>> bindings_;                   // also requested ones
  std::unordered_map<std::uint16_t, std::shared_ptr<Binding>> asked_;  // requested ones, by their first route
  RouteNumbers route_numbers_;
  std::atomic<std::uint64_t> uses_{0};
  Descriptions descriptions_;  // that are awaited, by service and the fingerprint that was asked for
};

}  // namespace mf::link
