#pragma once
// R1. The one reader by description: it walks through bytes of one schema and calls a sink with their values,
// as values of another schema. Where both are one schema and there is no program, it just reads.
//
// A sink gets the values in the order of its own schema: fields by their place, keys ascending, a count
// before what is counted. It has
//   number(type, bits)                       see numbers.hpp
//   octets(type, bytes)                      a uuid, string, bytes, or value of tier custom
//   numbers(container, values, count)        many of them at once, in their layout
//   takes_images(of), images(container, from, count)      values of fixed size as they lie, if it likes
//   open_sequence(container, count), element(scope, i), close_sequence(scope)
//   open_map(map, count), key(scope), mapped(scope), end_entry(scope), close_map(scope)
//   takes_febird(), febird(bytes)            a value as it is in febird, if the sink writes the same there
//   absent(optional), open_present(optional), close_present(scope)
//   open_record(type), field(scope, type, i), close_record(scope)
//   open_union(type, i), close_union(scope)
// The scopes that it gives lie on this walk's stack. Every walk checks what it reads: bounds, depth, budget,
// numbers, order, texts, with the faults, offsets and paths of generated code. What is in order and has no
// equal in the other schema is a misfit.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/described/archive_notes.hpp"
#include "codec/described/numbers.hpp"
#include "mf/codec/described/program.hpp"
#include "mf/codec/febird.hpp"
#include "mf/codec/reader.hpp"
#include "mf/codec/text.hpp"
#include "mf/codec/varint.hpp"

namespace mf::described {

/// What is read, and what it becomes. `pair` null: both are alike.
struct Link {
  TypeIndex from = kNoType;
  TypeIndex to = kNoType;
  const Pair* pair = nullptr;
};

/// Memory that walks through one message use in turn.
struct Scratches {
  Scratch values;
  Scratch keys;
  Scratch converted;
  Scratch converted_keys;
  std::vector<ArchiveNotes> notes;  // that no walk uses at present
};

/// The sink of a caller that only checks the bytes.
struct Nothing {
  struct Scope {};
  static void number(const Type& /*type*/, std::uint64_t /*bits*/) {}
  static void octets(const Type& /*type*/, std::span<const std::byte> /*bytes*/) {}
  static void numbers(const Type& /*container*/, const std::byte* /*values*/, std::size_t /*count*/) {}
  static bool takes_images(const Type& /*of*/) { return true; }
  static void images(const Type& /*container*/, const std::byte* /*from*/, std::size_t /*count*/) {}
  static Scope open_sequence(const Type& /*container*/, std::size_t /*count*/) { return {}; }
  static void element(const Scope& /*scope*/, std::size_t /*i*/) {}
  static void close_sequence(const Scope& /*scope*/) {}
  static Scope open_map(const Type& /*map*/, std::size_t /*count*/) { return {}; }
  static void key(Scope& /*scope*/) {}
  static void mapped(const Scope& /*scope*/) {}
  static void end_entry(const Scope& /*scope*/) {}
  static void close_map(const Scope& /*scope*/) {}
  static bool takes_febird() { return false; }
  static void febird(std::span<const std::byte> /*bytes*/) {}
  static void absent(const Type& /*optional*/) {}
  static Scope open_present(const Type& /*optional*/) { return {}; }
  static void close_present(const Scope& /*scope*/) {}
  static Scope open_record(const Type& /*type*/) { return {}; }
  static void field(const Scope& /*scope*/, const Type& /*type*/, std::size_t /*i*/) {}
  static void close_record(const Scope& /*scope*/) {}
  static Scope open_graph(const Type& /*root*/) { return {}; }
  static void open_table(const Scope& /*scope*/, std::size_t /*table*/, std::string_view /*name*/) {}
  static void object(const Scope& /*scope*/) {}
  static void close_table(const Scope& /*scope*/) {}
  static void close_graph(const Scope& /*scope*/) {}
  static void reference(const Type& /*type*/, std::uint32_t /*number*/) {}
  static Scope open_union(const Type& /*type*/, std::size_t /*i*/) { return {}; }
  static void close_union(const Scope& /*scope*/) {}
};

/// The sink that gets the objects of a graph before they are written: it only collects references.
struct Collector : Nothing {
  static bool takes_images(const Type& /*of*/) { return false; }
};

class GraphNumbering;

template <class Sink>
class Walk {
 public:
  Walk(const Schema& from, const Schema& to, const Program* program, codec::Reader& reader, Sink& sink,
       Scratches& scratches) noexcept
      : from_(from), to_(to), program_(program), reader_(reader), sink_(sink), scratches_(scratches) {}

