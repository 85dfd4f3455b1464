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

#include "codec/described/lines.hpp"
#include "mf/codec/described/schema.hpp"

namespace mf::described {

/// The scalar that a word names.
[[nodiscard]] std::optional<Kind> scalar(std::string_view word) noexcept;
[[nodiscard]] constexpr bool is_integer(Kind kind) noexcept {
  return kind >= Kind::u8 && kind <= Kind::i64;
}

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
  /// An integer with a coding of its own: false if it is none.
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

  // The place that the reading has reached.
  TypeIndex owner_ = kNoType;  // of the fields that follow
  bool in_type_ = false;
  bool in_method_ = false;
  std::size_t field_ = 0;  // in the annex: 1 more than its place
  std::size_t annotated_method_ = 0;
};

}  // namespace mf::described
