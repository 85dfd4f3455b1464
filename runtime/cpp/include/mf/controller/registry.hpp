#pragma once
// Who offers what: pure data, no clock, no lock, no socket. M to N: a service has many agents, an agent many
// services, and each (service, agent) many server processes, told apart by their nonces.
//
// A process is there as long as its owner, the connection over which it registered, and as its lease, which
// every sign of life renews. One that registers again over another connection belongs to that one: the end of
// the old one no longer concerns it.
//
// Each change of a service gives it a revision that it never had before. Functions that change something give
// the names of the services whose view is another one now; registering again what is registered already
// changes nothing.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// A connection; kNoOwner for entries that come from a store and whose server was not heard of yet.
using Owner = std::uint64_t;
inline constexpr Owner kNoOwner = ~Owner{0};

class Registry {
 public:
  /// Bounds against a peer that registers without end.
  static constexpr std::size_t kMaxOffersOfProcess = 10'000;
  static constexpr std::size_t kMaxOffers = 1'000'000;

  using Changed = std::set<std::string, std::less<>>;

  Registry(std::uint64_t epoch, std::chrono::nanoseconds lease) : epoch_(epoch), lease_(lease) {}

  /// The instances of the process are these now. Throws Error(OVERLOADED) above the bounds; nothing is
  /// changed then.
  Changed put(const Uuid& nonce, Owner owner, std::vector<Instance> instances, TimePoint now);
  /// Renews the lease, if the process is registered over that connection.
  [[nodiscard]] bool touch(const Uuid& nonce, Owner owner, TimePoint now);
  /// Nothing if the process is not registered.
  std::optional<Changed> remove(const Uuid& nonce);
  /// The connection has ended: so have the processes registered over it. Their nonces go to `gone`.
  Changed drop(Owner owner, std::vector<Uuid>& gone);
  Changed expire(TimePoint now, std::vector<Uuid>& gone);
  /// When expire() has something to do at the earliest.
  [[nodiscard]] TimePoint next_expiry() const;

  [[nodiscard]] View view(std::string_view service) const;
  [[nodiscard]] std::uint64_t revision(std::string_view service) const;
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::vector<Instance> all() const;

 private:
  using Offer = std::pair<std::string, std::string>;  // service, agent
  struct Process {
    Owner owner = kNoOwner;
    TimePoint expires{};
    std::map<Offer, Instance> offers;
  };
  struct Service {
    std::uint64_t revision = 0;
    std::map<std::pair<std::string, Uuid>, Instance> instances;  // by agent and nonce
  };

  void replace(const Uuid& nonce, const std::map<Offer, Instance>& before,
               const std::map<Offer, Instance>& after, Changed& changed);
  void mark(const Changed& changed);
  template <class Gone>
  Changed remove_if(Gone&& is_gone, std::vector<Uuid>& gone);

  std::uint64_t epoch_;
  std::chrono::nanoseconds lease_;
  std::uint64_t revisions_ = 0;
  std::size_t offers_ = 0;
  std::map<Uuid, Process> processes_;
  std::map<std::string, Service, std::less<>> services_;
};

}  // namespace mf::controller
