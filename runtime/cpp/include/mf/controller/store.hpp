#pragma once
// Where a controller keeps what it knows beyond its own life. What it reads from there is unverified: it
// counts until the lease is over, unless the process is heard of again.
//
// load() comes first and once. Registrations are told under the controller's lock, in the order of the
// changes. A store that cannot write never fails one: the controller goes on from memory, and state() says
// so. Leads and client ids are another matter: they must never be given twice, and may take as long as a disk
// does. They are asked for without a lock, and answered when they are durable.
//
// MemoryStore lives as long as whoever holds it: with it a restarted process begins anew, and a test can
// restart a controller.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/controller/stored.types.hpp"
#include "mf/core/types.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::controller {

/// What a store holds.
struct Stored {
  /// By nonce.
  std::map<Uuid, stored::Process> processes{};
  /// The highest that was given, whatever for.
  std::uint64_t epoch = 0;
  /// Where the next block of client ids begins; 0: none was ever taken.
  std::uint32_t next_client_id = 0;
  /// Made with the store, at random, and kept with it: whoever shares the store shares it.
  Uuid cluster{};
};

/// What a store tells that several controllers share. Called on a thread of the store, without its lock.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  /// What others have registered for these processes has changed: elsewhere() says what it is now.
  virtual void changed(const std::vector<Uuid>& nonces) = 0;
  /// A lead that was refused may be had now.
  virtual void leads_may_be_had() = 0;
  /// Whoever leads does so no longer: others may be given these leads from now on.
  virtual void leads_lost() = 0;
  /// Which cluster it is, where load() did not know it yet.
  virtual void cluster_is(const Uuid& cluster) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  /// Throws Error, which says what is wrong with the store and what to do about it.
  [[nodiscard]] virtual Stored load() = 0;

  /// Whoever is to hear what other controllers change; null: nobody. Before load(), if at all.
  virtual void listen(std::shared_ptr<StoreListener> /*listener*/) {}
  /// What controllers that live and share this store have registered for the process; nothing: none has. It
  /// stays known, while the store cannot be reached, as it was.
  [[nodiscard]] virtual std::optional<stored::Process> elsewhere(const Uuid& /*nonce*/) const {
    return std::nullopt;
  }

  /// The process has these offers now, and no others. When this returns, a store of this host does not lose
  /// it by the death of this controller's process, unless state() says so. One that several controllers share
  /// has it a moment later: who registers with one of them that dies meanwhile has to register again.
  virtual void put(const Uuid& nonce, const stored::Process& process) noexcept = 0;
  /// The same by what has changed: first those that are removed, then those that are added or replaced.
  virtual void change(const Uuid& nonce, const std::vector<Offer>& put,
                      const std::vector<Key>& removed) noexcept = 0;
  virtual void remove(const Uuid& nonce) noexcept = 0;

  /// Called once, before the function that was given it returns or on a thread of the store, and without a
  /// lock of the store. Nothing: the store cannot promise it now. A store that ends may not call it any more.
  template <class T>
  using Done = UniqueFunction<void(std::optional<T>)>;

  /// The lead of the key is this controller's, with the epoch that `done` gets: at least `at_least`, and
  /// larger than all that the store gave before, for whatever key. It is durable, also if the machine loses
  /// its power now.
  virtual void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept = 0;
  /// Somebody else may lead: the one who had this epoch does not any more.
  virtual void give_up_lead(const Key& /*key*/, std::uint64_t /*epoch*/) noexcept {}
  /// So many client ids, those from the one on that `done` gets, are durably this controller's. They wrap at
  /// 2^32, and 0 among them is none.
  virtual void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept = 0;

  /// Thread-safe, and without waiting for a disk.
  [[nodiscard]] virtual StoreStatus state() const = 0;
};

class MemoryStore final : public Store {
 public:
  MemoryStore();

  [[nodiscard]] Stored load() override;
  void put(const Uuid& nonce, const stored::Process& process) noexcept override;
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override;
  void remove(const Uuid& nonce) noexcept override;
  void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept override;
  void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept override;
  [[nodiscard]] StoreStatus state() const override { return state_; }

 private:
  std::mutex mutex_;
  Stored content_;
  StoreStatus state_;
};

}  // namespace mf::controller
