#include "values/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "mf/values/source.hpp"

namespace mf::values {

void Descriptor::close() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error failed(const std::string& name, const std::string& words, Code code) {
  return {code, kNoCall, name + ": " + words};
}

Error not_done(const std::string& name, int error, const std::string& then) {
  return failed(name, std::generic_category().message(error) + then, Code::unavailable);
}

Source file_source(const std::filesystem::path& path) {
  const auto file = std::make_shared<Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!*file) throw not_done(path.string(), errno);
  return [file](std::span<std::byte> into) -> std::ptrdiff_t {
    while (true) {
      const auto got = ::read(file->get(), into.data(), into.size());
      if (got >= 0) return got;
      if (errno != EINTR) return -errno;
    }
  };
}

Source memory_source(std::span<const std::byte> bytes) {
  return [left = bytes](std::span<std::byte> into) mutable {
    const auto size = std::min(left.size(), into.size());
    if (size != 0) std::memcpy(into.data(), left.data(), size);
    left = left.subspan(size);
    return static_cast<std::ptrdiff_t>(size);
  };
}

}  // namespace mf::values
