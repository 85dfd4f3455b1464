#pragma once
// A map of text to bytes that survives its process, in a folder of its own:
//
//     registry           a snapshot, and behind it every change since, as record_file.hpp lays them out
//     registry.previous  the same of before: its last state is the snapshot of `registry`
//     registry.damaged   what `registry` was when damage was found in it, for a person to look at
//     lock               locked while a process has the folder; holds its process id
//
// apply() is one write(2): the death of the process loses nothing that it has returned from. Where asked for
// it also waits for the disk, so that the death of the machine does not either; others do not wait with it.
//
// A file only ever grows; when its changes outweigh its snapshot it is rewritten: all that is known goes into
// a new file, which takes its place once it is on the disk. That happens beside apply(), which waits for
// 64 KiB of it at most, by a thread of its own or by tend(). While the new file is on its way to the disk and
// gets its name, changes are written to both.
//
// A disk that refuses a write makes the map degraded: it goes on in memory, and tries to write a new file,
// at first after a second, then more rarely, until that succeeds. It logs both, once each.
//
// Thread-safe but for load(), which comes first.

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
#include "mf/controller/stored.types.hpp"
#include "mf/core/log.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

/// How far the new file of a DurableMap has come.
struct Rewriting {
  std::string last{};                         // keys up to here have been written,
  bool all = false;                           // or all that there were
  std::set<std::string, std::less<>> late{};  // those that have changed since they were
  std::shared_ptr<StoreFile> file{};          // it has all; what changes from now on is written to it, too
  std::optional<RecordWriter> writer{};
  std::uint64_t changes_size = 0;  // of what came behind its snapshot
  std::error_code error{};         // of a change that it has not taken
};

class DurableMap {
 public:
  using Values = std::map<std::string, Bytes, std::less<>>;

  struct Options {
    Log log{};
    bool own_thread = true;  // false: the owner calls tend()
    /// A file is not rewritten before its changes have so many bytes.
    std::size_t rewrite_from = std::size_t{4} << 20;
  };

  struct Loaded {
    Values values;
    /// Something was lost or may have been, and the log says what: entries may be missing, old, or back
    /// again.
    bool damaged = false;
  };

  struct State {
    bool ok = true;
    Timestamp since{};
    std::string reason{};
  };

  DurableMap(std::unique_ptr<StoreFolder> folder, Options options);
  ~DurableMap();

  /// Throws Error where a person has to do something: another process has the folder, it cannot be opened, a
  /// newer release has written it. A disk that cannot be written to only makes the map degraded.
  [[nodiscard]] Loaded load();

  /// All of them or, where the process dies meanwhile, none; each key once. False: in memory only. With
  /// `durable` they are on the disk, else they are the kernel's to write.
  bool apply(std::vector<stored::Change> changes, bool durable) noexcept;
  [[nodiscard]] std::vector<std::string> keys_from(std::string_view beginning) const;

  [[nodiscard]] State state() const;
  /// Rewrites the file if that is due, or was refused before. True if there is nothing left to do.
  bool tend() noexcept;

 private:
  [[nodiscard]] bool is_known(const stored::Change& change) const;
  /// False: not all files that there are have it.
  bool append(std::span<const std::byte> payload) noexcept;
  /// Waits for the disk, without the lock.
  bool sync(const std::vector<std::shared_ptr<StoreFile>>& files, bool names) noexcept;
  [[nodiscard]] bool is_due() const noexcept;
  /// Why it did not succeed; nothing if it did.
  [[nodiscard]] std::string rewrite();
  void mend(Values& values) const;
  /// A piece of the keys that are next. False: there are no more.
  bool take_keys(stored::Record& record);
  void take_late(stored::Record& record);
  [[nodiscard]] std::string refusal(const std::string& what, std::error_code error) const;
  [[nodiscard]] std::error_code rename_files() noexcept;
  void degrade(const std::string& reason);
  void recover();
  void run();

  const std::unique_ptr<StoreFolder> folder_;
  const Options options_;

  mutable std::mutex mutex_;
  Values values_;
  std::shared_ptr<StoreFile> file_;  // null: nothing is written until the next rewriting
  std::optional<RecordWriter> writer_;
  std::uint64_t snapshot_size_ = 0;  // of the file's snapshot, in bytes
  std::uint64_t changes_size_ = 0;   // of what came behind it
  bool names_are_durable_ = true;    // false: the file's name may not be on the disk yet
  std::optional<Rewriting> rewriting_;
  State state_;

  std::mutex one_rewriting_;
  std::condition_variable wake_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace mf::controller
