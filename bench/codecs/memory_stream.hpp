// std::streambufs over memory, without the copies of std::stringbuf, for the libraries that want streams.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <streambuf>
#include <vector>

namespace bench_codecs {

/// std::optional and mf::Boxed.
template <class T>
concept OptionalLike = requires(T& value) {
  value.has_value();
  value.reset();
  value.emplace();
  *value;
};

/// A buffer that grows, and keeps its memory for the next value.
class OutputMemory : public std::streambuf {
 public:
  void restart() { setp(memory_.data(), memory_.data() + memory_.size()); }
  [[nodiscard]] std::span<const std::byte> written() const {
    return std::as_bytes(std::span<const char>(pbase(), pptr()));
  }

 protected:
  int_type overflow(int_type letter) override {
    grow(1);
    *pptr() = traits_type::to_char_type(letter);
    pbump(1);
    return letter;
  }
  std::streamsize xsputn(const char* from, std::streamsize size) override {
    if (epptr() - pptr() < size) grow(static_cast<std::size_t>(size));
    std::memcpy(pptr(), from, static_cast<std::size_t>(size));
    pbump(static_cast<int>(size));
    return size;
  }

 private:
  void grow(std::size_t more) {
    const auto used = static_cast<std::size_t>(pptr() - pbase());
    memory_.resize(std::max(2 * memory_.size(), used + more + 64));
    restart();
    pbump(static_cast<int>(used));
  }

  std::vector<char> memory_;
};

class InputMemory : public std::streambuf {
 public:
  explicit InputMemory(std::span<const std::byte> bytes) {
    auto* start = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));  // never written to
    setg(start, start, start + bytes.size());
  }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize size) override {
    size = std::min(size, static_cast<std::streamsize>(egptr() - gptr()));
    std::memcpy(to, gptr(), static_cast<std::size_t>(size));
    gbump(static_cast<int>(size));
    return size;
  }
};

}  // namespace bench_codecs
