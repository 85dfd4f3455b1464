#pragma once
// Keeps a controller's data across restarts. Registrations that are loaded from there are unverified: each
// stays until its lease ends, unless the process registers again.
//
// load() is called first, and once. The controller passes registrations to the store under its lock, in the
// order of the changes. A store that cannot write never fails a registration: the controller continues from
// memory, and state() says so. Leads and client ids differ, since none may be given twice: each may take as
// long as a disk write. They are requested without the controller's lock, and answered when they are durable.
//
// A MemoryStore keeps nothing across restarts of the process; a test can restart a controller on the same
// object.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mf/controller.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/types.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::controller {

/// What a store holds.
struct Stored {
  /// By nonce.
  std::map<Uuid, stored::Process> processes{};
  /// The highest epoch that was given, for any key.
  std::uint64_t epoch = 0;
  /// The first id of the next block of client ids; 0: none was ever taken.
  std::uint32_t next_client_id = 0;
  /// Random, made with the store and kept in it; all controllers that share the store have the same one.
  Uuid cluster{};
};

/// Receives the news of a store that several controllers share, on a thread of the store, without its lock.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  /// Other controllers have changed the registrations of these processes; elsewhere() returns them.
  virtual void changed(const std::vector<Uuid>& nonces) = 0;
  /// A lead that was refused may be available now.
  virtual void leads_may_be_had() = 0;
  /// All leads that this controller gave are void: other controllers may give them from now on.
  virtual void leads_lost() = 0;
  /// The cluster's id, if load() did not know it yet.
  virtual void cluster_is(const Uuid& cluster) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  /// Throws Error, which says what is wrong with the store and how to repair it.
  [[nodiscard]] virtual Stored load() = 0;

  /// Sets the listener for changes by other controllers; null: none. Called before load(), if at all.
  virtual void listen(std::shared_ptr<StoreListener> /*listener*/) {}
  /// The registration of the process at live controllers that share this store; nothing if there is none.
  /// While the store cannot be reached, it returns the last known state.
  [[nodiscard]] virtual std::optional<stored::Process> elsewhere(const Uuid& /*nonce*/) const {
    return std::nullopt;
  }

  /// Replaces the offers of the process. When this returns, a store on this host keeps them even if the
  /// controller's process dies, unless state() says otherwise. A shared store has them a moment later: if the
  /// controller dies before that, the process has to register again.
  virtual void put(const Uuid& nonce, const stored::Process& process) noexcept = 0;
  /// Changes the offers of the process: first removes `removed`, then adds or replaces `put`.
  virtual void change(const Uuid& nonce, const std::vector<Offer>& put,
                      const std::vector<Key>& removed) noexcept = 0;
  virtual void remove(const Uuid& nonce) noexcept = 0;

  /// Called once without a lock of the store: on a thread of the store, or before the function that takes it
  /// returns. Nothing: the store cannot promise it now. A store that is being destroyed may drop the call.
  template <class T>
  using Done = UniqueFunction<void(std::optional<T>)>;

  /// Takes the lead of the key for this controller, with the epoch that `done` gets: at least `at_least`, and
  /// larger than all that the store gave before for any key. It is durable even if the machine loses power
  /// right after.
  virtual void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept = 0;
  /// Frees the lead that was taken with this epoch; its holder does not lead any more.
  virtual void give_up_lead(const Key& /*key*/, std::uint64_t /*epoch*/) noexcept {}
  /// Reserves `count` client ids durably for this controller; `done` gets the first. Ids wrap at 2^32, and a
  /// 0 among them is not used.
  virtual void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept = 0;

  /// Thread-safe; does not wait for a disk.
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
