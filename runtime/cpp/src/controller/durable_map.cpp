#include "controller/durable_map.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <utility>

#include "mf/codec/value.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/error.hpp"
#include "mf/core/random.hpp"

namespace mf::controller {
namespace {

constexpr const char* kCurrent = "registry";
constexpr const char* kPrevious = "registry.previous";
constexpr const char* kNew = "registry.new";
constexpr const char* kDamaged = "registry.damaged";

/// The bytes that a rewrite takes from the map while other threads wait.
constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::size_t kFewKeys = 16;
constexpr int kMostPieces = 256;
/// A file that grows is rewritten before StoreFolder::kMostRead could keep the next controller from reading
/// it.
constexpr std::uint64_t kMostBytesOfChanges = std::uint64_t{256} << 20;
constexpr std::chrono::seconds kFirstRetry{1};
constexpr std::chrono::seconds kLastRetry{16};

Timestamp wall_now() {
  return std::chrono::system_clock::now();
}

/// The content of one file, applied to what is known already.
struct FileContent {
  bool is_there = false;
  std::uint32_t version = kStoreVersion;
  bool has_snapshot = false;  // a complete one
  std::vector<ScannedFile::Damage> damages{};
};

FileContent read_file(const StoreFolder& folder, const char* name, DurableMap::Values& values) {
  std::vector<std::byte> bytes;
  const std::error_code error = folder.read(name, bytes);
  FileContent content;
  if (error == std::errc::no_such_file_or_directory) return content;
  if (error == std::errc::file_too_large || error == std::errc::not_supported)
    throw Error(Code::invalid_argument, Execution::not_executed,
                "the store's " + folder.path() + "/" + name +
                    (error == std::errc::file_too_large ? " is larger than any that a controller writes"
                                                        : " is no regular file") +
                    ": move it away, or name another folder with --store");
  ScannedFile scanned = scan_records(bytes);
  content.is_there = true;
  content.version = scanned.version;
  content.damages = std::move(scanned.damages);
  if (error) content.damages.push_back({bytes.size(), 0, "the rest cannot be read: " + error.message()});
  std::uint64_t keys = 0;
  for (const auto& item : scanned.records) {
    const auto record = from_bytes<stored::Record>(item.payload, {.decoded_bytes = 4 * kMaxRecord});
    if (!record) {
      content.damages.push_back({item.offset, item.payload.size(), record.error().message()});
      continue;
    }
    for (const stored::Change& change : record->changes) {
      if (change.value)
        values.insert_or_assign(change.key, *change.value);
      else
        values.erase(change.key);
    }
    if (content.has_snapshot) continue;
    keys += record->changes.size();
    content.has_snapshot = record->snapshot_size == keys;
  }
  if (!content.has_snapshot)
    content.damages.push_back({0, 0, "the snapshot that it begins with is not complete"});
  return content;
}

void refuse_other_version(const StoreFolder& folder, const FileContent& content) {
  if (content.version == kStoreVersion) return;
  throw Error(Code::invalid_argument, Execution::not_executed,
              "the store " + folder.path() + " has format " + std::to_string(content.version) +
                  ", and this mf-controller reads format " + std::to_string(kStoreVersion) +
                  ": run the release that wrote it, or name another folder with --store, where servers "
                  "register by themselves");
}

void log_damages(const Log& log, const StoreFolder& folder, const char* name, const FileContent& content) {
  constexpr std::size_t kMostLines = 8;
  for (std::size_t i = 0; i < std::min(content.damages.size(), kMostLines); ++i) {
    const auto& damage = content.damages[i];
    log.write(Level::error, "store_damaged",
              {{"file", folder.path() + "/" + name},
               {"what", damage.what},
               {"at", damage.offset},
               {"bytes", damage.size},
               {"places", content.damages.size()}});
  }
}

}  // namespace

DurableMap::DurableMap(std::unique_ptr<StoreFolder> folder, Options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  state_.since = wall_now();
}

DurableMap::~DurableMap() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

DurableMap::Loaded DurableMap::load() {
  const std::error_code unwritable = folder_->lock();
  Loaded loaded;
  const char* name = kCurrent;
  FileContent content = read_file(*folder_, name, loaded.values);
  if (!content.is_there) {
    // The process died between the two renames of a rewrite. The file that is otherwise the previous one has
    // every change.
    name = kPrevious;
    content = read_file(*folder_, name, loaded.values);
  }
  refuse_other_version(*folder_, content);
  if (content.is_there && !content.damages.empty()) {
    loaded.damaged = true;
    log_damages(options_.log, *folder_, name, content);
    if (!content.has_snapshot && name == kCurrent) mend(loaded.values);
    (void)folder_->link(name, kDamaged);
  }
  values_ = loaded.values;
  if (unwritable)
    degrade(refusal("to be opened", unwritable) + "; changes are kept in memory only");
  else
    tend();
  if (options_.own_thread) thread_ = std::thread([this] { run(); });
  return loaded;
}

void DurableMap::mend(Values& values) const {
  values.clear();
  const FileContent previous = read_file(*folder_, kPrevious, values);
  log_damages(options_.log, *folder_, kPrevious, previous);
  (void)read_file(*folder_, kCurrent, values);
  options_.log.write(Level::warning, "store_mended",
                     {{"file", folder_->path() + "/" + kCurrent},
                      {"with", previous.is_there ? "the previous copy, and what could be read of this one"
                                                 : "what could be read of it; there is no previous copy"},
                      {"entries", values.size()}});
}

bool DurableMap::apply(std::vector<stored::Change> changes, bool durable) noexcept {
  std::vector<std::shared_ptr<StoreFile>> to_sync;
  bool names = false;
  {
    const std::scoped_lock lock(mutex_);
    // Known changes are written already, but may still have to be made durable.
    if (!durable) std::erase_if(changes, [this](const stored::Change& change) { return is_known(change); });
    if (changes.empty()) return file_ != nullptr;
    stored::Record record{.changes = std::move(changes)};
    const bool written = append(to_bytes(record));
    for (stored::Change& change : record.changes) {
      if (rewriting_ && !rewriting_->file && (rewriting_->all || change.key <= rewriting_->last))
        rewriting_->late.insert(change.key);
      if (change.value)
        values_.insert_or_assign(std::move(change.key), std::move(*change.value));
      else
        values_.erase(change.key);
    }
    if (is_due()) wake_.notify_all();
    if (!written || !durable) return written;
    to_sync.push_back(file_);
    if (rewriting_ && rewriting_->file) to_sync.push_back(rewriting_->file);
    names = !names_are_durable_;
  }
  return sync(to_sync, names);
}

bool DurableMap::sync(const std::vector<std::shared_ptr<StoreFile>>& files, bool names) noexcept {
  std::error_code error;
  for (const auto& file : files)
    if (!error) error = file->sync();
  if (!error && names) error = folder_->sync();
  const std::scoped_lock lock(mutex_);
  if (!error) {
    names_are_durable_ = names_are_durable_ || (names && file_ == files.front());
    return true;
  }
  // Data that sync() refused may never reach the disk.
  if (rewriting_ && rewriting_->file) rewriting_->error = error;
  if (std::ranges::find(files, file_) != files.end()) {
    file_.reset();
    degrade(refusal("a change", error) + "; changes are kept in memory only");
  }
  return false;
}

bool DurableMap::is_known(const stored::Change& change) const {
  const auto known = values_.find(change.key);
  return change.value ? known != values_.end() && known->second == *change.value : known == values_.end();
}

std::vector<std::string> DurableMap::keys_from(std::string_view beginning) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> keys;
  for (auto at = values_.lower_bound(beginning); at != values_.end() && at->first.starts_with(beginning);
       ++at)
    keys.push_back(at->first);
  return keys;
}

