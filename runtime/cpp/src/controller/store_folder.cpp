#include "controller/store_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::controller {
namespace {

constexpr const char* kLockName = "lock";
constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

std::error_code last_error() noexcept {
  return {errno, std::generic_category()};
}

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

Descriptor open_file(const std::string& path, int flags) noexcept {
  return Descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, kFileMode));
}

class PosixFile final : public StoreFile {
 public:
  explicit PosixFile(Descriptor file) noexcept : file_(std::move(file)) {}

  std::error_code append(std::span<const std::byte> bytes) noexcept override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return last_error();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
  }

  std::error_code sync() noexcept override {
    return ::fdatasync(file_.get()) == 0 ? std::error_code() : last_error();
  }

 private:
  Descriptor file_;
};

/// Errors of the disk, which may be temporary; others need a person.
bool is_of_the_disk(int error) noexcept {
  return error == EROFS || error == ENOSPC || error == EDQUOT || error == EIO;
}

class PosixFolder final : public StoreFolder {
 public:
  explicit PosixFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::string path() const override { return path_.string(); }

  std::error_code lock() override {
    if (lock_ && !is_gone(kLockName)) return {};
    lock_ = Descriptor();
    if (const std::error_code error = make_folder()) return error;
    folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder_) refuse(last_error());
    Descriptor lock = open_file(at(kLockName), O_RDWR | O_CREAT);
    // On a file system that is read-only now, the existing file can still be locked.
    const std::error_code unwritable = lock ? std::error_code() : last_error();
    if (!lock) lock = open_file(at(kLockName), O_RDONLY);
    if (!lock && is_of_the_disk(unwritable.value())) return unwritable;
    if (!lock) refuse(unwritable);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return last_error();
      throw Error(Code::unavailable, Execution::not_executed,
                  "the store " + path() + " is in use by another controller" + holder(lock) +
                      ": stop that one, or give this one a store of its own with --store");
    }
    lock_ = std::move(lock);
    if (!unwritable) say_who_holds_it();
    return unwritable;
  }

  std::error_code read(const std::string& name, std::vector<std::byte>& bytes) const override {
    bytes.clear();
    const Descriptor file = open_file(at(name), O_RDONLY | O_NONBLOCK);  // a pipe has no end to wait for
    if (!file) return last_error();
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) return last_error();
    if (S_ISDIR(status.st_mode)) return std::make_error_code(std::errc::is_a_directory);
    if (!S_ISREG(status.st_mode)) return std::make_error_code(std::errc::not_supported);
    if (static_cast<std::size_t>(status.st_size) >= kMostRead)
      return std::make_error_code(std::errc::file_too_large);
    bytes.resize(static_cast<std::size_t>(std::max<off_t>(0, status.st_size)));
    std::size_t size = 0;
    std::error_code error;
    while (size < bytes.size()) {
      const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) error = last_error();
      if (count <= 0) break;
      size += static_cast<std::size_t>(count);
    }
    bytes.resize(size);
    return error;
  }

  std::unique_ptr<StoreFile> create(const std::string& name, std::error_code& error) noexcept override {
    Descriptor file = open_file(at(name), O_WRONLY | O_CREAT | O_TRUNC);
    error = file ? std::error_code() : last_error();
    return file ? std::make_unique<PosixFile>(std::move(file)) : nullptr;
  }

  std::error_code rename(const std::string& from, const std::string& to) noexcept override {
    return ::rename(at(from).c_str(), at(to).c_str()) == 0 ? std::error_code() : last_error();
  }

  std::error_code link(const std::string& from, const std::string& to) noexcept override {
    remove(to);
    return ::link(at(from).c_str(), at(to).c_str()) == 0 ? std::error_code() : last_error();
  }

  void remove(const std::string& name) noexcept override { ::unlink(at(name).c_str()); }

  bool is_gone(const std::string& name) const noexcept override {
    struct stat folder{};
    struct stat now{};
    if (!folder_ || ::fstat(folder_.get(), &folder) != 0) return false;
    if (::stat(path_.c_str(), &now) != 0 || now.st_ino != folder.st_ino || now.st_dev != folder.st_dev)
      return true;
    return ::fstatat(folder_.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
  }

  std::error_code sync() noexcept override {
    return ::fsync(folder_.get()) == 0 ? std::error_code() : last_error();
  }

 private:
  std::string at(const std::string& name) const { return (path_ / name).string(); }

  std::error_code make_folder() {
    std::filesystem::path made;
    for (const auto& part : path_) {
      made /= part;
      if (::mkdir(made.c_str(), kFolderMode) == 0 || errno == EEXIST) continue;
      const std::error_code error = last_error();
      if (::access(made.c_str(), F_OK) == 0)
        continue;  // for example, a folder that exists on a read-only disk
      if (is_of_the_disk(error.value())) return error;
      refuse(error);
    }
    return {};
  }

  [[noreturn]] void refuse(std::error_code error) const {
    throw Error(Code::invalid_argument, Execution::not_executed,
                "the store " + path() + " cannot be opened: " + error.message() +
                    "; --store names a folder that this user may write to, or memory: to keep nothing");
  }

  static std::string holder(const Descriptor& lock) {
    std::array<char, 32> text{};
    const ssize_t size = ::pread(lock.get(), text.data(), text.size(), 0);
    const std::string process(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, size)));
    return process.empty() ? "" : ", process " + process.substr(0, process.find('\n'));
  }

  void say_who_holds_it() const noexcept {
    const std::string process = std::to_string(::getpid()) + "\n";
    // For people only: other processes are locked out even if it cannot be written.
    if (::ftruncate(lock_.get(), 0) != 0 || ::pwrite(lock_.get(), process.data(), process.size(), 0) < 0)
      return;
  }

  std::filesystem::path path_;
  Descriptor folder_;
  Descriptor lock_;
};

}  // namespace

std::unique_ptr<StoreFolder> open_store_folder(const std::filesystem::path& path) {
  return std::make_unique<PosixFolder>(path);
}

}  // namespace mf::controller
