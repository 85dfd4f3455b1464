#include "tokens/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "mf/core/error.hpp"
#include "mf/tokens/keys.hpp"

namespace mf::tokens {
namespace {

constexpr std::size_t kMostBytes = 16 * 1024;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::string reason(int error) {
  return std::generic_category().message(error);
}

void check(const std::string& path, const struct stat& found, Readers readers) {
  if (const auto why = objection_to(found, readers); !why.empty()) refuse(path, why);
  if (found.st_size > static_cast<off_t>(kMostBytes))
    refuse(path, "it has more than " + std::to_string(kMostBytes) + " bytes");
}

}  // namespace

void refuse(const std::string& path, std::string_view why) {
  throw Error(Code::invalid_argument, Execution::not_executed, "'" + path + "': " + std::string(why));
}

Secret read_file(const std::string& path, Readers readers) {
  // O_NONBLOCK: a pipe in its place must not hold up the program.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found{};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) refuse(path, "cannot be read: " + reason(errno));
  check(path, found, readers);
  std::array<char, kMostBytes> bytes;
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, "cannot be read: " + reason(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  Secret text(std::string_view(bytes.data(), size));
  ::explicit_bzero(bytes.data(), size);
  return text;
}

Secret read_token(const std::string& path) {
  const Secret file = read_file(path, Readers::owner);
  std::string_view text = file.reveal();
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) refuse(path, "it holds no token");
  return Secret(text);
}

void write_new(const std::string& path, std::string_view text, bool for_all) {
  const mode_t mode = for_all ? 0644 : 0600;
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (file.get() < 0) refuse(path, "cannot be made: " + reason(errno));
  while (!text.empty()) {
    const ssize_t put = ::write(file.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int error = errno;
      (void)::unlink(path.c_str());
      refuse(path, "cannot be written: " + reason(error));
    }
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(file.get()) != 0) refuse(path, "cannot be written: " + reason(errno));
}

}  // namespace mf::tokens