  /// The bytes were walked through before: what they take is not charged again.
  void trust() noexcept { trusted_ = true; }
  [[nodiscard]] bool misfit() const noexcept { return misfit_; }

  [[nodiscard]] Link link(PairIndex index) const noexcept {
    const Pair& pair = program_->pairs[index];
    return {pair.from, pair.to, pair.rule == Rule::same ? nullptr : &pair};
  }

  /// A value on its own, in the tier that its type has. Archives and customs take all that is left.
  [[nodiscard]] bool whole(const Link& link) {
    const Type& type = from_.type(link.from);
    if (type.fixed) {
      const std::byte* from = nullptr;
      return take_image(type, from) && image(link, from);
    }
    if (type.kind == Kind::structure && type.tier == Tier::custom) return custom(link, reader_.left());
    if (is_archive(type)) return archive(link);
    return febird(link);
  }

  /// Reads a value in tier febird.
  [[nodiscard]] bool febird(const Link& link);
  /// Reads the fields of a struct in tier febird, whatever the tier of the struct.
  [[nodiscard]] bool fields(const Link& link);

 private:
  static constexpr bool kLooksOnly = std::is_same_v<Sink, Nothing>;

  [[nodiscard]] static bool is_archive(const Type& type) noexcept { return type.tier == Tier::archive; }
  // --- archives: one is read into notes, which are then given to the sink in its order

  [[nodiscard]] bool archive(const Link& link);
  [[nodiscard]] bool archive_body(const Link& link, std::uint32_t message);
  [[nodiscard]] bool archive_graph(const Link& link, std::uint32_t message);
  void put_reference(const Link& link, const Type& from, std::uint64_t index);
  void meet_all_of(const Link& link);
  [[nodiscard]] bool archive_record(const Link& link, const Type& from, Parts parts);
  [[nodiscard]] bool archive_union(const Link& link, const Type& from, Parts parts);
  [[nodiscard]] bool archive_field(const Link& link, Parts parts);
  [[nodiscard]] bool archive_single(const Link& link, Parts parts);
  [[nodiscard]] bool archive_sequence(const Link& link, const Type& from, Parts parts);
  [[nodiscard]] bool archive_references(const Type& to, const Link& element, const Type& of, Parts parts);
  [[nodiscard]] bool archive_set(const Link& link, const Type& from, Parts parts);
  [[nodiscard]] bool archive_map(const Link& link, const Type& from, Parts parts);
  [[nodiscard]] bool archive_default(const Link& link, const Field& field);
  [[nodiscard]] bool archive_zero(const Link& link, const Type& from);
  [[nodiscard]] std::uint64_t archive_number(const Type& type, const Part& part) const noexcept;
  [[nodiscard]] std::uint64_t archive_reference(const Part& part, std::size_t i) const noexcept;
  [[nodiscard]] std::size_t archive_numbers(const Type& of, Parts parts);
  template <class Read>
  [[nodiscard]] bool in_febird(std::span<const std::byte> bytes, const Read& read);
  /// Is nothing sent of it when it is empty, whatever its default is?
  [[nodiscard]] static bool may_be_empty(const Type& type) noexcept {
    return type.kind == Kind::optional || type.kind == Kind::list || type.kind == Kind::set ||
           type.kind == Kind::map;
  }

  [[nodiscard]] bool charge(std::size_t count, std::size_t size) {
    return trusted_ || reader_.charge(count, size);
  }
  bool cannot_go_over(std::string words) {
    misfit_ = true;
    return reader_.fail(codec::Fault::none, words);
  }
  [[nodiscard]] Link element_of(const Link& link, const Type& from, const Type& to) const noexcept {
    return link.pair != nullptr ? this->link(link.pair->element) : Link{from.element, to.element, nullptr};
  }
  [[nodiscard]] Link key_of(const Link& link, const Type& from, const Type& to) const noexcept {
    return link.pair != nullptr ? this->link(link.pair->key) : Link{from.key, to.key, nullptr};
  }
  /// Does the rule take numbers to numbers?
  [[nodiscard]] static bool numeric(const Link& link) noexcept {
    return link.pair == nullptr || link.pair->rule == Rule::number || link.pair->rule == Rule::enumeration ||
           link.pair->rule == Rule::flags;
  }

  bool lacks_alternative(const Field& field) {
    return cannot_go_over("alternative " + std::string(field.name) + " is not in @");
  }

  /// Of a field in a path: names are those of the side that reads it.
  [[nodiscard]] std::string_view name_of(const Field& from, const Type& to, std::size_t made) const noexcept {
    return program_ != nullptr && program_->names_of_to ? to_.fields(to)[made].name : from.name;
  }

  // --- the rules of optionals, for a value in any place

