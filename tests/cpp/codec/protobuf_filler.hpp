// Messages of protobuf with any values that ours may have: of tests/vectors/schemas/wide.mfidl as `mfidlc
// proto` prints it, within the rules that proto2 cannot say (kRanges and the functions below it).
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/value.hpp"
#include "vectors/wide.hpp"

namespace mf::codec {

namespace pb = google::protobuf;
namespace wide = ::vectors::wide;
using pb::FieldDescriptor;
using pb::Message;

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// --- what proto2 cannot say

/// The same on every platform, which the distributions of <random> are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  bool one_in(std::size_t many) { return below(many) == 0; }

  template <class List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

  std::string bytes(std::size_t size) {
    std::string text(size, '\0');
    for (char& each : text) each = static_cast<char>(below(256));
    return text;
  }

  std::string text() {
    static const std::string kPieces[] = {
        "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", std::string(1, '\0'), std::string(130, 'x')};
    std::string text;
    for (std::size_t i = below(4); i > 0; --i) text += of(kPieces);
    return text;
  }

  /// Often an edge of the range or of a longer varint.
  std::int64_t signed_in(std::int64_t least, std::int64_t most) {
    const std::int64_t edges[] = {least, most, least + 1, most - 1, 0, 1, -1, 63, 64, -64, -65};
    const auto drawn = one_in(2) ? of(edges) : static_cast<std::int64_t>(bits()) >> below(64);
    return drawn < least || drawn > most ? 0 : drawn;
  }
  std::uint64_t unsigned_to(std::uint64_t most) {
    const std::uint64_t edges[] = {0, 1, most, most - 1, 127, 128};
    const auto drawn = one_in(2) ? of(edges) : bits() >> below(64);
    return drawn > most ? most : drawn;
  }

  template <class Float>
  Float real() {
    using Limits = std::numeric_limits<Float>;
    const Float values[] = {0,
                            -Float{0},
                            1,
                            Limits::infinity(),
                            -Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            Limits::lowest(),
                            Limits::max(),
                            Float(1) / 3};
    return one_in(2) ? of(values) : static_cast<Float>(static_cast<std::int64_t>(bits())) / 1024;
  }

 private:
  std::mt19937_64 engine_;
};

/// Narrower than the carrier, for whatever is called by a name that begins so; within vectors.wide.
struct Range {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
};
inline constexpr Range kRanges[] = {
    {"ArchiveI8.", -128, 127},
    {"ArchiveI16.", -32768, 32767},
    {"ArchiveU8.", 0, 255},
    {"ArchiveU16.", 0, 65535},
    {"ArchiveLang.", 0, 65535},
    {"ArchivePart.", 0, 255},
    {"Person.", 0, 255},
    {"Config.NestedValue.", 0, 65535},
    {"Config.ByUuidEntry.", 0, 255},
    {"Config.pairs", -32768, 32767},
    {"Config.DeepEntry.", 0, 255},
    {"Config.SignsEntry.", 0, 255},
};

/// Without the package.
inline std::string_view name_of(const FieldDescriptor& field) {
  return std::string_view(field.full_name()).substr(std::string_view("vectors.wide.").size());
}

inline const Range* range_of(const FieldDescriptor& field) {
  for (const Range& range : kRanges) {
    if (name_of(field).starts_with(range.name)) return &range;
  }
  return nullptr;
}

inline std::string row(Random& random) {
  const wide::Rank ranks[] = {wide::Rank::bm25, wide::Rank::pagerank, wide::Rank::both};
  return text_of(mf::to_bytes(wide::Row{.flag = random.one_in(2),
                                        .rank = random.of(ranks),
                                        .id = static_cast<std::uint32_t>(random.bits()),
                                        .pair = {{{.x = random.real<float>(), .y = 1}, {.x = 2, .y = 3}}},
                                        .flags = {true, false, random.one_in(2)}}));
}

inline std::string tree(Random& random) {
  wide::Tree tree{.value = static_cast<std::int32_t>(random.bits())};
  tree.children.resize(random.below(3), tree);
  tree.named[random.text()] = tree;
  return text_of(mf::to_bytes(tree));
}

inline std::string value(Random& random) {
  return text_of(mf::to_bytes(random.one_in(2) ? wide::Value::of_text(random.text())
                                               : wide::Value::of_number(random.real<double>())));
}

inline std::string bytes_for(const FieldDescriptor& field, Random& random) {
  const std::string_view name = name_of(field);
  if (name.starts_with("ArchiveUuid.") || name.ends_with("ByUuidEntry.key") ||
      name.ends_with("DeepEntry.key")) {
    return random.bytes(16);
  }
  if (name.starts_with("Config.row") || name == "Contact.row") return row(random);
  if (name == "Config.PointsEntry.value")
    return text_of(mf::to_bytes(wide::Point{.x = 1, .y = random.real<float>()}));
  if (name == "Config.tree") return tree(random);
  if (name == "Config.value") return value(random);
  return random.bytes(random.below(20));
}

/// Arrays have one length; 0 for what has none.
inline int length_of(const FieldDescriptor& field) {
  if (field.name() == "fixed") return 3;
  return name_of(field) == "Config.contacts" || name_of(field) == "Config.pairs" ? 2 : 0;
}

inline bool is_set(const FieldDescriptor& field) {
  return field.name() == "distinct" || name_of(field) == "Config.names";
}

/// Of protobuf's maps, and of ours that protobuf has not.
inline bool is_map(const FieldDescriptor& field) {
  return field.is_repeated() && field.message_type() != nullptr &&
         field.message_type()->name().ends_with("Entry");
}

