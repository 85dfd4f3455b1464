#pragma once
// A map of text to bytes that survives its process, in a folder of its own:
//
//     registry           a snapshot, followed by every change since, in the format of record_file.hpp
//     registry.previous  the file before it: its last state is the snapshot of `registry`
//     registry.damaged   a copy of `registry` when damage was found in it, for a person to look at
//     lock               locked while a process uses the folder; contains its process id
//
// apply() is one write(2): what it has returned from survives the death of the process. On request it also
// waits for the disk, so that the change survives the death of the machine; other threads do not wait with
// it.
//
// A file only grows; when its changes outweigh its snapshot it is rewritten: all entries go into a new file,
// which replaces it once it is on the disk. A thread, or tend(), does this in parallel with apply(), which
// waits for 64 KiB of it at most. While the new file is being synced and renamed, changes are written to
// both.
//
// A disk that refuses a write makes the map degraded: it continues in memory, and tries to write a new file,
// at first after a second, then less often, until that succeeds. It logs both, once each.
//
// Thread-safe except for load(), which must be called first.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "controller/record_file.hpp"
#include "controller/store_folder.hpp"
#include "mf/controller/stored.hpp"
#include "mf/core/log.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// The progress of a DurableMap's new file.
struct Rewriting {
  std::string last{};                         // keys up to here were written,
  bool all = false;                           // or all existing ones
  std::set<std::string, std::less<>> late{};  // keys that changed after they were written
  std::shared_ptr<StoreFile> file{};          // it is complete; later changes are written to it, too
  std::optional<RecordWriter> writer{};
  std::uint64_t changes_size = 0;  // the size of the changes after its snapshot
  std::error_code error{};         // of a change that could not be written to it
};

class DurableMap {
 public:
  using Values = std::map<std::string, Bytes, std::less<>>;

  struct Options {
    Log log{};
    bool own_thread = true;  // false: the owner calls tend()
    /// A file is rewritten only when its changes have this many bytes.
    std::size_t rewrite_from = std::size_t{4} << 20;
  };

  struct Loaded {
    Values values;
    /// Something was lost or may have been, as the log says: entries may be missing, outdated, or restored.
    bool damaged = false;
  };

  struct State {
    bool ok = true;
    Timestamp since{};
    std::string reason{};
  };

  DurableMap(std::unique_ptr<StoreFolder> folder, Options options);
  ~DurableMap();

  /// Throws Error if a person has to act: another process uses the folder, it cannot be opened, or a newer
  /// release has written it. A disk that cannot be written to only makes the map degraded.
  [[nodiscard]] Loaded load();

  /// Applies all changes or, if the process dies meanwhile, none; each key only once. False: in memory only.
  /// With `durable` they are on the disk, otherwise the kernel has them.
  bool apply(std::vector<stored::Change> changes, bool durable) noexcept;
  [[nodiscard]] std::vector<std::string> keys_from(std::string_view beginning) const;

  /// The state of the file. It also notices that another program has removed the file.
  [[nodiscard]] State state();
  /// Rewrites the file if that is due, or failed before. True if there is nothing left to do.
  bool tend() noexcept;

 private:
  [[nodiscard]] bool is_known(const stored::Change& change) const;
  /// False if not all existing files have it.
  bool append(std::span<const std::byte> payload) noexcept;
  /// Waits for the disk, without the lock.
  bool sync(const std::vector<std::shared_ptr<StoreFile>>& files, bool names) noexcept;
  [[nodiscard]] bool is_due() const noexcept;
  /// The reason for a failure; empty for success.
  [[nodiscard]] std::string rewrite();
  void mend(Values& values) const;
  /// Takes some of the next keys. False: there are no more.
  bool take_keys(stored::Record& record);
  void take_late(stored::Record& record);
  [[nodiscard]] std::string refusal(const std::string& what, std::error_code error) const;
  [[nodiscard]] std::error_code rename_files() noexcept;
  /// Checks whether another program has removed the file. Under the lock, while nothing is rewritten.
  void look_for_file();
  void degrade(const std::string& reason);
  void recover();
  void run();

  const std::unique_ptr<StoreFolder> folder_;
  const Options options_;

  mutable std::mutex mutex_;
  Values values_;
  std::shared_ptr<StoreFile> file_;  // null: nothing is written until the next rewrite
  std::optional<RecordWriter> writer_;
  std::uint64_t snapshot_size_ = 0;  // the size of the file's snapshot, in bytes
  std::uint64_t changes_size_ = 0;   // the size of the changes after it
  bool names_are_durable_ = true;    // false: the file's name may not be on the disk yet
  std::optional<Rewriting> rewriting_;
  State state_;

  std::mutex one_rewriting_;
  std::condition_variable wake_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace mf::controller