  template <class Read>
  [[nodiscard]] bool into_optional(const Link& link, const Read& read) {
    auto scope = sink_.open_present(to_.type(link.to));
    if (!read(this->link(link.pair->element))) return false;
    sink_.close_present(scope);
    return true;
  }
  [[nodiscard]] bool absent_becomes(const Link& link) {
    if (link.pair->fallback == kNone) return cannot_go_over("absent, and @ needs a value");
    return put_default(link.pair->fallback, link.to);
  }
  [[nodiscard]] bool put_default(std::uint32_t index, TypeIndex to) {
    const std::vector<std::byte>& bytes = program_->defaults[index].febird;
    codec::Reader reader(bytes);
    Walk<Sink> walk(to_, to_, nullptr, reader, sink_, scratches_);
    return walk.febird({to, to, nullptr});
  }
  /// A field that the source does not have.
  [[nodiscard]] bool put_nothing(const FieldStep& step, TypeIndex to) {
    if (step.fallback != kNone) return put_default(step.fallback, to);
    const Type& type = to_.type(to);
    if (type.kind == Kind::optional) {
      sink_.absent(type);
    } else if (type.kind == Kind::map) {
      auto scope = sink_.open_map(type, 0);
      sink_.close_map(scope);
    } else {
      auto scope = sink_.open_sequence(type, 0);
      sink_.close_sequence(scope);
    }
    return true;
  }

  // --- single values

  [[nodiscard]] bool put_number(const Link& link, const Type& from, std::uint64_t bits) {
    const Type& to = to_.type(link.to);
    const Conversion conversion(program_, link.pair, from, to);
    if (!conversion.alike()) {
      const std::uint64_t before = bits;
      if (!conversion.convert(bits)) return cannot_go_over(conversion.words(before));
    }
    sink_.number(to, bits);
    return true;
  }

  template <class T>
  [[nodiscard]] bool varint(std::uint64_t& bits) {
    if constexpr (std::is_signed_v<T>) {
      T value{};
      if (!codec::read_zigzag(reader_, value)) return false;
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
      return true;
    } else {
      T value{};
      if (!codec::read_varint(reader_, value)) return false;
      bits = value;
      return true;
    }
  }
  [[nodiscard]] bool number(const Type& type, std::uint64_t& bits) {
    const std::size_t start = reader_.offset();
    if (type.raw) {
      const std::byte* from = nullptr;
      if (!reader_.take(type.size, from)) return false;
      bits = load_bits(type, from);
    } else {
      const bool good = is_signed(type)  ? type.size == 2   ? varint<std::int16_t>(bits)
                                           : type.size == 4 ? varint<std::int32_t>(bits)
                                                            : varint<std::int64_t>(bits)
                         : type.size == 2 ? varint<std::uint16_t>(bits)
                        : type.size == 4 ? varint<std::uint32_t>(bits)
                                         : varint<std::uint64_t>(bits);
      if (!good) return false;
    }
    return type.all_bits || is_valid(from_, type, bits) || refuse_number(reader_, type, start);
  }

