#include "codec/described/steps.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

#include "codec/described/alike.hpp"
#include "codec/described/archive_check.hpp"

namespace mf::described {
namespace {

/// A peer decides how many there would be.
constexpr std::size_t kMostSteps = std::size_t{1} << 17U;

/// The largest number, zigzag or not, that a varint of the type may be.
std::uint64_t most_of(const Type& type) noexcept {
  return type.size == 8 ? UINT64_MAX : (std::uint64_t{1} << (8U * type.size)) - 1;
}

unsigned code_of(const Type& type) noexcept {
  return static_cast<unsigned>(std::bit_width(type.size)) - 1;
}

using codec::archive::Wire;

class Maker {
 public:
  explicit Maker(const Program& program)
      : program_(program), from_(*program.from), to_(*program.to), alike_(program) {
    const std::size_t pairs = program.pairs.size();
    made_.values.assign(pairs, kNone);
    made_.fields.assign(pairs, kNone);
  }

  std::shared_ptr<const Steps> run() {
    for (PairIndex i = 0; i < program_.pairs.size(); ++i) whole(i);
    while (!waiting_.empty() && !too_many_) {
      const Waiting next = waiting_.back();
      waiting_.pop_back();
      const std::uint32_t first = here();
      last_ = kNone;
      switch (next.how) {
        case How::value:
          value(next.link);
          break;
        case How::fields:
          fields(next.link);
          break;
        case How::message:
          add({.does = Does::record, .what = block(next.link, How::archived)});
          break;
        case How::archived:
          fields_in_order(*next.link.pair, from_.fields(from_.type(next.link.from)), &to_.type(next.link.to));
          break;
      }
      made_.blocks[next.block] = {first, here() - first};
    }
    if (too_many_) return nullptr;
    return std::make_shared<const Steps>(std::move(made_));
  }

 private:
  enum class How : std::uint8_t {
    value,
    fields,    // of a struct, without what is around them
    message,   // an archive alone
    archived,  // the fields of an archive, without what is around them
  };
  struct Waiting {
    std::uint32_t block;
    Link link;
    How how;
  };

  [[nodiscard]] std::uint32_t here() const noexcept { return static_cast<std::uint32_t>(made_.steps.size()); }

  // A link without a pair says nothing of the other schema: its bytes are passed.
  [[nodiscard]] Link link(PairIndex index) const noexcept {
    const Pair& pair = program_.pairs[index];
    if (pair.rule == Rule::same) return passed(pair.from);
    return {pair.from, pair.to, &pair};
  }
  [[nodiscard]] static Link passed(TypeIndex from) noexcept { return {from, kNoType, nullptr}; }
  [[nodiscard]] const Type& made_of(const Link& link) const noexcept {
    return link.pair != nullptr ? to_.type(link.to) : from_.type(link.from);
  }
  [[nodiscard]] Link element_of(const Link& link, const Type& from) const noexcept {
    return link.pair != nullptr ? this->link(link.pair->element) : passed(from.element);
  }
  [[nodiscard]] PairIndex index_of(const Link& link) const noexcept {
    return static_cast<PairIndex>(link.pair - program_.pairs.data());
  }

  /// The value of a pair as a message has it, if that is febird on both sides.
  void whole(PairIndex index) {
    const auto stands_in_febird = [](const Type& type) {
      return !type.fixed && type.tier != Tier::archive && type.tier != Tier::custom;
    };
    const Pair& pair = program_.pairs[index];
    const Type& from = from_.type(pair.from);
    const Type& to = to_.type(pair.to);
    if (becomes_archive(link(index), from, to)) {
      made_.values[index] = block(link(index), from.implicit ? How::archived : How::message);
      return;
    }
    if (!stands_in_febird(from) || !stands_in_febird(to)) return;
    const bool record = from.kind == Kind::structure && to.kind == Kind::structure;
    if (record) made_.fields[index] = block(link(index), How::fields);
    made_.values[index] = record && from.implicit ? made_.fields[index] : block(link(index), How::value);
  }

