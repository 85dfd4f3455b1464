#include "codec/described/shapes.hpp"

#include <algorithm>
#include <vector>

#include "mf/codec/row.hpp"
#include "mf/codec/varint.hpp"

namespace mf::described {
namespace {

// What C++ takes for a value on a machine of 64 bits, which is what the budgets of generated code count.
constexpr std::uint64_t kText = 32;
constexpr std::uint64_t kBytes = 32;
constexpr std::uint64_t kVector = 24;
constexpr std::uint64_t kTree = 48;
constexpr std::uint64_t kPointer = 8;

enum class State : unsigned char { waits, open, done };

class Shapes {
 public:
  Shapes(std::span<Type> types, std::span<Field> fields)
      : types_(types), fields_(fields), states_(types.size()), values_(types.size()) {}

  std::string reckon() {
    for (TypeIndex i = 0; i < types_.size() && wrong_.empty(); ++i) visit(i, 0);
    if (wrong_.empty()) find_linked();
    return std::move(wrong_);
  }

 private:
  bool fail(const Type& type, std::string_view reason) {
    if (wrong_.empty()) wrong_ = "type `" + std::string(type.name) + "` " + std::string(reason);
    return false;
  }

  bool visit(TypeIndex index, unsigned depth) {
    if (states_[index] == State::done) return true;
    Type& type = types_[index];
    if (states_[index] == State::open) return fail(type, "holds itself by value");
    if (depth == kMaxDirect) return fail(type, "is held by value too deep");
    states_[index] = State::open;
    values_[index] = 1;
    const bool good = type.kind == Kind::structure      ? structure(index, depth)
                      : type.kind == Kind::alternatives ? alternatives(index, depth)
                      : type.kind == Kind::array        ? array(index, depth)
                                                        : simple(type);
    states_[index] = State::done;
    if (good && values_[index] > kMaxSize) return fail(type, "holds more values than any message");
    return good;
  }

  bool simple(Type& type) {
    type.min_febird = 1;
    switch (type.kind) {
      case Kind::string:
        type.memory = kText;
        return true;
      case Kind::bytes:
        type.memory = kBytes;
        return true;
      case Kind::list:
        type.memory = kVector;
        return true;
      case Kind::set:
      case Kind::map:
        type.memory = kTree;
        return true;
      case Kind::optional:
        type.memory = kPointer;  // what it holds is charged where it is
        return true;
      case Kind::ref:
        type.memory = kPointer;
        return true;
      default:
        return scalar(type);
    }
  }

  bool scalar(Type& type) {
    const bool named = type.kind == Kind::enumeration || type.kind == Kind::flags;
    const Kind kind = named ? type.base : type.kind;
    const auto size = static_cast<std::uint32_t>(size_of_scalar(kind));
    type.fixed = true;
    type.size = size;
    type.align = kind == Kind::uuid ? 1 : size;
    type.memory = size;
    type.all_bits = kind != Kind::boolean && (type.kind != Kind::enumeration || type.open);
    type.row = size > 1 && ((kind >= Kind::u8 && kind <= Kind::i64) || kind == Kind::duration);
    type.raw = !type.row;
    type.min_febird = type.raw ? size : 1;
    return true;
  }

  bool structure(TypeIndex index, unsigned depth) {
    Type& type = types_[index];
    std::uint64_t at = 0;
    std::uint64_t sum = 0;
    std::uint64_t memory = 0;
    type.fixed = type.tier == Tier::memcpy;
    type.all_bits = type.raw = type.fixed;
    for (Field& field : fields_.subspan(type.first, type.count)) {
      if (!visit(field.type, depth + 1)) return false;
      const Type& held = types_[field.type];
      values_[index] += values_[field.type];
      sum += held.min_febird;
      memory += held.memory;
      if (!type.fixed) continue;
      if (!held.fixed) return fail(type, "is of tier memcpy, but a field of it has no layout");
      type.padded = type.padded || held.padded || rounded(at, held.align) != at;
      at = rounded(at, held.align);
      field.offset = static_cast<std::uint32_t>(at);
      at += held.size;
      if (at > kMaxSize) return fail(type, "is larger than any message");
      type.align = std::max(type.align, held.align);
      type.all_bits = type.all_bits && held.all_bits;
    }
    type.memory = std::max<std::uint64_t>(1, memory);
    if (type.fixed) type.size = static_cast<std::uint32_t>(rounded(at, type.align));
    if (type.fixed) type.padded = type.padded || type.size != at;
    type.min_febird = type.fixed ? type.size : type.tier == Tier::febird ? sum : 1;
    return true;
  }