  [[nodiscard]] bool octets(const Type& type, std::span<const std::byte>& bytes) {
    if (type.kind == Kind::uuid) {
      const std::byte* from = nullptr;
      if (!reader_.take(type.size, from)) return false;
      bytes = {from, type.size};
      return true;
    }
    const std::byte* from = nullptr;
    std::size_t length = 0;
    if (trusted_) {
      if (!reader_.read_count(1, length) || !reader_.take(length, from)) return false;
    } else if (!reader_.take_counted(from, length)) {
      return false;
    }
    bytes = {from, length};
    return type.kind != Kind::string || is_text(bytes);
  }
  /// Of what was just taken.
  [[nodiscard]] bool is_text(std::span<const std::byte> bytes) {
    return codec::is_ascii(bytes.data(), bytes.size()) ||
           codec::detail::check_utf8(reader_, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  [[nodiscard]] bool put_octets(const Link& link, std::span<const std::byte> bytes) {
    if (link.pair != nullptr && link.pair->rule == Rule::checked_text &&
        codec::valid_utf8_prefix(bytes) != bytes.size())
      return cannot_go_over("no UTF-8, which string of @ is");
    sink_.octets(to_.type(link.to), bytes);
    return true;
  }
  [[nodiscard]] bool custom(const Link& link, std::size_t length) {
    const std::byte* from = nullptr;
    if (!charge(length, 1) || !reader_.take(length, from)) return false;
    sink_.octets(to_.type(link.to), {from, length});
    return true;
  }

  // --- values that are written as their layout

  [[nodiscard]] bool check_image(const Type& type, const std::byte* from, std::size_t offset);
  /// Takes a value and looks at it.
  [[nodiscard]] bool take_image(const Type& type, const std::byte*& from) {
    const std::size_t offset = reader_.offset();
    return reader_.take(type.size, from) && (type.all_bits || check_image(type, from, offset));
  }
  /// A value that was looked at.
  [[nodiscard]] bool image(const Link& link, const std::byte* from);
  [[nodiscard]] bool record_image(const Link& link, const Type& from, const std::byte* at);
  [[nodiscard]] bool elements(const Link& container, const Link& element, const Type& of,
                              const std::byte* from, std::size_t count);

  // --- containers

  [[nodiscard]] bool sequence(const Link& link, const Type& from);
  [[nodiscard]] bool set(const Link& link, const Type& from);
  [[nodiscard]] bool set_of_octets(const Link& link, const Link& element, const Type& of, std::size_t count);
  [[nodiscard]] bool array(const Link& link, const Type& from);
  [[nodiscard]] bool map(const Link& link, const Type& from);
  [[nodiscard]] bool map_of_numbers(const Link& link, const Link& key, const Link& mapped, std::size_t count);
  [[nodiscard]] bool map_in_order(const Link& link, const Link& key, const Link& mapped, std::size_t count);
  [[nodiscard]] bool map_out_of_order(const Link& link, const Link& key, const Link& mapped,
                                      std::size_t count);
  [[nodiscard]] bool optional(const Link& link, const Type& from);
  [[nodiscard]] bool put_numbers(const Link& container, const Link& element, const std::byte* from,
                                 std::size_t count);
  [[nodiscard]] bool convert_numbers(const Link& link, const std::byte*& from, std::size_t count,
                                     Scratch& into, bool indexed);

  /// The key of an entry, or the element of a set; false also where it does not ascend.
  class Keys {
   public:
    explicit Keys(const Type& type) noexcept
        : type_(type), turned_(is_signed(type) ? std::uint64_t{1} << 63U : 0) {}
    [[nodiscard]] bool ascends(std::uint64_t bits) noexcept {
      const std::uint64_t key = bits ^ turned_;
      const bool good = first_ || last_bits_ < key;
      first_ = false;
      last_bits_ = key;
      return good;
    }
    [[nodiscard]] bool ascends(std::span<const std::byte> key) noexcept {
      const bool good =
          first_ || std::lexicographical_compare(last_.begin(), last_.end(), key.begin(), key.end());
      first_ = false;
      last_ = key;
      return good;
    }

   private:
    const Type& type_;
    std::uint64_t turned_;
    bool first_ = true;
    std::uint64_t last_bits_ = 0;
    std::span<const std::byte> last_;
  };
  /// Either `bits` or `bytes` is the key.
  [[nodiscard]] bool read_key(const Type& type, Keys& keys, std::string_view disorder, std::size_t index,
                              std::uint64_t& bits, std::span<const std::byte>& bytes) {
    const std::size_t start = reader_.offset();
    const bool good = is_number(type) ? number(type, bits) : octets(type, bytes);
    if (!good) return reader_.inside(index);
    if (is_number(type) ? keys.ascends(bits) : keys.ascends(bytes)) return true;
    reader_.fail(codec::Fault::keys_not_ascending, disorder, start);
    return reader_.inside(index);
  }
  [[nodiscard]] bool put_key(const Link& link, const Type& type, std::uint64_t bits,
                             std::span<const std::byte> bytes) {
    return is_number(type) ? put_number(link, type, bits) : put_octets(link, bytes);
  }

  // --- structs and unions

  [[nodiscard]] bool structure(const Link& link, const Type& from);
  [[nodiscard]] bool fields_in_order(const Link& link, const Type& from);
  [[nodiscard]] bool fields_out_of_order(const Link& link, const Type& from);
  [[nodiscard]] bool alternatives(const Link& link, const Type& from);
  [[nodiscard]] bool skip(TypeIndex type) {
    Nothing nothing;
    Walk<Nothing> walk(from_, from_, nullptr, reader_, nothing, scratches_);
    if (trusted_) walk.trust();
    return walk.febird({type, type, nullptr});
  }
  [[nodiscard]] bool skip_field(const Field& field) { return skip(field.type) || reader_.inside(field.name); }

  const Schema& from_;
  const Schema& to_;
  const Program* program_;
  codec::Reader& reader_;
  Sink& sink_;
  Scratches& scratches_;
  GraphNumbering* graph_ = nullptr;      // that the values are part of
  const ArchiveNotes* notes_ = nullptr;  // of the archive that is read
  bool trusted_ = false;
  bool misfit_ = false;

  template <class Other>
  friend class Walk;
};

}  // namespace mf::described
