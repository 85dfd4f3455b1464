#pragma once
// Where a controller keeps what it knows beyond its own life. What it reads from there is unverified: it
// counts until the lease is over, unless the process is heard of again.
//
// Functions are called under the controller's lock, in the order of the changes, load() first and once. A
// store that cannot write never fails a registration: the controller goes on from memory, and state() says
// so. Epochs and client ids are another matter: they must never be given twice, so the controller hands one
// out once the store has said that it is durable.
//
// MemoryStore lives as long as whoever holds it: with it a restarted process begins anew, and a test can
// restart a controller.

#include <cstdint>
#include <map>
#include <vector>

#include "mf/controller.types.hpp"
#include "mf/controller/stored.types.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// What a store holds.
struct Stored {
  /// By nonce.
  std::map<Uuid, stored::Process> processes{};
  /// The highest that was given for a key.
  std::map<Key, std::uint64_t> epochs{};
  /// Where the next block of client ids begins; 0: none was ever taken.
  std::uint32_t next_client_id = 0;
  /// Made with the store, at random, and kept with it: whoever shares the store shares it.
  Uuid cluster{};
};

class Store {
 public:
  virtual ~Store() = default;

  /// Throws Error, which says what is wrong with the store and what to do about it.
  [[nodiscard]] virtual Stored load() = 0;

  /// The process has these offers now, and no others. When this returns, the death of this controller's
  /// process does not lose it, unless state() says so.
  virtual void put(const Uuid& nonce, const stored::Process& process) noexcept = 0;
  /// The same by what has changed: first those that are removed, then those that are added or replaced.
  virtual void change(const Uuid& nonce, const std::vector<Offer>& put,
                      const std::vector<Key>& removed) noexcept = 0;
  virtual void remove(const Uuid& nonce) noexcept = 0;

  /// True: it is durable, also if the machine loses its power now.
  [[nodiscard]] virtual bool put_epoch(const Key& key, std::uint64_t epoch) noexcept = 0;
  /// The next block of client ids begins here. True: it is durable.
  [[nodiscard]] virtual bool put_client_ids(std::uint32_t next) noexcept = 0;

  /// Thread-safe, and without waiting for a disk.
  [[nodiscard]] virtual StoreStatus state() const = 0;
};

class MemoryStore final : public Store {
 public:
  MemoryStore();

  [[nodiscard]] Stored load() override { return content_; }
  void put(const Uuid& nonce, const stored::Process& process) noexcept override;
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override;
  void remove(const Uuid& nonce) noexcept override { content_.processes.erase(nonce); }
  [[nodiscard]] bool put_epoch(const Key& key, std::uint64_t epoch) noexcept override;
  [[nodiscard]] bool put_client_ids(std::uint32_t next) noexcept override;
  [[nodiscard]] StoreStatus state() const override { return state_; }

 private:
  Stored content_;
  StoreStatus state_;
};

}  // namespace mf::controller