  bool alternatives(TypeIndex index, unsigned depth) {
    Type& type = types_[index];
    std::uint64_t least = UINT64_MAX;
    for (const Field& field : fields_.subspan(type.first, type.count)) {
      if (!visit(field.type, depth + 1)) return false;
      values_[index] = std::max(values_[index], values_[field.type] + 1);
      least = std::min(least, codec::varint_size(field.number) + types_[field.type].min_febird);
      type.memory = std::max(type.memory, types_[field.type].memory);
    }
    type.memory += kPointer;
    type.min_febird = type.tier == Tier::febird && type.count != 0 ? least : 1;
    return true;
  }

  bool array(TypeIndex index, unsigned depth) {
    Type& type = types_[index];
    if (!visit(type.element, depth + 1)) return false;
    const Type& held = types_[type.element];
    values_[index] = values_[type.element] * type.length;
    type.fixed = held.fixed;
    type.all_bits = held.all_bits;
    type.padded = held.padded;
    type.raw = held.raw;
    type.align = held.align;
    const std::uint64_t size = std::uint64_t{held.size} * type.length;
    if (size > kMaxSize) return fail(type, "is larger than any message");
    type.size = static_cast<std::uint32_t>(size);
    type.memory = held.memory * type.length;
    type.min_febird = held.min_febird * type.length +
                      (held.row ? codec::detail::code_bytes(codec::detail::row_blocks(type.length)) : 0);
    return true;
  }

  static std::uint64_t rounded(std::uint64_t at, std::uint64_t align) noexcept {
    return (at + align - 1) / align * align;
  }

  /// Whatever a ref is reached from, through archives: what they hold of other tiers has graphs of its own.
  void find_linked() {
    std::vector<std::vector<TypeIndex>> holders(types_.size());
    std::vector<TypeIndex> pending;
    for (TypeIndex i = 0; i < types_.size(); ++i) {
      const Type& type = types_[i];
      const bool holds = type.kind == Kind::structure || type.kind == Kind::alternatives;
      if (type.kind == Kind::ref)
        pending.push_back(i);
      else if (type.element != kNoType)
        holders[type.element].push_back(i);
      if (holds && type.tier == Tier::archive)
        for (const Field& field : fields_.subspan(type.first, type.count)) holders[field.type].push_back(i);
    }
    while (!pending.empty()) {
      const TypeIndex index = pending.back();
      pending.pop_back();
      if (types_[index].linked) continue;
      types_[index].linked = true;
      pending.insert(pending.end(), holders[index].begin(), holders[index].end());
    }
  }

  std::span<Type> types_;
  std::span<Field> fields_;
  std::vector<State> states_;
  std::vector<std::uint64_t> values_;  // that a value holds by value
  std::string wrong_;
};

}  // namespace

std::size_t size_of_scalar(Kind kind) noexcept {
  switch (kind) {
    case Kind::boolean:
    case Kind::u8:
    case Kind::i8:
      return 1;
    case Kind::u16:
    case Kind::i16:
      return 2;
    case Kind::u32:
    case Kind::i32:
    case Kind::f32:
      return 4;
    case Kind::u64:
    case Kind::i64:
    case Kind::f64:
    case Kind::timestamp:
    case Kind::duration:
      return 8;
    case Kind::uuid:
      return 16;
    default:
      return 0;
  }
}

std::string reckon_shapes(std::span<Type> types, std::span<Field> fields) {
  return Shapes(types, fields).reckon();
}

}  // namespace mf::described
