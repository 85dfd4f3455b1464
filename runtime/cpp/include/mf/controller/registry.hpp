#pragma once
// Who offers what: pure data, no clock, no lock, no socket. M to N: a name has many agents, an agent many
// names, and each key many processes, told apart by their nonces.
//
// A process belongs to whoever knows its secret, of which a hash is kept, and is charged to the connection
// over which it registered. It is there until it is removed, or until its lease is over, which every sign of
// life renews. One that comes from a store is not verified: it is charged to nobody, and counts until its
// lease is over unless it registers. One that is registered at another controller, which shares the store,
// has no lease here: it is there until it is removed.
//
// Every change goes to a log of changes, with a revision of its own; what is registered already changes
// nothing.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/controller/change_log.hpp"
#include "mf/controller/owner.hpp"
#include "mf/controller/place.hpp"
#include "mf/controller/stored.types.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

class Registry {
 public:
  /// Bounds against peers that register without end: of one connection, whatever processes it names, and of
  /// all. A process that offers nothing counts as one offer; bytes are those of names, addresses and labels.
  static constexpr std::size_t kMaxOffersOfOwner = 10'000;
  static constexpr std::size_t kMaxBytesOfOwner = std::size_t{16} << 20;
  static constexpr std::size_t kMaxOffers = 1'000'000;
  static constexpr std::size_t kMaxBytes = std::size_t{512} << 20;
  /// Processes that are gone and whose secrets are remembered, the latest ones: what their nonces are,
  /// everybody was told, and nobody else is to come back as one of them.
  static constexpr std::size_t kMaxGone = 65'536;

  enum class Standing : std::uint8_t { unknown, own, stranger };

  /// Somebody else offers a key that one of both wants alone.
  struct Shared {
    Key key;
    Uuid one;
    Uuid other;
  };

  explicit Registry(std::chrono::nanoseconds lease, ChangeLog log = ChangeLog())
      : lease_(lease), log_(std::move(log)) {}

  /// Is the process known, and is this its secret? Of one that is gone: `unknown`, or `stranger`.
  [[nodiscard]] Standing standing(const Credential& who) const;

  /// From a store: not verified.
  void load(const Uuid& nonce, const stored::Process& process, TimePoint now);
  /// The process is registered at another controller; a registration here is replaced.
  void put_elsewhere(const Uuid& nonce, const stored::Process& process);
  /// The offers of the process are these now. Throws Error(OVERLOADED), which names the bound, above one of
  /// them, and Error(INVALID_ARGUMENT) if one key is offered twice; nothing is changed then.
  void put(const Credential& who, const std::string& name, Owner owner, std::vector<Offer> offers,
           TimePoint now);
  /// The same by what changes: first those to be removed, then those to be added or replaced. A process that
  /// is there. True: something has changed.
  bool update(const Uuid& nonce, std::vector<Offer> put, const std::vector<Key>& remove, TimePoint now);
  /// False: it was not there.
  bool remove(const Uuid& nonce);
  /// Nobody knows whether the process is still there: as if it came from a store, until then.
  void doubt(const Uuid& nonce, TimePoint until);
  /// All leases begin anew.
  void renew_all(TimePoint now);
  /// The processes whose lease is over.
  [[nodiscard]] std::vector<Uuid> expired(TimePoint now) const;
  /// When expired() has something to say at the earliest.
  [[nodiscard]] TimePoint next_expiry() const {
    return by_expiry_.empty() ? kNever : by_expiry_.begin()->first;
  }

  /// For each key of the process that it or somebody else wants alone, one of the others, if there are any.
  [[nodiscard]] std::vector<Shared> shared(const Uuid& nonce) const;

  /// As a store keeps it; the process is there.
  [[nodiscard]] stored::Process stored(const Uuid& nonce) const;
  [[nodiscard]] const std::string& name_of(const Uuid& nonce) const { return processes_.at(nonce).name; }
  /// "demo.Echo for red, demo.Clock": what the process offers, for a line of a log, which has no room for
  /// hundreds.
  [[nodiscard]] std::string offered(const Uuid& nonce) const;

  struct Page {
    std::vector<std::shared_ptr<const Instance>> instances;
    /// Where it goes on; nothing: it was the last.
    std::optional<Place> last;
  };
  /// What matches, in the order of places, behind `after`; so much that it takes little time.
  [[nodiscard]] Page page(const Filter& filter, const std::optional<Place>& after, std::size_t most,
                          std::size_t most_bytes) const;
  /// The same of everything.
  [[nodiscard]] Page page(const std::optional<Place>& after, std::size_t most) const;

  [[nodiscard]] const ChangeLog& log() const noexcept { return log_; }
  [[nodiscard]] std::size_t processes() const noexcept { return processes_.size(); }
  [[nodiscard]] std::size_t offers() const noexcept { return places_.size(); }

 private:
  struct Cost {
    std::size_t offers = 0;
    std::size_t bytes = 0;
    Cost& operator+=(const Cost& other) noexcept;
    Cost& operator-=(const Cost& other) noexcept;
  };
  using Offers = std::map<Key, std::shared_ptr<const Instance>>;
  struct Process {
    Owner owner = kNoOwner;
    TimePoint expires{};
    Bytes secret_hash;
    std::string name;
    Offers offers;
    Cost cost;
  };

  [[nodiscard]] static Cost cost_of(const Offers& offers) noexcept;
  [[nodiscard]] std::shared_ptr<const Instance> instance_of(const Uuid& nonce, const Process& process,
                                                            Offer offer) const;
  /// Throws if the process may not cost this connection so much.
  void check(const Process& process, Owner owner, const Cost& cost) const;
  /// The process costs this, this connection.
  void charge(Process& process, Owner owner, Cost cost);
  /// Takes over a registration that comes from a store.
  void take(const Uuid& nonce, const stored::Process& process, Owner owner);
  void set_expiry(const Uuid& nonce, Process& process, TimePoint expires);
  void replace(const Uuid& nonce, Process& process, Offers after);
  void set(const Place& place, std::shared_ptr<const Instance> instance);
  void erase(const Place& place);

  std::chrono::nanoseconds lease_;
  ChangeLog log_;
  Cost total_;
  std::map<Owner, Cost> of_owner_;
  std::map<Uuid, Process> processes_;
  std::map<Uuid, Bytes> gone_;  // to the hashes of their secrets
  std::deque<Uuid> gone_order_;
  std::set<std::pair<TimePoint, Uuid>> by_expiry_;
  std::map<Place, std::shared_ptr<const Instance>> places_;
  std::map<Key, std::size_t> alone_;  // how many offers want to be alone there
};

}  // namespace mf::controller
