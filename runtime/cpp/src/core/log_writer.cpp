#include "core/log_writer.hpp"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>

namespace mf {
namespace {

constexpr std::size_t kMostWritten = PIPE_BUF;  // what a pipe takes in one piece

std::atomic<LogWriter*> writer_of_process{nullptr};

/// What syslog calls the level, as the journal reads it.
std::string_view priority(Level level) noexcept {
  switch (level) {
    case Level::debug:
      return "<7>";
    case Level::info:
      return "<6>";
    case Level::warning:
      return "<4>";
    default:
      return "<3>";
  }
}

std::string text_of(std::chrono::system_clock::time_point at) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 64> text{};
  const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(millis));
  return text.data();
}

/// Whether standard error takes PIPE_BUF bytes without blocking, as POSIX promises for a writable pipe.
/// Waits for that so long; -1: without an end, but for an error of standard error.
bool takes_a_line(int wait_for_ms) noexcept {
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&standard_error, 1, wait_for_ms) == 1 && standard_error.revents == POLLOUT;
}

/// One write for each line, so that lines of several processes do not mix. False: standard error is full, or
/// its reader has gone.
bool send(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      (void)takes_a_line(-1);
    else if (written == 0 || errno != EINTR)
      return false;
  }
  return true;
}

/// A new thread takes no signals: those of the process belong to the program's threads, and SIGPIPE would end
/// the process when the reader of the log has gone.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

void end_writer() {
  auto* const writer = writer_of_process.load(std::memory_order_acquire);
  if (writer != nullptr) writer->end();
}

// Registered before main(), and so called after the destructors of nearly all static objects.
[[maybe_unused]] const int flushes_at_exit = std::atexit(end_writer);

}  // namespace

LogWriter& LogWriter::get() {
  auto* writer = writer_of_process.load(std::memory_order_acquire);
  if (writer != nullptr && writer->process_ == ::getpid()) return *writer;
  auto* const made = new LogWriter(writer);
  if (writer_of_process.compare_exchange_strong(writer, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *writer;
}

LogWriter::LogWriter(const LogWriter* parent)
    : parent_(parent), journal_([] {
        const char* const stream = std::getenv("JOURNAL_STREAM");
        return stream == nullptr ? "" : stream;
      }()) {}

void LogWriter::write(Level level, std::string_view line, LogFormat format) noexcept {
  const std::unique_lock lock(mutex_);
  try {
    keep({.level = level,
          .format = format,
          .at = std::chrono::system_clock::now(),
          .text = std::string(line)});
  } catch (...) {
    ++left_out_;  // out of memory while logging: the running operation matters more
  }
}

// Holds the mutex.
void LogWriter::keep(Line line) {
  if (lines_.size() >= kMostKept) {
    ++left_out_;
    return;
  }
  if (!has_thread()) {
    // A thread that has no more than to end may still write its last line, and blocks.
    if (is_writing_ || !lines_.empty() || !takes_a_line(0))
      ++left_out_;
    else
      put(line);
    return;
  }
  if (left_out_ != 0) lines_.push_back(count_of(std::exchange(left_out_, 0), line.format, line.at));
  lines_.push_back(std::move(line));
  if (std::exchange(is_asleep_, false)) is_filled_.notify_one();
}

LogWriter::Line LogWriter::count_of(std::uint64_t left_out, LogFormat format, Time at) {
  return {.level = Level::warning,
          .format = format,
          .at = at,
          .text = "lines_left_out count=" + std::to_string(left_out),
          .stands_for = left_out};
}

// Holds the mutex.
bool LogWriter::has_thread() {
  if (is_ending_) return false;
  if (has_started_) return true;
  try {
    const WithoutSignals without_signals;
    std::thread thread([this] { run(); });
    ::pthread_setname_np(thread.native_handle(), "mf-log");
    thread.detach();
    has_started_ = true;
  } catch (const std::system_error&) {  // there are no more threads
    return false;
  }
  return true;
}

void LogWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wait_for_lines(lock);
    const Line line = std::move(lines_.front());
    lines_.pop_front();
    is_writing_ = true;
    lock.unlock();
    try {
      put(line);
    } catch (...) {
      refused_ += line.stands_for;  // out of memory
    }
    lock.lock();
    is_writing_ = false;
    ++written_;
    if (lines_.empty() && left_out_ != 0)
      lines_.push_back(count_of(std::exchange(left_out_, 0), line.format, std::chrono::system_clock::now()));
    is_advanced_.notify_all();
  }
}

void LogWriter::wait_for_lines(std::unique_lock<std::mutex>& lock) {
  if (lines_.empty() && written_ != 0) (void)is_filled_.wait_for(lock, kLinger);
  while (lines_.empty()) {
    is_asleep_ = true;
    is_filled_.wait(lock);
  }
  is_asleep_ = false;
}

void LogWriter::put(const Line& line) {
  if (refused_ != 0 && send(formatted(count_of(refused_, line.format, line.at)))) refused_ = 0;
  if (!send(formatted(line))) refused_ += line.stands_for;
}

std::string LogWriter::formatted(const Line& line) const {
  std::string text(is_journal() ? priority(line.level) : "");
  const std::string time = text_of(line.at);
  if (line.format == LogFormat::json) {
    const auto before = "\"time\":\"" + time + "\",\"level\":\"" + name(line.level) + "\"";
    return text + log_line_as_json(before, line.text, kMostWritten - text.size() - 1) + '\n';
  }
  text.append(time).append(" ").append(name(line.level)).append(" ");
  text += std::string_view(line.text).substr(0, kMostWritten - 1 - text.size());
  return text.append("\n");
}

/// Whether standard error is the journal: JOURNAL_STREAM of systemd has its device and inode.
bool LogWriter::is_journal() const noexcept {
  struct stat found{};
  if (journal_.empty() || ::fstat(STDERR_FILENO, &found) != 0) return false;
  std::array<char, 64> expected{};
  std::snprintf(expected.data(), expected.size(), "%llu:%llu", static_cast<unsigned long long>(found.st_dev),
                static_cast<unsigned long long>(found.st_ino));
  return journal_ == expected.data();
}

bool LogWriter::flush() noexcept {
  std::unique_lock lock(mutex_);
  is_filled_.notify_one();  // it may wait for more lines
  while (!lines_.empty() || is_writing_) {
    const auto before = written_;
    if (!is_advanced_.wait_for(lock, kPatience, [&] { return written_ != before; })) return false;
  }
  return true;
}

void LogWriter::end() noexcept {
  if (process_ != ::getpid()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  (void)flush();
}

}  // namespace mf