  /// A block is made later, since types may hold themselves.
  std::uint32_t block(const Link& link, How how) {
    const std::uint64_t what = link.pair != nullptr ? std::uint64_t{1} << 32U | index_of(link) : link.from;
    const auto [found, is_new] = blocks_.try_emplace(what << 2U | static_cast<unsigned>(how),
                                                     static_cast<std::uint32_t>(made_.blocks.size()));
    if (is_new) {
      made_.blocks.emplace_back();
      waiting_.push_back({found->second, link, how});
    }
    return found->second;
  }

  // --- steps

  std::uint32_t add(const Step& step) {
    too_many_ = too_many_ || made_.steps.size() >= kMostSteps;
    const std::uint32_t at = here();
    if (!too_many_) made_.steps.push_back(step);
    last_ = at;
    return at;
  }
  template <class Inside>
  void add_with_body(const Step& step, const Inside& inside) {
    const std::uint32_t at = add(step);
    last_ = kNone;
    inside();
    if (!too_many_) made_.steps[at].body = here() - at - 1;
    last_ = kNone;
  }
  /// Bytes that follow each other are one step.
  void add_bytes(std::uint32_t size) {
    if (last_ != kNone && !too_many_ && made_.steps[last_].does == Does::bytes) {
      made_.steps[last_].size += size;
    } else {
      add({.does = Does::bytes, .size = size});
    }
  }
  void add_constant(std::span<const std::byte> bytes) {
    const auto at = static_cast<std::uint32_t>(made_.constants.size());
    too_many_ = too_many_ || made_.constants.size() + bytes.size() > kMostSteps;
    if (too_many_) return;
    made_.constants.insert(made_.constants.end(), bytes.begin(), bytes.end());
    if (last_ != kNone && made_.steps[last_].does == Does::put) {
      made_.steps[last_].size += static_cast<std::uint32_t>(bytes.size());
    } else {
      add({.does = Does::put, .size = static_cast<std::uint32_t>(bytes.size()), .what = at});
    }
  }
  void add_byte(std::byte byte) { add_constant({&byte, 1}); }

  void by_walk(const Link& link) {
    if (link.pair == nullptr) {
      add({.does = Does::other, .what = link.from});
    } else {
      add({.does = Does::by_walk, .what = index_of(link)});
    }
  }

  // --- values

  void value(const Link& link) {
    if (too_many_) return;
    const Type& from = from_.type(link.from);
    const Type& to = made_of(link);
    if (link.pair != nullptr) {
      switch (link.pair->rule) {
        case Rule::number:
        case Rule::enumeration:
        case Rule::flags:
          return number_of(link, from, to);
        case Rule::to_optional:
          add_byte(std::byte{1});
          return value(this->link(link.pair->element));
        case Rule::from_optional:
          return add_with_body({.does = Does::needed, .what = link.pair->fallback},
                               [&] { value(this->link(link.pair->element)); });
        case Rule::reference:
          return by_walk(link);
        default:
          break;
      }
    }
    switch (from.kind) {
      case Kind::string:
        add({.does = Does::text});
        return;
      case Kind::bytes:
        add({.does = to.kind == Kind::string ? Does::text : Does::octets});
        return;
      case Kind::list:
        return list(link, from);
      case Kind::array:
        return array(link, from);
      case Kind::map:
        return map(link, from);
      case Kind::optional:
        return add_with_body({.does = Does::optional, .most = from_.type(from.element).memory},
                             [&] { value(element_of(link, from)); });
      case Kind::structure:
        return record(link, from, to);
      case Kind::alternatives:
        return alternatives(link, from);
      case Kind::set:
      case Kind::ref:
        return by_walk(link);
      default:
        return plain_number(link.from, from, from);
    }
  }

