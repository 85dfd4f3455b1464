#pragma once
// A store in files of a folder: the default of mf-controller.
//
// The effects of put() and remove() survive the death of the process when the functions have returned; epochs
// and client ids survive the death of the machine, too. Damage is detected by checksums and logged; only the
// damaged entries are lost (docs/operations.md, decision 0034). A disk that is full, read-only or broken
// makes the store degraded until it works again. Only one process may use a folder at a time.

#include <filesystem>
#include <memory>
#include <string_view>

#include "mf/controller/etcd_store.hpp"
#include "mf/controller/store.hpp"
#include "mf/core/log.hpp"
#include "mf/transport/workers.hpp"

namespace mf::controller {

class DurableMap;
class StoreFolder;

class FileStore final : public Store {
 public:
  /// After damage, client ids continue this far after the last one known to have been used.
  static constexpr std::uint32_t kIdsSkippedAfterDamage = std::uint32_t{1} << 20;

  /// Opens nothing before load().
  explicit FileStore(const std::filesystem::path& path, const Log& log = {});
  /// For tests, with files that fail. There are no threads: tests call tend(), and leads and client ids are
  /// durable when the functions return.
  FileStore(std::unique_ptr<StoreFolder> folder, const Log& log, std::size_t rewrite_from);
  ~FileStore() override;

  [[nodiscard]] Stored load() override;
  void put(const Uuid& nonce, const stored::Process& process) noexcept override;
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override;
  void remove(const Uuid& nonce) noexcept override;
  void take_lead(const Key& key, std::uint64_t at_least, Done<std::uint64_t> done) noexcept override;
  void take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept override;
  [[nodiscard]] StoreStatus state() const override;

  /// Rewrites the files if that is due, or failed before. True if there is nothing left to do.
  bool tend() noexcept;

 private:
  template <class Changes>
  bool write(bool durable, Changes&& changes) noexcept;
  /// Runs `work`, which waits for the disk, on the store's thread.
  void on_own_thread(UniqueFunction<void()> work) noexcept;
  bool put_client_ids(std::uint32_t next) noexcept;

  const std::string name_;
  const Log log_;
  const std::unique_ptr<DurableMap> map_;
  std::uint64_t epoch_ = 0;                     // used by load(), and after that only by the thread
  std::uint32_t next_client_id_ = 0;            // likewise
  std::unique_ptr<transport::Workers> thread_;  // for leads and client ids; last, as it uses all the others
};

/// `where`: "memory:", "etcd://HOST:PORT,…/PREFIX", "etcds://…", "file:PATH" or PATH. Throws Error for any
/// other text, and if `etcd` is set for a store that is not in etcd.
[[nodiscard]] std::shared_ptr<Store> open_store(std::string_view where, const Log& log,
                                                const EtcdOptions& etcd = {});

}  // namespace mf::controller