bool DurableMap::append(std::span<const std::byte> payload) noexcept {
  if (rewriting_ && rewriting_->file && !rewriting_->error) {
    std::vector<std::byte> bytes;
    rewriting_->writer->record(bytes, payload);
    rewriting_->error = rewriting_->file->append(bytes);
    rewriting_->changes_size += bytes.size();
    // The new file may be getting its name at this moment.
    if (rewriting_->error)
      degrade(refusal("a change", rewriting_->error) + "; changes are safe when a new file has them");
  }
  if (!file_) return false;
  std::vector<std::byte> bytes;
  writer_->record(bytes, payload);
  if (const std::error_code error = file_->append(bytes)) {
    file_.reset();  // its end is unknown now
    degrade(refusal("a change", error) + "; changes are kept in memory only");
    return false;
  }
  changes_size_ += bytes.size();
  if (!rewriting_) look_for_file();
  if (!file_) return false;
  return !rewriting_ || !rewriting_->error;
}

void DurableMap::look_for_file() {
  if (!file_ || !folder_->is_gone(kCurrent)) return;
  file_.reset();
  degrade(folder_->path() + "/" + kCurrent + " was removed; changes are kept in memory only");
}

DurableMap::State DurableMap::state() {
  const std::scoped_lock lock(mutex_);
  if (!rewriting_) look_for_file();
  return state_;
}

bool DurableMap::is_due() const noexcept {
  return !file_ || changes_size_ >= std::min(std::max<std::uint64_t>(options_.rewrite_from, snapshot_size_),
                                             kMostBytesOfChanges);
}

bool DurableMap::tend() noexcept {
  const std::scoped_lock alone(one_rewriting_);
  {
    const std::scoped_lock lock(mutex_);
    if (!is_due()) return true;
  }
  std::string problem;
  try {
    problem = rewrite();
  } catch (const std::exception& error) {  // from lock(), or for lack of memory
    problem = error.what();
  }
  const std::scoped_lock lock(mutex_);
  rewriting_.reset();
  if (problem.empty()) {
    recover();
    return true;
  }
  degrade(problem + (file_ ? "; changes are still written, to a file that grows"
                           : "; changes are kept in memory only"));
  return false;
}

