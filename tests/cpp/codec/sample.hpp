// What generated code looks like to the codecs, written by hand for the tests of this floor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/codec/constraints.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/core/error.hpp"

namespace sample {

enum class Rank : std::uint8_t { bm25 = 0, pagerank = 1 };
enum class Lang : std::uint16_t { en = 0, ko = 300 };
enum class Shade : std::uint16_t { light = 1, dark = 2 };

/// 0 doc, 4 tf, 6 rank, 7 padding
struct Posting {
  std::uint32_t doc{};
  std::uint16_t tf{};
  Rank rank{};
  friend bool operator==(const Posting&, const Posting&) = default;
};

struct Hit {
  std::uint32_t doc{};
  float score{};
  std::string title;
  std::vector<std::uint32_t> positions;
  friend bool operator==(const Hit&, const Hit&) = default;
};

struct Tree {
  std::int16_t value{};
  std::vector<Tree> children;
  mf::Boxed<Tree> next;
  friend bool operator==(const Tree&, const Tree&) = default;
};

/// An error of tier memcpy is no image of its memory: 0 count, 8 rank.
struct Duplicate : mf::DeclaredErrorBase<Duplicate> {
  static constexpr const char* kName = "sample.Duplicate";
  std::uint64_t count{};
  Rank rank{};
  friend bool operator==(const Duplicate&, const Duplicate&) = default;
};

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};

struct Limited {
  std::uint32_t limit{};
  std::vector<std::string> terms;
  std::optional<double> weight;
};

/// 0 level, 4 weight
struct Level {
  std::uint32_t level{};
  float weight{};
};

}  // namespace sample

