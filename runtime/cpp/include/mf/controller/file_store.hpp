#pragma once
// The store in files of a folder: what mf-controller keeps unless it is told otherwise.
//
// What put() and remove() have returned from survives the death of the process; epochs and client ids the
// death of the machine, too. Damage is found by sums, reported in the log, and costs what it hits and nothing
// else (docs/operations.md, decision 0034). A disk that is full, read-only or broken makes the store
// degraded, until it is not. One process has a folder at a time.

#include <filesystem>
#include <memory>
#include <string_view>

#include "mf/controller/store.hpp"
#include "mf/core/log.hpp"

namespace mf::controller {

class DurableMap;
class StoreFolder;

class FileStore final : public Store {
 public:
  /// After damage, client ids go on this far behind the last that is known to have been given.
  static constexpr std::uint32_t kIdsSkippedAfterDamage = std::uint32_t{1} << 20;

  /// Opens nothing before load().
  explicit FileStore(const std::filesystem::path& path, const Log& log = {});
  /// In tests: files that fail, and without a thread: tend() then does what it would.
  FileStore(std::unique_ptr<StoreFolder> folder, const Log& log, std::size_t rewrite_from);
  ~FileStore() override;

  [[nodiscard]] Stored load() override;
  void put(const Uuid& nonce, const stored::Process& process) noexcept override;
  void change(const Uuid& nonce, const std::vector<Offer>& put,
              const std::vector<Key>& removed) noexcept override;
  void remove(const Uuid& nonce) noexcept override;
  [[nodiscard]] bool put_epoch(const Key& key, std::uint64_t epoch) noexcept override;
  [[nodiscard]] bool put_client_ids(std::uint32_t next) noexcept override;
  [[nodiscard]] StoreStatus state() const override;

  /// Rewrites the files if that is due, or was refused before. True if there is nothing left to do.
  bool tend() noexcept;

 private:
  template <class Changes>
  bool write(bool durable, Changes&& changes) noexcept;

  const std::string name_;
  const Log log_;
  const std::unique_ptr<DurableMap> map_;
};

/// "memory:", "file:PATH" or PATH. Throws Error for anything else.
[[nodiscard]] std::shared_ptr<Store> open_store(std::string_view where, const Log& log);

}  // namespace mf::controller