std::string DurableMap::rewrite() {
  {
    // If the folder is another one, lock() opens it, and nothing else may look at it meanwhile.
    const std::scoped_lock lock(mutex_);
    look_for_file();
  }
  if (const std::error_code error = folder_->lock()) return refusal("to be opened", error);
  std::error_code error;
  const std::shared_ptr<StoreFile> file = folder_->create(kNew, error);
  if (error) return refusal("a new file", error);
  RecordWriter writer(random_number());
  std::uint64_t size = 0;
  std::vector<std::byte> bytes;
  const auto append = [&](const stored::Record& record) {
    writer.record(bytes, to_bytes(record));
    error = file->append(bytes);
    size += bytes.size();
    bytes.clear();
    return !error;
  };
  const auto refused = [&](const char* what) {
    folder_->remove(kNew);
    return refusal(what, error);
  };

  writer.header(bytes);
  std::uint64_t keys = 0;
  for (bool more = true; more;) {
    stored::Record record;
    more = take_keys(record);
    keys += record.changes.size();
    if (!more) record.snapshot_size = keys;
    if (!append(record)) return refused("a new file");
  }
  const std::uint64_t snapshot_size = size;
  error = file->sync();
  if (error) return refused("to keep a new file");

  // Changes in the meantime, piece by piece, until the rest fits into the time for which other threads may
  // wait.
  for (int pieces = 0; pieces < kMostPieces; ++pieces) {
    stored::Record record;
    {
      const std::scoped_lock lock(mutex_);
      if (rewriting_->late.size() <= kFewKeys) break;
      take_late(record);
    }
    if (!append(record)) return refused("a new file");
  }
  {
    const std::scoped_lock lock(mutex_);
    while (!rewriting_->late.empty()) {
      stored::Record record;
      take_late(record);
      if (!append(record)) return refused("a new file");
    }
    rewriting_->file = file;
    rewriting_->writer = writer;
    rewriting_->changes_size = size - snapshot_size;
  }
  // No other thread waits for the disk during this: later changes are in both files.
  error = file->sync();
  if (!error) {
    const std::scoped_lock lock(mutex_);
    error = rewriting_->error;  // then the old file has more, and keeps its name
  }
  if (error) return refused("to keep a new file");
  error = rename_files();
  const bool names_are_durable = !error && !folder_->sync();
  const std::scoped_lock lock(mutex_);
  if (error) return refused("to name a new file");
  const Rewriting done = *std::exchange(rewriting_, std::nullopt);
  file_.reset();
  if (done.error) return refusal("a change", done.error);
  file_ = file;
  writer_ = done.writer;
  snapshot_size_ = snapshot_size;
  changes_size_ = done.changes_size;
  names_are_durable_ = names_are_durable;
  return {};
}

bool DurableMap::take_keys(stored::Record& record) {
  const std::scoped_lock lock(mutex_);
  auto at = values_.begin();
  if (rewriting_)
    at = values_.upper_bound(rewriting_->last);
  else
    rewriting_.emplace();
  for (std::size_t size = 0; at != values_.end() && size < kPiece; ++at) {
    record.changes.push_back({.key = at->first, .value = at->second});
    size += at->first.size() + at->second.size();
  }
  if (!record.changes.empty()) rewriting_->last = record.changes.back().key;
  rewriting_->all = at == values_.end();
  return !rewriting_->all;
}

void DurableMap::take_late(stored::Record& record) {
  auto& late = rewriting_->late;
  for (std::size_t size = 0; !late.empty() && size < kPiece;) {
    const auto node = late.extract(late.begin());
    stored::Change change{.key = node.value()};
    if (const auto known = values_.find(change.key); known != values_.end()) change.value = known->second;
    size += change.key.size() + (change.value ? change.value->size() : 0);
    record.changes.push_back(std::move(change));
  }
}

std::error_code DurableMap::rename_files() noexcept {
  const std::error_code error = folder_->rename(kCurrent, kPrevious);
  if (error && error != std::errc::no_such_file_or_directory) return error;
  return folder_->rename(kNew, kCurrent);
}

std::string DurableMap::refusal(const std::string& what, std::error_code error) const {
  return folder_->path() + " refuses " + what + ": " + error.message();
}

void DurableMap::degrade(const std::string& reason) {
  if (state_.ok) {
    options_.log.write(Level::error, "store_degraded", {{"reason", reason}});
    state_.since = wall_now();
  }
  state_.ok = false;
  state_.reason = reason;
  wake_.notify_all();
}

void DurableMap::recover() {
  if (state_.ok) return;
  options_.log.write(Level::warning, "store_recovered",
                     {{"file", folder_->path()}, {"entries", values_.size()}});
  state_ = {.ok = true, .since = wall_now()};
}

void DurableMap::run() {
  std::chrono::seconds retry = kFirstRetry;
  std::unique_lock lock(mutex_);
  while (!closed_) {
    if (state_.ok && !is_due()) {
      retry = kFirstRetry;
      wake_.wait(lock);
      continue;
    }
    if (!state_.ok) {
      const auto until = std::chrono::steady_clock::now() + retry;
      while (!closed_ && std::chrono::steady_clock::now() < until) wake_.wait_until(lock, until);
      retry = std::min(2 * retry, kLastRetry);
      if (closed_) return;
    }
    lock.unlock();
    tend();
    lock.lock();
  }
}

}  // namespace mf::controller
