#pragma once
// The offers of all processes: pure data, no clock, no lock, no socket. The relation is M to N: a name has
// many agents, an agent many names, and each key many processes, distinguished by their nonces.
//
// A process belongs to the clients that know its secret, whose hash is kept, and is charged to the connection
// over which it registered. It stays until it is removed, or until its lease ends, which every sign of life
// renews. An entry from a store is unverified: it is charged to no connection, and stays until its lease ends
// unless the process registers. A process that is registered at another controller which shares the store has
// no lease here: it stays until it is removed.
//
// Every change is added to a log of changes, with its own revision; registering the same again changes
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

#include "mf/controller.hpp"
#include "mf/controller/change_log.hpp"
#include "mf/controller/owner.hpp"
#include "mf/controller/place.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

class Registry {
 public:
  /// Limits against peers that register without end: for one connection, whatever processes it names, and for
  /// all together. A process without offers counts as one offer; bytes are those of names, addresses and
  /// labels.
  static constexpr std::size_t kMaxOffersOfOwner = 10'000;
  static constexpr std::size_t kMaxBytesOfOwner = std::size_t{16} << 20;
  /// The same for all connections of one host.
  static constexpr std::size_t kMaxOffersOfHost = 250'000;
  static constexpr std::size_t kMaxOffers = 1'000'000;
  static constexpr std::size_t kMaxBytes = std::size_t{512} << 20;
  /// How many secrets of removed processes are remembered, the latest ones: their nonces are public, and no
  /// other process may return under one of them.
  static constexpr std::size_t kMaxGone = 65'536;

  enum class Standing : std::uint8_t { unknown, own, stranger };

  /// A key that another process offers, too, although one of both wants to be alone.
  struct Shared {
    Key key;
    Uuid one;
    Uuid other;
  };

  explicit Registry(std::chrono::nanoseconds lease, ChangeLog log = ChangeLog(),
                    std::size_t most_of_host = kMaxOffersOfHost)
      : lease_(lease), most_of_host_(most_of_host), log_(std::move(log)) {}

  /// Whether the process is known, and this is its secret. For a removed process: `unknown`, or `stranger`.
  [[nodiscard]] Standing standing(const Credential& who) const;

  /// Adds an unverified entry from a store.
  void load(const Uuid& nonce, const stored::Process& process, TimePoint now);
  /// Adds a process that is registered at another controller; a registration here is replaced.
  void put_elsewhere(const Uuid& nonce, const stored::Process& process);
  /// What the process had proved of itself when it registered, also of one that was removed; nothing if it is
  /// not known.
  [[nodiscard]] std::optional<std::string> identity_of(const Uuid& nonce) const;

  /// Replaces the offers of the process, whose connection comes from `host` (empty: it is not counted).
  /// Throws Error(OVERLOADED), which names the limit, if one is exceeded, and Error(INVALID_ARGUMENT) if a
  /// key is offered twice or a weight is too large; nothing is changed then.
  void put(const Credential& who, const std::string& name, Owner owner, std::vector<Offer> offers,
           TimePoint now, const std::string& host = {}, const std::string& identity = {});
  /// The same by differences: first removes, then adds or replaces. The process must exist. True if anything
  /// has changed.
  bool update(const Uuid& nonce, std::vector<Offer> put, const std::vector<Key>& remove, TimePoint now);
  /// False if it was not registered.
  bool remove(const Uuid& nonce);
  /// Makes the entry unverified until then, as if it came from a store.
  void doubt(const Uuid& nonce, TimePoint until);
  /// Starts all leases again.
  void renew_all(TimePoint now);
  /// The processes whose leases have ended.
  [[nodiscard]] std::vector<Uuid> expired(TimePoint now) const;
  /// The earliest time when expired() may return a process.
  [[nodiscard]] TimePoint next_expiry() const {
    return by_expiry_.empty() ? kNever : by_expiry_.begin()->first;
  }

  /// For each key of the process that it or another process wants alone, one of the others if there are any.
  [[nodiscard]] std::vector<Shared> shared(const Uuid& nonce) const;

  /// The entry in the form of a store; the process must exist.
  [[nodiscard]] stored::Process stored(const Uuid& nonce) const;
  [[nodiscard]] const std::string& name_of(const Uuid& nonce) const { return processes_.at(nonce).name; }
  [[nodiscard]] bool offers(const Uuid& nonce, const Key& key) const;
  /// "demo.Echo for red, demo.Clock": the offers of the process, shortened for a line of a log.
  [[nodiscard]] std::string offered(const Uuid& nonce) const;

  struct Page {
    std::vector<std::shared_ptr<const Instance>> instances;
    /// Where the next page continues; nothing after the last one.
    std::optional<Place> last;
  };
  /// The matching instances after `after`, in the order of places; limited, so that it takes little time.
  [[nodiscard]] Page page(const Filter& filter, const std::optional<Place>& after, std::size_t most,
                          std::size_t most_bytes) const;
  /// The same for all instances.
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
    std::string host;  // of the owner; empty: it is charged to none
    TimePoint expires{};
    Bytes secret_hash;
    std::string name;
    std::string identity;
    Offers offers;
    Cost cost;
  };

  [[nodiscard]] static Cost cost_of(const Offers& offers) noexcept;
  [[nodiscard]] std::shared_ptr<const Instance> instance_of(const Uuid& nonce, const Process& process,
                                                            Offer offer) const;
  /// Throws if the process would exceed a limit of this connection, or of its host.
  void check(const Process& process, Owner owner, const std::string& host, const Cost& cost) const;
  /// Charges the cost of the process to this connection, and to its host.
  void charge(Process& process, Owner owner, const std::string& host, Cost cost);
  /// Takes over a registration that came from a store.
  void take(const Uuid& nonce, const stored::Process& process, Owner owner);
  void set_expiry(const Uuid& nonce, Process& process, TimePoint expires);
  void replace(const Uuid& nonce, Process& process, Offers after);
  void set(const Place& place, std::shared_ptr<const Instance> instance);
  void erase(const Place& place);

  std::chrono::nanoseconds lease_;
  std::size_t most_of_host_;
  ChangeLog log_;
  Cost total_;
  std::map<Owner, Cost> of_owner_;
  std::map<std::string, std::size_t> of_host_;  // offers
  std::map<Uuid, Process> processes_;
  /// What is remembered of a removed process.
  struct Removed {
    Bytes secret_hash;
    std::string identity;
  };
  std::map<Uuid, Removed> gone_;
  std::deque<Uuid> gone_order_;
  std::set<std::pair<TimePoint, Uuid>> by_expiry_;
  std::map<Place, std::shared_ptr<const Instance>> places_;
  std::map<Key, std::size_t> alone_;  // how many offers want to be alone there
};

}  // namespace mf::controller
