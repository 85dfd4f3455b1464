// R1. A service's or topic's types as tables, read from a descriptor and its annex (docs/protocol.md,
// sections 7 and 7a), for code that reads and writes values without code generated for them.
//
//   mf::Result<described::Schema> schema = described::Schema::read(descriptor, annex);
//
// The texts may come from a peer. They are bounded (kMaxText, kMaxDeclared, kMaxTypes, kMaxNesting), and the
// result of read() is consistent: every index is valid, no type holds itself by value, every type of tier
// memcpy has a layout, and numbers ascend where they are looked up. read() refuses anything else and says
// which line is wrong. A type is identified by its index in the table; equal type expressions share one.
// A schema keeps copies of the texts, and its names point into them: it may be moved, and is immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/codec/result.hpp"
#include "mf/core/service.hpp"

namespace mf::described {

inline constexpr std::size_t kMaxText = std::size_t{1} << 20U;  // bytes of the descriptor, and of the annex
inline constexpr std::size_t kMaxDeclared = 4'096;              // types that have a name
inline constexpr std::size_t kMaxTypes = 32'768;                // named types and all type expressions
inline constexpr unsigned kMaxNesting = 64;                     // levels of a type expression
inline constexpr unsigned kMaxDirect = 512;                     // types that hold each other by value
inline constexpr std::size_t kMaxSize = std::size_t{1} << 24U;  // bytes of a fixed-size value, or an array

enum class Kind : std::uint8_t {
  boolean,
  u8,
  u16,
  u32,
  u64,
  i8,
  i16,
  i32,
  i64,
  f32,
  f64,
  timestamp,
  duration,
  uuid,
  string,
  bytes,
  // A kind from here on has many types.
  list,
  set,
  map,
  array,
  optional,
  ref,
  structure,  // struct, error, and the parameters or results of a method
  alternatives,
  enumeration,
  flags,
};
inline constexpr std::size_t kScalars = static_cast<std::size_t>(Kind::list);

/// The name that a descriptor uses: "u16", "list", "struct", "union".
[[nodiscard]] std::string_view to_string(Kind kind) noexcept;

/// The encoding of an integer in an archive; not `own` for types such as `i32.varint` and `u64.fixed`.
enum class Coding : std::uint8_t { own, varint, fixed };

/// Index of a type in Schema::types(). A scalar with coding `own` has its Kind as its index.
using TypeIndex = std::uint32_t;
inline constexpr TypeIndex kNoType = UINT32_MAX;

constexpr TypeIndex index_of(Kind scalar) noexcept {
  return static_cast<TypeIndex>(scalar);
}

/// A field of a struct, a parameter, a result, an alternative of a union.
struct Field {
  std::string_view name{};
  std::uint32_t number = 0;  // in archives and unions, ascending; else 0
  TypeIndex type = kNoType;
  std::uint32_t offset = 0;  // in the layout of a struct that has one
  std::uint32_t first_was = 0;
  std::uint32_t was_count = 0;
  std::optional<std::string_view> default_json{};
};

/// A member of an enum or of flags. Numbers of signed bases are in two's complement; flags have bit numbers.
struct Member {
  std::string_view name{};
  std::uint64_t number = 0;
};

struct Type {
  Kind kind{};
  Tier tier{};                  // of structs and unions; 0 for all others
  bool error = false;           // a struct that is thrown
  bool implicit = false;        // parameters or results of a method: no name, no level of nesting
  bool open = false;            // enums
  bool linked = false;          // holds a ref, directly or in an archive that it holds
  bool fixed = false;           // has `size` and `align`: a value of it is its layout
  bool all_bits = false;        // fixed, and every pattern of bits is a value
  bool padded = false;          // fixed, and some of its bytes are padding
  bool raw = false;             // its bytes in febird are its layout
  bool row = false;             // an integer of 2 bytes and more, which is encoded in rows
  Coding coding{};              // of integers
  Kind base{};                  // of enums and flags
  TypeIndex element = kNoType;  // of containers, optionals and refs; the value of a map
  TypeIndex key = kNoType;      // of maps
  std::uint32_t length = 0;     // of arrays
  std::uint32_t size = 0;
  std::uint32_t align = 1;
  std::uint32_t first = 0;  // index of its first field or member
  std::uint32_t count = 0;
  std::uint64_t min_febird = 0;  // bytes of the smallest encoding in febird
  std::uint64_t memory = 0;      // about the bytes that a C++ value takes, which count against budgets
  std::string_view name{};       // the full name, "sf1.search.Hit", or the expression, "list<u32>"
  std::string_view short_name{};
};

struct Method {
  std::string_view name{};
  std::uint32_t first_was = 0;
  std::uint32_t was_count = 0;
  bool oneway = false;
  std::string_view replicated{};      // the pattern, or empty
  TypeIndex params = kNoType;         // an implicit struct
  TypeIndex results = kNoType;        // an implicit struct; kNoType if the method is one-way
  TypeIndex params_stream = kNoType;  // the type of the stream's values
  TypeIndex results_stream = kNoType;
  std::uint32_t first_throw = 0;
  std::uint32_t throw_count = 0;
};

class DefaultValues;

class Schema {
 public:
  /// An error has the offset of the wrong line in its text. An empty annex adds nothing.
  [[nodiscard]] static Result<Schema> read(std::string_view descriptor, std::string_view annex = {});

