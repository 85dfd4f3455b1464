#include "codec/json_names.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "mf/core/text.hpp"

namespace mf::codec {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// One bit for each field; few structs need memory for it.
class Seen {
 public:
  explicit Seen(std::size_t count) : more_(count > 64 * inside_.size() ? (count + 63) / 64 : 0) {
    if (!more_.empty()) {
      words_ = more_.data();
    }
  }

  [[nodiscard]] bool test(std::size_t index) const noexcept {
    return (words_[index / 64] >> index % 64 & 1U) != 0;
  }
  void set(std::size_t index) noexcept { words_[index / 64] |= std::uint64_t{1} << index % 64; }

 private:
  std::array<std::uint64_t, 2> inside_{};
  std::vector<std::uint64_t> more_;
  std::uint64_t* words_ = inside_.data();
};

/// "`titel` is not a field; did you mean `title`?"
template <class Names, class NameOf>
std::string unknown(std::string_view name, std::string_view what, const Names& names, const NameOf& name_of) {
  constexpr std::size_t kLongest = 64;
  std::string text(1, '`');
  text.append(name.substr(0, kLongest)).append("` is not ").append(what);
  if (name.size() > kLongest) {
    return text;
  }
  std::string_view nearest;
  std::size_t least = name.size() / 2 + 1;
  for (const auto& each : names) {
    const std::string_view other = name_of(each);
    if (other.size() <= 2 * kLongest) {
      if (const std::size_t found = edit_distance(name, other); found < least) {
        least = found;
        nearest = other;
      }
    }
  }
  return nearest.empty() ? text : text.append("; did you mean `").append(nearest).append("`?");
}

std::string_view name_of_field(const JsonField& field) noexcept {
  return field.name;
}
std::string_view name_of_number(const JsonName& name) noexcept {
  return name.name;
}
std::string_view itself(std::string_view name) noexcept {
  return name;
}

/// Starts where the field most likely is: in the order of the schema.
std::size_t find(std::span<const JsonField> fields, std::string_view name, std::size_t likely) noexcept {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t at = likely + i < fields.size() ? likely + i : likely + i - fields.size();
    if (fields[at].name == name) {
      return at;
    }
  }
  return kNone;
}

const JsonName* find(std::span<const JsonName> names, std::string_view name) noexcept {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.name == name; });
  return found == names.end() ? nullptr : &*found;
}

const JsonName* find(std::span<const JsonName> names, std::uint64_t number) noexcept {
  const auto found =
      std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.number == number; });
  return found == names.end() ? nullptr : &*found;
}

bool take_integer(JsonReader& reader, std::string_view text, JsonBase base, std::uint64_t& number) {
  bool negative = false;
  std::uint64_t size = 0;
  const json_text::Found found = json_text::read_integer(text, negative, size);
  if (found == json_text::Found::malformed) {
    return reader.fail(Fault::json_wrong_type, "a number is not whole");
  }
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - base.bits);
  const std::uint64_t most = !base.is_signed ? (negative ? 0 : ones) : negative ? ones / 2 + 1 : ones / 2;
  if (found == json_text::Found::out_of_range || size > most) {
    return reader.fail(Fault::number_out_of_range, "a number does not fit in its type");
  }
  number = negative ? 0 - size : size;
  return true;
}

bool fail_name(JsonReader& reader, std::string_view name, std::span<const JsonName> names) {
  return reader.fail(Fault::unknown_enum_value, unknown(name, "a member", names, name_of_number));
}

/// One element of an array of flags.
bool read_flag(JsonReader& reader, std::span<const JsonName> names, JsonBase base, std::uint64_t& bits) {
  std::string_view text;
  bool is_number = false;
  if (!reader.read_name_or_number(text, is_number)) {
    return false;
  }
  std::uint64_t more = 0;
  if (is_number) {
    if (!take_integer(reader, text, base, more)) {
      return false;
    }
  } else if (const JsonName* const known = find(names, text)) {
    more = known->number;
  } else {
    return fail_name(reader, text, names);
  }
  if ((bits & more) != 0) {
    return reader.fail(Fault::json_duplicate_key, "a bit is named twice");
  }
  bits |= more;
  return true;
}

}  // namespace

