#pragma once
// A file descriptor that is closed with its owner, and what the system refuses, in words.

#include <filesystem>
#include <string>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::values {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void close() noexcept;

 private:
  int fd_;
};

/// `name`: of the file.
[[nodiscard]] Error failed(const std::string& name, const std::string& words, Code code = Code::decode_error);
/// Of what the system refused.
[[nodiscard]] Error not_done(const std::string& name, int error, const std::string& then = {});

}  // namespace mf::values
