// R1. Flexible values to bytes (docs/protocol.md, section 5c). There is one form of each value, which is how
// messages are matched: what is equal has equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "mf/codec/flex/attributes.hpp"

namespace mf::flex {

class ValueWriter {
 public:
  /// Appends to `out`, at whose begin the message begins.
  explicit ValueWriter(std::string& out) noexcept : out_(out) {}

  /// False: refuse() says why; what was appended is worth nothing.
  [[nodiscard]] bool write(const Value& value, unsigned depth = 0);
  /// Throws Error(INVALID_ARGUMENT) with the path of what does not travel, which begins with `root`.
  [[noreturn]] void refuse(std::string_view root) const;
  void number(std::uint64_t number);
  /// Of the declared types that were written, those that are known, each once.
  [[nodiscard]] WrittenTypes take_types();

 private:
  void tag(std::uint8_t tag) { out_.push_back(static_cast<char>(tag)); }
  template <class T>
  void fixed(T value);
  void integer(std::int64_t value);
  [[nodiscard]] bool count(std::size_t count);
  [[nodiscard]] bool blob(std::uint8_t tag, std::string_view bytes);
  [[nodiscard]] bool text(std::string_view text);
  [[nodiscard]] bool list(const List& list, unsigned depth);
  [[nodiscard]] bool integers(const List& list, unsigned code);
  [[nodiscard]] bool floats(const List& list);
  [[nodiscard]] bool map(const Map& map, unsigned depth);
  [[nodiscard]] bool array(const Array& array);
  [[nodiscard]] bool declared(const Typed& typed);
  bool fail(std::string reason);
  bool inside(std::string_view step);

  std::string& out_;
  std::string path_;
  std::string reason_;
  WrittenTypes types_;
};

/// Appends a value on its own. Throws as encode() does.
void append_written(std::string& out, const Value& value, std::string_view path = {});

}  // namespace mf::flex