  enum class Of : std::uint8_t { service, topic, value };
  [[nodiscard]] Of of() const noexcept { return of_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  /// "collection string"; empty if the service has no agents.
  [[nodiscard]] std::string_view per() const noexcept { return per_; }
  /// The type of a topic's values, or the type that the descriptor of a value describes.
  [[nodiscard]] TypeIndex value() const noexcept { return value_; }

  [[nodiscard]] std::span<const Type> types() const noexcept { return types_; }
  [[nodiscard]] const Type& type(TypeIndex index) const noexcept { return types_[index]; }
  [[nodiscard]] std::span<const Method> methods() const noexcept { return methods_; }

  [[nodiscard]] std::span<const Field> fields(const Type& type) const noexcept {
    return std::span(fields_).subspan(type.first, type.count);
  }
  [[nodiscard]] std::span<const Member> members(const Type& type) const noexcept {
    return std::span(members_).subspan(type.first, type.count);
  }
  [[nodiscard]] std::span<const std::string_view> was(const Field& field) const noexcept {
    return std::span(was_).subspan(field.first_was, field.was_count);
  }
  [[nodiscard]] std::span<const std::string_view> was(const Method& method) const noexcept {
    return std::span(was_).subspan(method.first_was, method.was_count);
  }
  /// The declared errors, in the order of their index on the wire.
  [[nodiscard]] std::span<const TypeIndex> throws(const Method& method) const noexcept {
    return std::span(throws_).subspan(method.first_throw, method.throw_count);
  }

  /// The value in febird of a field of this schema that has a default; made once. The annex may come from a
  /// peer: an error if the default is no value of the field's type. It lives as long as the schema.
  [[nodiscard]] Result<std::span<const std::byte>> default_value(const Field& field) const;

  /// Both return null if there is none.
  [[nodiscard]] const Method* method(std::string_view name) const noexcept;
  [[nodiscard]] const Field* field(const Type& type, std::string_view name) const noexcept;
  /// kNoType if no declared type has this full name.
  [[nodiscard]] TypeIndex declared(std::string_view full_name) const noexcept;

 private:
  friend class SchemaReader;

  // All names point into this. It is one allocation, so that they stay valid when the schema is moved.
  std::unique_ptr<char[]> texts_;
  Of of_ = Of::service;
  std::string_view name_;
  std::string_view per_;
  TypeIndex value_ = kNoType;
  std::vector<Type> types_;
  std::vector<Field> fields_;
  std::vector<Member> members_;
  std::vector<Method> methods_;
  std::vector<std::string_view> was_;
  std::vector<TypeIndex> throws_;
  std::vector<std::pair<std::string_view, TypeIndex>> declared_;  // by name
  std::shared_ptr<DefaultValues> default_values_;
};

/// The index of the member with this number; nothing if there is none.
[[nodiscard]] std::optional<std::size_t> find_number(const Schema& schema, const Type& type,
                                                     std::uint64_t number) noexcept;
/// The index of the field or alternative with this number.
[[nodiscard]] std::optional<std::size_t> find_field(const Schema& schema, const Type& type,
                                                    std::uint32_t number) noexcept;

}  // namespace mf::described
