#include "mf/controller/file_store.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "controller/drawn_ids.hpp"
#include "controller/durable_map.hpp"
#include "controller/stored_values.hpp"
#include "mf/codec/value.hpp"
#include "mf/controller.hpp"
#include "mf/controller/etcd_store.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

std::uint32_t skip_ids(std::uint32_t next) noexcept {
  next += FileStore::kIdsSkippedAfterDamage;
  return next != 0 ? next : 1;
}

std::vector<stored::Change> one_change(std::string key, std::vector<std::byte> value) {
  std::vector<stored::Change> changes;
  changes.push_back({.key = std::move(key), .value = std::move(value)});
  return changes;
}

std::vector<stored::Change> removals(const std::vector<std::string>& keys) {
  std::vector<stored::Change> changes;
  for (const std::string& key : keys) changes.push_back({.key = key});
  return changes;
}

}  // namespace

FileStore::FileStore(const std::filesystem::path& path, const Log& log)
    : name_("file:" + path.string()),
      log_(log),
      map_(std::make_unique<DurableMap>(open_store_folder(path), DurableMap::Options{.log = log})),
      thread_(std::make_unique<transport::Workers>(1, log)) {}

FileStore::FileStore(std::unique_ptr<StoreFolder> folder, const Log& log, std::size_t rewrite_from)
    : name_("file:" + folder->path()),
      log_(log),
      map_(std::make_unique<DurableMap>(
          std::move(folder),
          DurableMap::Options{.log = log, .own_thread = false, .rewrite_from = rewrite_from})) {}

FileStore::~FileStore() = default;

Stored FileStore::load() {
  const DurableMap::Loaded loaded = map_->load();
  std::vector<std::string> bad;
  Stored stored = read_stored(loaded.values, log_, bad);
  write(false, [&] { return removals(bad); });
  if ((loaded.damaged || !bad.empty()) && stored.next_client_id != 0) {
    stored.next_client_id = skip_ids(stored.next_client_id);
    (void)put_client_ids(stored.next_client_id);
  }
  next_client_id_ = stored.next_client_id;
  epoch_ = stored.epoch;
  if (stored.cluster == Uuid()) {
    stored.cluster = random_uuid();
    write(true, [&] { return one_change(kClusterKey, to_bytes(stored::Cluster{.id = stored.cluster})); });
  }
  return stored;
}

void FileStore::put(const Uuid& nonce, const stored::Process& process) noexcept {
  write(false, [&] { return process_changes(nonce, process, map_->keys_from(process_key(nonce))); });
}

void FileStore::change(const Uuid& nonce, const std::vector<Offer>& put,
                       const std::vector<Key>& removed) noexcept {
  write(false, [&] { return offer_changes(nonce, put, removed); });
}

void FileStore::remove(const Uuid& nonce) noexcept {
  write(false, [&] { return removals(map_->keys_from(process_key(nonce))); });
}

void FileStore::take_lead(const Key& /*key*/, std::uint64_t at_least, Done<std::uint64_t> done) noexcept {
  on_own_thread([this, at_least, done = std::move(done)]() mutable {
    epoch_ = std::max(at_least, epoch_ + 1);
    const bool durable =
        write(true, [&] { return one_change(kEpochKey, to_bytes(stored::Epoch{.epoch = epoch_})); });
    done(durable ? std::optional(epoch_) : std::nullopt);
  });
}

void FileStore::take_client_ids(std::uint32_t count, Done<std::uint32_t> done) noexcept {
  on_own_thread([this, count, done = std::move(done)]() mutable {
    const std::uint32_t first = take_ids(next_client_id_, count);
    done(put_client_ids(next_client_id_) ? std::optional(first) : std::nullopt);
  });
}

bool FileStore::put_client_ids(std::uint32_t next) noexcept {
  return write(true, [&] { return one_change(kClientIdsKey, to_bytes(stored::ClientIds{.next = next})); });
}

void FileStore::on_own_thread(UniqueFunction<void()> work) noexcept {
  if (thread_)
    thread_->submit(std::move(work));
  else
    work();
}

StoreStatus FileStore::state() const {
  const DurableMap::State state = map_->state();
  return {.name = name_, .ok = state.ok, .since = state.since, .reason = state.reason};
}

bool FileStore::tend() noexcept {
  return map_->tend();
}

template <class Changes>
bool FileStore::write(bool durable, Changes&& changes) noexcept {
  try {
    return map_->apply(changes(), durable);
  } catch (const std::exception&) {  // of a value that cannot be encoded
    log_escaped_exception(log_, "the controller's store");
    return false;
  }
}

std::shared_ptr<Store> open_store(std::string_view where, const Log& log, const EtcdOptions& etcd) {
  constexpr std::string_view kFile = "file:";
  if (where.starts_with("etcd://") || where.starts_with("etcds://"))
    return std::make_shared<EtcdStore>(where, log, etcd);
  if (etcd.tls != TlsOptions() || !etcd.user.empty() || !etcd.password.empty())
    throw Error(
        Code::invalid_argument, Execution::not_executed,
        "'" + std::string(where) + "' is no store in etcd, for which a user or files for TLS would be");
  if (where == "memory:") return std::make_shared<MemoryStore>();
  if (where.starts_with(kFile)) where.remove_prefix(kFile.size());
  if (where.empty() || where.find("://") != std::string_view::npos)
    throw Error(Code::invalid_argument, Execution::not_executed,
                "'" + std::string(where) +
                    "' is no store: say a folder's path, file:PATH, etcd://HOST:PORT, etcds://HOST:PORT, or "
                    "memory: to "
                    "keep nothing");
  return std::make_shared<FileStore>(std::filesystem::path(where), log);
}

}  // namespace mf::controller