inline bool is_union(const pb::Descriptor& type) {
  return type.real_oneof_decl_count() > 0;
}

// --- messages

/// The key of an entry of a map, or of an element of a set.
inline std::string key_of(const Message& message, const FieldDescriptor& field, int index) {
  std::string text;
  if (is_map(field)) {
    const Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, index);
    pb::TextFormat::PrintFieldValueToString(entry, field.message_type()->FindFieldByNumber(1), -1, &text);
  } else {
    pb::TextFormat::PrintFieldValueToString(message, &field, index, &text);
  }
  return text;
}

class Filler {
 public:
  explicit Filler(std::uint64_t seed) : random_(seed) {}

  /// Fills a new message; `depth` bounds the messages within.
  void fill(Message& message, int depth) {
    const pb::Descriptor& type = *message.GetDescriptor();
    if (is_union(type)) {
      choose(message, depth);
      return;
    }
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (field.is_repeated()) {
        repeat(message, field, depth);
      } else if (field.is_required() || type.options().map_entry() ||
                 (allowed(field, depth) && random_.one_in(2))) {
        put(message, field, depth);
      }
    }
    if (type.containing_type() == nullptr && random_.one_in(4)) add_unknown(message);
  }

 private:
  static bool allowed(const FieldDescriptor& field, int depth) {
    return depth > 0 || field.message_type() == nullptr;
  }

  void choose(Message& message, int depth) {
    const pb::Descriptor& type = *message.GetDescriptor();
    for (;;) {
      const FieldDescriptor& field =
          *type.field(static_cast<int>(random_.below(std::size_t(type.field_count()))));
      if (!allowed(field, depth)) continue;
      put(message, field, depth);
      return;
    }
  }

  void repeat(Message& message, const FieldDescriptor& field, int depth) {
    const int exact = length_of(field);
    const int most = random_.one_in(10) && field.message_type() == nullptr ? 300 : 4;
    const int count = exact > 0               ? exact
                      : allowed(field, depth) ? static_cast<int>(random_.below(std::size_t(most)))
                                              : 0;
    std::set<std::string> seen;
    for (int i = 0; i < count; ++i) {
      put(message, field, depth);
      const int last = message.GetReflection()->FieldSize(message, &field) - 1;
      if ((is_set(field) || is_map(field)) && !seen.insert(key_of(message, field, last)).second) {
        message.GetReflection()->RemoveLast(&message, &field);
      }
    }
  }

  /// As a newer schema might have. Unions and the messages around containers do not keep them.
  void add_unknown(Message& message) {
    pb::UnknownFieldSet& unknown = *message.GetReflection()->MutableUnknownFields(&message);
    unknown.AddVarint(1000, random_.bits());
    unknown.AddFixed64(999, random_.bits());
    unknown.AddLengthDelimited(1000)->assign(random_.bytes(random_.below(5)));
    unknown.AddFixed32(536870911, 7);
    unknown.AddGroup(19)->AddVarint(1, random_.bits());
  }

  void put(Message& message, const FieldDescriptor& field, int depth) {
    using R = pb::Reflection;
    const R& reflection = *message.GetReflection();
    const auto set = [&](auto setter, auto adder, auto drawn) {
      if (field.is_repeated()) {
        (reflection.*adder)(&message, &field, std::move(drawn));
      } else {
        (reflection.*setter)(&message, &field, std::move(drawn));
      }
    };
    const Range* const range = range_of(field);
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_BOOL:
        return set(&R::SetBool, &R::AddBool, random_.one_in(2));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return set(&R::SetFloat, &R::AddFloat, random_.real<float>());
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return set(&R::SetDouble, &R::AddDouble, random_.real<double>());
      case FieldDescriptor::CPPTYPE_INT32:
        return set(&R::SetInt32, &R::AddInt32, signed_in<std::int32_t>(range));
      case FieldDescriptor::CPPTYPE_INT64:
        return set(&R::SetInt64, &R::AddInt64, signed_in<std::int64_t>(range));
      case FieldDescriptor::CPPTYPE_UINT32:
        return set(&R::SetUInt32, &R::AddUInt32, unsigned_in<std::uint32_t>(range));
      case FieldDescriptor::CPPTYPE_UINT64:
        return set(&R::SetUInt64, &R::AddUInt64, unsigned_in<std::uint64_t>(range));
      case FieldDescriptor::CPPTYPE_ENUM: {
        const pb::EnumDescriptor& type = *field.enum_type();
        const auto index = random_.below(static_cast<std::size_t>(type.value_count()));
        return set(&R::SetEnum, &R::AddEnum, type.value(static_cast<int>(index)));
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return set(&R::SetString, &R::AddString,
                   field.type() == FieldDescriptor::TYPE_STRING ? random_.text() : bytes_for(field, random_));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return fill(field.is_repeated() ? *reflection.AddMessage(&message, &field)
                                        : *reflection.MutableMessage(&message, &field),
                    depth - 1);
    }
  }

  template <class T>
  T signed_in(const Range* range) {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(
        random_.signed_in(range ? range->least : Limits::min(), range ? range->most : Limits::max()));
  }
  template <class T>
  T unsigned_in(const Range* range) {
    const auto most = std::numeric_limits<T>::max();
    return static_cast<T>(random_.unsigned_to(range ? static_cast<std::uint64_t>(range->most) : most));
  }

  Random random_;
};

}  // namespace mf::codec
