// R1. Bytes to flexible values (docs/protocol.md, section 5c). Every number is checked before anything is
// allocated for it: against the bytes that are left, the depth, and an account of memory. There is one form
// of each value, and every other one is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mf/codec/flex/value.hpp"
#include "mf/codec/reader.hpp"

namespace mf::flex {

/// Reads values of one message, one after the other. Functions that read return false after the first fault;
/// on the way out their callers name the place by inside().
class ValueReader {
 public:
  /// `types`: those that the sender has described; null: none.
  ValueReader(const Bytes& bytes, const Limits& limits, const DescribedTypes* types = nullptr)
      : bytes_(bytes), reader_(bytes.span(), limits), types_(types) {}

  [[nodiscard]] bool read(Value& value, unsigned depth = 0);
  /// In shortest form, up to `highest`.
  [[nodiscard]] bool number(std::uint64_t highest, std::uint64_t& number);
  /// So many bytes.
  [[nodiscard]] bool take(std::size_t size, std::string_view& bytes);
  [[nodiscard]] bool finish() { return reader_.finish(); }
  [[nodiscard]] bool charge(std::size_t size) { return reader_.charge(1, size); }

  [[nodiscard]] std::size_t offset() const noexcept { return reader_.offset(); }
  [[nodiscard]] std::size_t left() const noexcept { return reader_.left(); }
  [[nodiscard]] std::uint8_t next() const noexcept { return std::to_integer<std::uint8_t>(*reader_.peek()); }
  bool fail(Fault fault, std::string_view reason, std::size_t at) { return reader_.fail(fault, reason, at); }
  bool inside(std::string_view step) {
    path_.insert(0, step);
    return false;
  }
  [[nodiscard]] DecodeError error() const;

 private:
  template <class T>
  [[nodiscard]] bool fixed(T& value);
  template <class T>
  [[nodiscard]] bool integer(Value& value, std::int64_t end_of_narrower);
  [[nodiscard]] bool unsigned_integer(Value& value);
  [[nodiscard]] bool count(std::size_t smallest, std::size_t& count);
  [[nodiscard]] bool need(std::size_t count, std::size_t size, std::size_t at);
  [[nodiscard]] bool blob(std::string_view& bytes);
  [[nodiscard]] bool text(std::string_view& text);
  [[nodiscard]] bool list(Value& value, unsigned depth);
  [[nodiscard]] bool integers(Value& value);
  [[nodiscard]] bool floats(Value& value);
  [[nodiscard]] bool map(Value& value, unsigned depth);
  [[nodiscard]] bool key(Value& key, unsigned depth, std::string_view before, std::string_view& written);
  [[nodiscard]] bool array(Value& value);
  [[nodiscard]] bool declared(Value& value);
  [[nodiscard]] bool enter(unsigned depth);
  /// A slice of the message, or a copy where they are few.
  [[nodiscard]] Bytes shared(std::string_view bytes) const;
  [[nodiscard]] std::string_view since(std::size_t begin) const {
    return bytes_.text().substr(begin, offset() - begin);
  }

  const Bytes& bytes_;
  codec::Reader reader_;
  const DescribedTypes* types_;
  std::string path_;
};

}  // namespace mf::flex