  /// A number that stays as it is, and is looked at so that it fits `to`.
  void plain_number(TypeIndex index, const Type& from, const Type& to) {
    if (!from.all_bits) {
      add({.does = Does::checked, .what = index});
    } else if (from.raw) {
      add_bytes(from.size);
    } else {
      const Does does = from.size == 2 ? Does::small : from.size == 4 ? Does::medium : Does::large;
      add({.does = does, .most = std::min(most_of(from), most_of(to))});
    }
  }

  /// Integers of 2 bytes and more are encoded alike, whatever their width is.
  void number_of(const Link& link, const Type& from, const Type& to) {
    if (encoded_alike(link.pair, from, to)) return plain_number(link.from, from, to);
    if (from.kind == Kind::f32 && to.kind == Kind::f64) {
      add({.does = Does::real});
      return;
    }
    add({.does = Does::convert, .what = index_of(link)});
  }
  void list(const Link& link, const Type& from) {
    const Link element = element_of(link, from);
    const Type& of = from_.type(from.element);
    const Type& made = made_of(element);
    if (!is_number(of) && !of.raw && !made.row) {
      return add_with_body({.does = Does::list, .size = least_of(of.min_febird), .most = of.memory},
                           [&] { value(element); });
    }
    if (!encoded_alike(element.pair, of, made) || !of.all_bits) return by_walk(link);
    if (of.row) {
      const unsigned code = std::min(code_of(of), code_of(made));
      add({.does = Does::row, .code = static_cast<std::uint8_t>(code), .most = of.memory});
    } else {
      add({.does = Does::many, .size = of.size, .most = of.memory});
    }
  }
  /// No value is as large as what does not fit.
  [[nodiscard]] std::uint32_t least_of(std::uint64_t size) noexcept {
    too_many_ = too_many_ || size > UINT32_MAX;
    return static_cast<std::uint32_t>(size);
  }

  void array(const Link& link, const Type& from) {
    const Link element = element_of(link, from);
    const Type& of = from_.type(from.element);
    const Type& made = made_of(element);
    if (!is_number(of) && !made.row)
      return add_with_body({.does = Does::array, .size = from.length}, [&] { value(element); });
    if (!encoded_alike(element.pair, of, made) || !of.all_bits || of.size > made.size) return by_walk(link);
    if (of.raw) {
      add({.does = Does::leaf, .size = from.size});
    } else {
      add({.does = Does::array_row, .what = link.from});
    }
  }

  void map(const Link& link, const Type& from) {
    if (!has_texts_as_keys(program_, link.pair, from)) return by_walk(link);
    const Type& key = from_.type(from.key);
    const Type& mapped = from_.type(from.element);
    add_with_body({.does = Does::texts,
                   .code = static_cast<std::uint8_t>(key.kind == Kind::string ? 1 : 0),
                   .size = least_of(key.min_febird + mapped.min_febird),
                   .most = key.memory + mapped.memory + codec::kNodeOverhead},
                  [&] { value(element_of(link, from)); });
  }

  void record(const Link& link, const Type& from, const Type& to) {
    if (is_febird(from) && is_febird(to)) {
      add({.does = Does::record, .what = block(link, How::fields)});
    } else if (becomes_archive(link, from, to)) {
      add({.does = Does::length, .what = block(link, How::archived)});
    } else if (link.pair == nullptr && from.tier == Tier::memcpy && from.all_bits) {
      add({.does = Does::leaf, .size = from.size});
    } else {
      by_walk(link);
    }
  }

  void alternatives(const Link& link, const Type& from) {
    if (!is_febird(from) || !is_febird(made_of(link))) return by_walk(link);
    const auto first = static_cast<std::uint32_t>(made_.choices.size());
    made_.choices.resize(first + from.count, kNone);
    for (std::uint32_t i = 0; i < from.count; ++i) {
      Link inside = passed(from_.fields(from)[i].type);
      if (link.pair != nullptr) {
        const FieldStep& step = program_.fields[link.pair->first + i];
        if (step.to_field == kNone) continue;
        inside = this->link(step.pair);
      }
      made_.choices[first + i] = block(inside, How::value);
    }
    add({.does = Does::choice, .size = first, .what = link.from});
  }

