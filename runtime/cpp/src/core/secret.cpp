#include "mf/core/secret.hpp"

#include <string.h>

#include <utility>

namespace mf {

Secret::Secret(std::string_view text)
    : bytes_(text.empty() ? nullptr : new char[text.size()]), size_(text.size()) {
  if (size_ != 0) std::char_traits<char>::copy(bytes_.get(), text.data(), size_);
}

Secret::Secret(Secret&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(size_, other.size_);
  return *this;
}

Secret::~Secret() {
  if (bytes_) ::explicit_bzero(bytes_.get(), size_);
}

bool operator==(const Secret& one, const Secret& other) noexcept {
  if (one.size_ != other.size_) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < one.size_; ++i)
    differs = static_cast<unsigned char>(differs | (one.bytes_[i] ^ other.bytes_[i]));
  return differs == 0;
}

}  // namespace mf