bool read_json_object(JsonReader& reader, std::span<const JsonField> fields,
                      FunctionRef<bool(std::size_t)> read) {
  if (!reader.open_object()) {
    return false;
  }
  Seen seen(fields.size());
  std::size_t likely = 0;
  JsonStep step = JsonStep::failed;
  for (std::size_t i = 0; (step = reader.next_member(i)) == JsonStep::item; ++i) {
    std::string_view name;
    if (!reader.read_name(name)) {
      return false;
    }
    const std::size_t which = find(fields, name, likely);
    if (which == kNone) {
      return reader.fail(Fault::json_unknown_field, unknown(name, "a field", fields, name_of_field));
    }
    if (seen.test(which)) {
      reader.fail(Fault::json_duplicate_key, "a field is there twice");
      return reader.inside(fields[which].name);
    }
    seen.set(which);
    likely = which + 1;
    if (!reader.read_colon() || !read(which)) {
      return reader.inside(fields[which].name);
    }
  }
  if (step == JsonStep::failed) {
    return false;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].required && !seen.test(i)) {
      reader.fail(Fault::missing_field, "a field is missing that has no default", reader.offset() - 1);
      return reader.inside(fields[i].name);
    }
  }
  return true;
}

bool read_json_union(JsonReader& reader, std::span<const std::string_view> alternatives,
                     FunctionRef<bool(std::size_t)> read) {
  if (!reader.open_object()) {
    return false;
  }
  const JsonStep step = reader.next_member(0);
  if (step != JsonStep::item) {
    return step == JsonStep::end &&
           reader.fail(Fault::missing_field, "a union has one member", reader.offset() - 1);
  }
  std::string_view name;
  if (!reader.read_name(name)) {
    return false;
  }
  const auto found = std::find(alternatives.begin(), alternatives.end(), name);
  if (found == alternatives.end()) {
    return reader.fail(Fault::unknown_alternative, unknown(name, "an alternative", alternatives, itself));
  }
  if (!reader.read_colon() || !read(static_cast<std::size_t>(found - alternatives.begin()))) {
    return reader.inside(*found);
  }
  return reader.close_object();
}

bool read_json_integer(JsonReader& reader, JsonBase base, std::uint64_t& number) {
  std::string_view text;
  return reader.read_number(text) && take_integer(reader, text, base, number);
}

void write_json_integer(JsonWriter& writer, JsonBase base, std::uint64_t number) {
  const auto written = static_cast<std::int64_t>(number);
  if (base.bits < 64) {
    base.is_signed ? writer.number(written) : writer.number(number);
  } else {
    base.is_signed ? writer.quoted_number(written) : writer.quoted_number(number);
  }
}

bool read_json_enum(JsonReader& reader, std::span<const JsonName> names, JsonBase base, bool open,
                    std::uint64_t& number) {
  std::string_view text;
  bool is_number = false;
  if (!reader.read_name_or_number(text, is_number)) {
    return false;
  }
  if (is_number) {
    return take_integer(reader, text, base, number) &&
           (open || find(names, number) != nullptr ||
            reader.fail(Fault::unknown_enum_value, "an enum has a value that its type does not know"));
  }
  const JsonName* const known = find(names, text);
  if (known == nullptr) {
    return fail_name(reader, text, names);
  }
  number = known->number;
  return true;
}

void write_json_enum(JsonWriter& writer, std::span<const JsonName> names, JsonBase base,
                     std::uint64_t number) {
  if (const JsonName* const known = find(names, number)) {
    writer.quoted(known->name);
  } else {
    write_json_integer(writer, base, number);
  }
}

bool read_json_flags(JsonReader& reader, std::span<const JsonName> names, JsonBase base,
                     std::uint64_t& bits) {
  bits = 0;
  if (reader.kind() != JsonKind::array) {
    return read_json_integer(reader, base, bits);
  }
  if (!reader.open_flags()) {
    return false;
  }
  JsonStep step = JsonStep::failed;
  for (std::size_t i = 0; (step = reader.next_flag(i)) == JsonStep::item; ++i) {
    if (!read_flag(reader, names, base, bits)) {
      return reader.inside(i);
    }
  }
  return step == JsonStep::end;
}

void write_json_flags(JsonWriter& writer, std::span<const JsonName> names, JsonBase base,
                      std::uint64_t bits) {
  writer.open_flags();
  for (const JsonName& each : names) {
    if ((bits & each.number) != 0) {
      writer.separate();
      writer.quoted(each.name);
      bits &= ~each.number;
    }
  }
  if (bits != 0) {
    writer.separate();
    write_json_integer(writer, base, bits);
  }
  writer.close_flags();
}

}  // namespace mf::codec