  // --- fields

  void fields(const Link& link) {
    const Type& from = from_.type(link.from);
    const std::span<const Field> fields = from_.fields(from);
    if (link.pair == nullptr) {
      for (const Field& field : fields) value(passed(field.type));
    } else if (link.pair->in_order) {
      fields_in_order(*link.pair, fields, nullptr);
    } else {
      add_with_body({.does = Does::moved, .size = from.count}, [&] { moved_fields(*link.pair, fields); });
    }
  }

  /// `archive` is what they become fields of, if that is one.
  void fields_in_order(const Pair& pair, std::span<const Field> fields, const Type* archive) {
    std::size_t next = 0;
    const auto drop_until = [&](std::size_t end) {
      if (next >= end) return;
      add_with_body({.does = Does::drop}, [&] {
        for (; next < end; ++next) value(passed(fields[next].type));
      });
    };
    for (std::uint32_t i = 0; i < pair.count; ++i) {
      const FieldStep& step = program_.fields[pair.first + i];
      if (step.from_field == kNone) {
        if (archive == nullptr) nothing(step);
        continue;
      }
      drop_until(step.from_field);
      if (archive == nullptr) {
        value(link(step.pair));
      } else {
        field(step.pair, to_.fields(*archive)[i].number);
      }
      ++next;
    }
    drop_until(fields.size());
  }

  /// All fields are passed and marked; then the bytes between marks are taken in the other order.
  void moved_fields(const Pair& pair, std::span<const Field> fields) {
    std::vector<Link> links;
    for (const Field& field : fields) links.push_back(passed(field.type));
    for (std::uint32_t i = 0; i < pair.count; ++i) {
      const FieldStep& step = program_.fields[pair.first + i];
      if (step.from_field != kNone && alike_(step.pair)) links[step.from_field] = link(step.pair);
    }
    const auto mark = [&](std::size_t at) {
      add({.does = Does::mark,
           .size = static_cast<std::uint32_t>(at),
           .what = at == fields.size() ? 1U : 0U});
    };
    for (std::size_t i = 0; i < links.size(); ++i) {
      mark(i);
      value(links[i]);
    }
    mark(fields.size());
    for (std::uint32_t i = 0; i < pair.count; ++i) {
      const FieldStep& step = program_.fields[pair.first + i];
      if (step.from_field == kNone) {
        nothing(step);
      } else {
        take(step);
      }
    }
  }

  void take(const FieldStep& step) {
    const std::uint32_t first = step.from_field;
    const Pair& pair = program_.pairs[step.pair];
    if (alike_(step.pair)) {
      const bool goes_on = last_ != kNone && !too_many_ && made_.steps[last_].does == Does::take &&
                           made_.steps[last_].what == first;
      if (goes_on) {
        ++made_.steps[last_].what;
      } else {
        add({.does = Does::take, .size = first, .what = first + 1});
      }
    } else if (pair.rule == Rule::number && from_.type(pair.from).kind == Kind::f32) {
      add({.does = Does::take_real, .size = first});
    } else {
      add_with_body({.does = Does::take_by, .size = first, .what = first + 1},
                    [&] { value(link(step.pair)); });
    }
  }

  /// A field that the source does not have: absent and empty are one zero.
  void nothing(const FieldStep& step) {
    if (step.fallback == kNone) return add_constant(std::array{std::byte{0}});
    add_constant(program_.defaults[step.fallback].febird);
  }

  // --- into archives. Those that answer false may have added some steps.

