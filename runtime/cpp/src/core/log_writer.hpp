// The thread that writes the log to standard error, and the lines that wait for it. Writing may block: the
// reader of a pipe may have stopped, a terminal may be held, a disk may be slow.
//
// Lines are kept up to a limit. What is beyond it, and what standard error refuses, is counted, and a line
// says how many: lines_left_out count=N. Any thread may write, and none waits for the reader. The first line
// wakes the thread; those that follow it closely are found by the thread itself, since to wake it for each
// would cost its writer several times what the line does. There is one writer for each process: a forked
// child has none of its parent's threads, and begins with a new one.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "mf/core/log_output.hpp"

namespace mf {

class LogWriter {
 public:
  static constexpr std::size_t kMostKept = 10'000;
  /// How long flush() waits for each line.
  static constexpr std::chrono::milliseconds kPatience{250};

  /// How long the thread waits for more lines before it sleeps until one wakes it.
  static constexpr std::chrono::milliseconds kLinger{2};

  /// The writer of this process, which lives until it ends.
  static LogWriter& get();

  void write(Level level, std::string_view line, LogFormat format) noexcept;

  /// Waits until all lines are written, while each takes no longer than kPatience. False: some are not.
  bool flush() noexcept;

  /// The process ends, and the thread with it: from now on the caller of write() writes.
  void end() noexcept;

 private:
  using Time = std::chrono::system_clock::time_point;

  struct Line {
    Level level;
    LogFormat format;
    Time at;
    std::string text;
    std::uint64_t stands_for = 1;  // so many lines are lost with it
  };

  explicit LogWriter(const LogWriter* parent);

  [[nodiscard]] static Line count_of(std::uint64_t left_out, LogFormat format, Time at);
  void keep(Line line);
  [[nodiscard]] bool has_thread();
  void run();
  void wait_for_lines(std::unique_lock<std::mutex>& lock);
  void put(const Line& line);
  [[nodiscard]] std::string formatted(const Line& line) const;
  [[nodiscard]] bool is_journal() const noexcept;

  const pid_t process_ = ::getpid();
  // Of the process that has forked this one: it is kept, and not used any more.
  [[maybe_unused]] const LogWriter* const parent_;
  const std::string journal_;  // JOURNAL_STREAM
  std::mutex mutex_;           // guards all members below, but for refused_
  std::condition_variable is_filled_;
  std::condition_variable is_advanced_;
  std::deque<Line> lines_;
  std::uint64_t left_out_ = 0;  // since the last line that was kept
  std::uint64_t written_ = 0;
  bool is_writing_ = false;
  bool is_asleep_ = false;  // the thread waits to be woken by the next line
  bool has_started_ = false;
  bool is_ending_ = false;
  std::uint64_t refused_ =
      0;  // by standard error, since the last line that it took; of the thread that writes
};

}  // namespace mf
