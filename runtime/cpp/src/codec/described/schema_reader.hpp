#pragma once
// R1. Reads a descriptor and its annex into a Schema; once, then it is thrown away.
//
// The descriptor is gone through twice: first for the names of types, then for what they hold; then sizes are
// reckoned (shapes.hpp). The annex finds everything there already. The first mistake ends it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// A line of a text: so many blanks, a first word, and the rest.
struct Line {
  std::size_t depth = 0;
  std::string_view word{};
  std::string_view rest{};
};

/// The lines of a text, one after the other.
class Lines {
 public:
  explicit Lines(std::string_view text) noexcept : text_(text), left_(text) {}
  [[nodiscard]] bool next(Line& line) noexcept;
  /// Of the line that came last.
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  std::string_view text_;
  std::string_view left_;
  std::size_t offset_ = 0;
};

/// Up to `separator`, which is dropped; `text` keeps what is behind it.
std::string_view take_until(std::string_view& text, char separator) noexcept;

class SchemaReader {
 public:
  [[nodiscard]] Result<Schema> read(std::string_view descriptor, std::string_view annex);

 private:
  // Each returns false after it has said what is wrong.
  bool fail(std::string reason);
  bool each_line(std::string_view text, bool (SchemaReader::*take)(const Line&));

  bool declare(const Line& line);
  bool declare_type(std::string_view name, std::string_view head);

  bool content(const Line& line);
  bool top(const Line& line);
  bool in_top(const Line& line);
  bool in_method(const Line& line);
  bool implicit(TypeIndex Method::* place, std::string_view tier);
  bool field(TypeIndex owner, const Line& line);
  bool member(TypeIndex owner, const Line& line);
  bool close();

  bool expression(std::string_view text, unsigned nesting, TypeIndex& index);
  /// An integer that lies in another way: false if it is none.
  static bool coded(std::string_view text, Type& type);
  bool container(std::string_view text, unsigned nesting, Type& type);
  bool key(const Type& type);
  bool add(const Type& type, TypeIndex& index);

  bool annotate(const Line& line);
  bool annotate_in_top(const Line& line);
  bool annotate_in_method(const Line& line);
  bool annotate_field(const Line& line);
  bool find(TypeIndex owner, std::string_view name);

  Schema schema_;
  std::unordered_map<std::string_view, TypeIndex> known_;  // by full name or expression
  std::size_t offset_ = 0;
  std::optional<codec::DecodeError> error_;

  // Where the reading stands.
  TypeIndex owner_ = kNoType;  // of the fields that follow
  bool in_type_ = false;
  bool in_method_ = false;
  std::size_t field_ = 0;  // in the annex: 1 more than its place
  std::size_t annotated_method_ = 0;
};

}  // namespace mf::described