  /// Is it a struct in febird whose fields become those of an archive, none of them by a default?
  [[nodiscard]] bool becomes_archive(const Link& link, const Type& from, const Type& to) const {
    if (link.pair == nullptr || link.pair->rule != Rule::record || !is_febird(from) ||
        to.tier != Tier::archive || to.linked || !link.pair->in_order)
      return false;
    const std::span steps = std::span(program_.fields).subspan(link.pair->first, link.pair->count);
    return std::ranges::all_of(
        steps, [](const FieldStep& step) { return step.from_field != kNone || step.fallback == kNone; });
  }
  void field(PairIndex pair, std::uint32_t number) {
    const std::uint32_t first = here();
    last_ = kNone;
    if (archived(link(pair), number, true) || too_many_) return;
    made_.steps.resize(first);
    last_ = kNone;
    add({.does = Does::field_by_walk, .code = 1, .size = number, .what = pair});
  }

  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) add_byte(static_cast<std::byte>(value | 0x80U));
    add_byte(static_cast<std::byte>(value));
  }
  void add_tag(std::uint32_t number, Wire wire) { add_varint(codec::archive::tag_of(number, wire)); }

  /// A tag in front of the step that was added last; most steps can put it themselves.
  void put_before_last(std::uint32_t tag) {
    if (too_many_) return;
    Step& step = made_.steps.back();
    if (step.does == Does::checked || step.does == Does::archived) {
      const Step last = step;
      made_.steps.pop_back();
      last_ = kNone;
      add_varint(tag);
      add(last);
      return;
    }
    step.does = step.does == Does::bytes    ? Does::tagged_bytes
                : step.does == Does::small  ? Does::tagged_small
                : step.does == Does::medium ? Does::tagged_medium
                : step.does == Does::large  ? Does::tagged_large
                : step.does == Does::text   ? Does::tagged_text
                                            : Does::tagged_octets;
    step.what = tag;
  }

  /// `whole`: rows of values may stand here, and what is absent takes no bytes.
  [[nodiscard]] bool archived(const Link& link, std::uint32_t number, bool whole) {
    if (too_many_) return true;
    const Type& from = from_.type(link.from);
    const Type& to = made_of(link);
    if (link.pair != nullptr && link.pair->rule == Rule::to_optional)
      return whole && archived(this->link(link.pair->element), number, false);
    if (link.pair != nullptr && link.pair->rule == Rule::from_optional) return false;
    if (is_number(from)) return archived_number(link, from, to, number);
    switch (from.kind) {
      case Kind::string:
      case Kind::bytes:
        add({.does = from.kind == Kind::string || to.kind == Kind::string ? Does::text : Does::octets});
        put_before_last(codec::archive::tag_of(number, Wire::length));
        return true;
      case Kind::uuid:
        add_tag(number, Wire::length);
        add_varint(from.size);
        add_bytes(from.size);
        return true;
      case Kind::optional: {
        bool good = whole;
        add_with_body({.does = Does::present, .most = from_.type(from.element).memory},
                      [&] { good = good && archived(element_of(link, from), number, false); });
        return good;
      }
      case Kind::list:
        return whole && archived_list(link, from, number);
      case Kind::array:
        return whole && archived_array(link, from, number);
      case Kind::map:
        return whole && archived_map(link, from, number);
      case Kind::structure:
        return archived_record(link, from, to, number);
      default:
        return false;
    }
  }

  [[nodiscard]] bool archived_number(const Link& link, const Type& from, const Type& to,
                                     std::uint32_t number) {
    const Wire wire = wire_of(to);
    const bool folded_alike = is_signed(from) ? is_zigzag(to) : !is_signed(to);
    const bool alike = wire == Wire::varint ? from.kind == Kind::boolean || (from.row && folded_alike)
                                            : from.raw && wire == wire_of(from);
    last_ = kNone;  // so that it is one step
    if (alike && encoded_alike(link.pair, from, to)) {
      plain_number(link.from, from, to);
    } else {
      add({.does = Does::archived, .size = link.from, .what = link.pair == nullptr ? kNone : index_of(link)});
    }
    put_before_last(codec::archive::tag_of(number, wire));
    return true;
  }