namespace mf::codec {

template <>
inline constexpr TypeInfo kTypeInfo<sample::Posting>{Tier::memcpy, "Posting"};
template <>
inline constexpr TypeInfo kTypeInfo<sample::Hit>{Tier::febird, "Hit"};
template <>
inline constexpr TypeInfo kTypeInfo<sample::Tree>{Tier::febird, "Tree"};

template <>
struct EnumTraits<sample::Rank> {
  static constexpr bool kOpen = false;
  static constexpr std::size_t kMembers = 2;
  static constexpr bool valid(sample::Rank value) noexcept { return static_cast<unsigned>(value) <= 1; }
};

template <>
struct EnumTraits<sample::Lang> {
  static constexpr bool kOpen = true;
  static constexpr bool valid(sample::Lang /*value*/) noexcept { return true; }
};

template <>
struct EnumTraits<sample::Shade> {
  static constexpr bool kOpen = false;
  static constexpr std::size_t kMembers = 2;
  static constexpr bool valid(sample::Shade value) noexcept {
    return value == sample::Shade::light || value == sample::Shade::dark;
  }
};

template <>
struct Memcpy<sample::Posting> {
  static constexpr std::size_t kSize = 8;
  static constexpr bool kAllBitsValid = false;
  static constexpr bool kHasPadding = true;
  static void clear_padding(std::byte* at) noexcept { std::memset(at + 7, 0, 1); }
  static bool valid(const std::byte* from) noexcept { return Memcpy<sample::Rank>::valid(from + 6); }
  static bool explain(Reader& reader, const std::byte* from, std::size_t at) {
    return explain_field<sample::Rank>(reader, "rank", from + 6, at + 6);
  }
  static constexpr bool kByteLimits = ByteLimited<sample::Rank>;
  static void limit(std::byte* at) noexcept { Memcpy<sample::Rank>::limit(at + 6); }
};

template <>
struct Memcpy<sample::Duplicate> {
  static constexpr std::size_t kSize = 16;
  static constexpr bool kAllBitsValid = false;
  static constexpr bool kHasPadding = true;
  static bool valid(const std::byte* from) noexcept { return Memcpy<sample::Rank>::valid(from + 8); }
  static bool explain(Reader& reader, const std::byte* from, std::size_t at) {
    return explain_field<sample::Rank>(reader, "rank", from + 8, at + 8);
  }
  static void store(std::byte* to, const sample::Duplicate& value) noexcept {
    codec::store(to, value.count);
    codec::store(to + 8, value.rank);
  }
  static void load(const std::byte* from, sample::Duplicate& value) noexcept {
    codec::load(from, value.count);
    codec::load(from + 8, value.rank);
  }
};

template <>
struct Memcpy<sample::Nothing> {
  static constexpr std::size_t kSize = 0;
  static constexpr bool kAllBitsValid = true;
  static constexpr bool kHasPadding = false;
  static bool valid(const std::byte* /*from*/) noexcept { return true; }
  static void store(std::byte* /*to*/, const sample::Nothing& /*value*/) noexcept {}
  static void load(const std::byte* /*from*/, sample::Nothing& /*value*/) noexcept {}
};

template <>
struct Febird<sample::Hit> {
  static constexpr std::size_t kMinSize = 7;
  static constexpr bool kRaw = false;
  static std::size_t size(const sample::Hit& value) noexcept {
    return febird_size(value.doc, value.score, value.title, value.positions);
  }
  static void write(Writer& writer, const sample::Hit& value) noexcept {
    febird_write(writer, value.doc, value.score, value.title, value.positions);
  }
  [[nodiscard]] static bool read(Reader& reader, sample::Hit& value) {
    if (!reader.enter()) return false;
    if (!Febird<std::uint32_t>::read(reader, value.doc)) return reader.inside("doc");
    if (!Febird<float>::read(reader, value.score)) return reader.inside("score");
    if (!Febird<std::string>::read(reader, value.title)) return reader.inside("title");
    if (!Febird<std::vector<std::uint32_t>>::read(reader, value.positions)) return reader.inside("positions");
    reader.leave();
    return true;
  }
};

template <>
struct Febird<sample::Tree> {
  static constexpr std::size_t kMinSize = 3;
  static constexpr bool kRaw = false;
  static std::size_t size(const sample::Tree& value) noexcept;
  static void write(Writer& writer, const sample::Tree& value) noexcept;
  [[nodiscard]] static bool read(Reader& reader, sample::Tree& value);
};

inline std::size_t Febird<sample::Tree>::size(const sample::Tree& value) noexcept {
  return febird_size(value.value, value.children, value.next);
}

inline void Febird<sample::Tree>::write(Writer& writer, const sample::Tree& value) noexcept {
  febird_write(writer, value.value, value.children, value.next);
}

inline bool Febird<sample::Tree>::read(Reader& reader, sample::Tree& value) {
  if (!reader.enter()) return false;
  if (!Febird<std::int16_t>::read(reader, value.value)) return reader.inside("value");
  if (!Febird<std::vector<sample::Tree>>::read(reader, value.children)) return reader.inside("children");
  if (!Febird<Boxed<sample::Tree>>::read(reader, value.next)) return reader.inside("next");
  reader.leave();
  return true;
}

template <>
struct Constraints<sample::Limited> {
  static std::optional<std::string> violation(const sample::Limited& value) {
    if (auto bad = check::in_range<std::uint32_t>(value.limit, 1, 1000, "1", "1000")) return "limit" + *bad;
    if (auto bad = check::has_length(value.terms, 1, 2)) return "terms" + *bad;
    if (auto bad = check::each(value.terms, [](const auto& term) { return check::has_length(term, 1, 4); })) {
      return "terms" + *bad;
    }
    if (auto bad =
            check::if_present(value.weight, [](const auto& weight) { return check::is_finite(weight); })) {
      return "weight" + *bad;
    }
    return std::nullopt;
  }
};

template <>
struct Memcpy<sample::Level> : detail::PlainScalar<sample::Level> {};

template <>
struct Constraints<sample::Level> {
  static std::optional<std::string> violation(const sample::Level& value) {
    if (auto bad = check::in_range<std::uint32_t>(value.level, 1, 5, "1", "5")) return "level" + *bad;
    return std::nullopt;
  }
};

}  // namespace mf::codec
