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
#include "mf/controller/owner.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

class Registry {
 public:
  /// Bounds against peers that register without end: of one connection, whatever processes it names, and of
  /// all. A process that offers nothing counts as one offer; bytes are those of names and addresses.
  static constexpr std::size_t kMaxOffersOfOwner = 10'000;
  static constexpr std::size_t kMaxBytesOfOwner = std::size_t{16} << 20;
  static constexpr std::size_t kMaxOffers = 1'000'000;
  static constexpr std::size_t kMaxBytes = std::size_t{512} << 20;

  using Changed = std::set<std::string, std::less<>>;

  Registry(std::uint64_t epoch, std::chrono::nanoseconds lease) : epoch_(epoch), lease_(lease) {}

  /// The instances of the process are these now. Throws Error(OVERLOADED), which names the bound, above one
  /// of them; nothing is changed then.
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
  struct Cost {
    std::size_t offers = 0;
    std::size_t bytes = 0;
    Cost& operator+=(const Cost& other) noexcept;
    Cost& operator-=(const Cost& other) noexcept;
  };
  struct Process {
    Owner owner = kNoOwner;
    TimePoint expires{};
    std::map<Offer, Instance> offers;
    Cost cost;
  };
  struct Service {
    std::uint64_t revision = 0;
    std::map<std::pair<std::string, Uuid>, Instance> instances;  // by agent and nonce
  };

  static Cost cost_of(const std::map<Offer, Instance>& offers) noexcept;
  void charge(Owner owner, const Cost& cost);
  void discharge(Owner owner, const Cost& cost);
  void replace(const Uuid& nonce, const std::map<Offer, Instance>& before,
               const std::map<Offer, Instance>& after, Changed& changed);
  void mark(const Changed& changed);
  template <class Gone>
  Changed remove_if(Gone&& is_gone, std::vector<Uuid>& gone);

  std::uint64_t epoch_;
  std::chrono::nanoseconds lease_;
  std::uint64_t revisions_ = 0;
  Cost total_;
  std::map<Owner, Cost> of_owner_;
  std::map<Uuid, Process> processes_;
  std::map<std::string, Service, std::less<>> services_;
};

}  // namespace mf::controller