  /// Are the elements of a row numbers of which all are good, and that stay as they are?
  [[nodiscard]] static bool plain_row(const Link& element, const Type& of, const Type& made) {
    return of.all_bits && encoded_alike(element.pair, of, made) && of.size <= made.size;
  }
  [[nodiscard]] static bool fixed_on_both(const Type& of, const Type& made) {
    return of.raw && wire_of(made) != Wire::varint && wire_of(made) == wire_of(of);
  }

  [[nodiscard]] bool archived_list(const Link& link, const Type& from, std::uint32_t number) {
    const Link element = element_of(link, from);
    const Type& of = from_.type(from.element);
    const Type& made = made_of(element);
    const std::uint32_t tag = codec::archive::tag_of(number, Wire::length);
    if (is_number(of)) {
      const bool integer = of.kind >= Kind::u8 && of.kind <= Kind::i64;
      if (!plain_row(element, of, made)) return false;
      if (fixed_on_both(of, made)) {
        add({.does = Does::packed_raw, .size = of.size, .what = tag, .most = of.memory});
        return true;
      }
      if (!integer || of.size < 4 || made.coding != Coding::own) return false;
      add({.does = Does::packed, .size = from.element, .what = tag, .most = of.memory});
      return true;
    }
    bool good = !of.raw;
    add_with_body({.does = Does::elements, .size = least_of(of.min_febird), .most = of.memory},
                  [&] { good = good && archived(element, number, false); });
    return good;
  }

  [[nodiscard]] bool archived_array(const Link& link, const Type& from, std::uint32_t number) {
    const Link element = element_of(link, from);
    const Type& of = from_.type(from.element);
    const Type& made = made_of(element);
    if (is_number(of)) {
      if (!plain_row(element, of, made) || !fixed_on_both(of, made)) return false;
      add_tag(number, Wire::length);
      add_varint(from.size);
      add({.does = Does::leaf, .size = from.size});
      return true;
    }
    bool good = true;
    add_with_body({.does = Does::array, .size = from.length},
                  [&] { good = archived(element, number, false); });
    return good;
  }

  [[nodiscard]] bool archived_map(const Link& link, const Type& from, std::uint32_t number) {
    if (!has_texts_as_keys(program_, link.pair, from)) return false;
    const Type& key = from_.type(from.key);
    const Type& mapped = from_.type(from.element);
    bool good = true;
    add_with_body({.does = Does::entries,
                   .code = static_cast<std::uint8_t>(key.kind == Kind::string ? 1 : 0),
                   .size = least_of(key.min_febird + mapped.min_febird),
                   .what = codec::archive::tag_of(number, Wire::length),
                   .most = key.memory + mapped.memory + codec::kNodeOverhead},
                  [&] { good = archived(element_of(link, from), 2, false); });
    return good;
  }

  [[nodiscard]] bool archived_record(const Link& link, const Type& from, const Type& to,
                                     std::uint32_t number) {
    const bool archive = becomes_archive(link, from, to);
    if (archive || (is_febird(from) && is_febird(to))) {
      add({.does = Does::length,
           .size = codec::archive::tag_of(number, Wire::length),
           .what = block(link, archive ? How::archived : How::fields)});
      return true;
    }
    if (link.pair != nullptr || from.tier != Tier::memcpy || !from.all_bits || from.padded) return false;
    add_tag(number, Wire::length);
    add_varint(from.size);
    add({.does = Does::leaf, .size = from.size});
    return true;
  }

  const Program& program_;
  const Schema& from_;
  const Schema& to_;
  Steps made_;
  std::vector<Waiting> waiting_;
  std::unordered_map<std::uint64_t, std::uint32_t> blocks_;
  Alike alike_;
  std::uint32_t last_ = kNone;  // the step that what follows may become a part of
  bool too_many_ = false;
};

}  // namespace

std::shared_ptr<const Steps> make_steps(const Program& program) {
  return Maker(program).run();
}

}  // namespace mf::described
