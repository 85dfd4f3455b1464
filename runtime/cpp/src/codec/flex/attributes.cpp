#include "mf/codec/flex/attributes.hpp"

#include <algorithm>

#include "codec/flex/reader.hpp"
#include "mf/codec/flex/tags.hpp"
#include "mf/codec/flex/writer.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kNameCost = 100;  // of memory

auto place_of(auto& entries, std::string_view name) {
  return std::ranges::lower_bound(entries, name, {},
                                  [](const auto& entry) -> std::string_view { return entry.first; });
}

void check_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName)
    refuse("the name of an attribute has 1 to " + std::to_string(kMaxName) + " bytes, not " +
           std::to_string(name.size()));
  if (!is_utf8(name)) refuse(quoted(name) + " is no name: it is no UTF-8");
  if (reserved(name)) refuse(quoted(name) + " is no attribute of a program: the runtime sets it");
}

bool read_name(ValueReader& reader, std::string_view& name) {
  const auto at = reader.offset();
  if (reader.left() == 0) return reader.fail(Fault::truncated, "the bytes end within a name", at);
  const std::size_t size = reader.next();
  if (size == 0) return reader.fail(Fault::count_too_large, "an attribute without a name", at);
  if (size + 1 > reader.left()) return reader.fail(Fault::truncated, "the bytes end within a name", at);
  std::string_view written;
  if (!reader.take(size + 1, written)) return false;
  written.remove_prefix(1);
  if (written <= name) return reader.fail(Fault::keys_not_ascending, "names of attributes ascend", at);
  if (!is_utf8(written)) return reader.fail(Fault::invalid_utf8, "a name that is no UTF-8", at);
  if (reserved(written))
    return reader.fail(Fault::unknown_alternative, quoted(written) + " is no attribute of a program", at);
  name = written;
  return reader.charge(kNameCost);
}

}  // namespace

Attributes::Attributes(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  entries_.reserve(entries.size());
  for (const auto& [name, value] : entries) {
    if (contains(name)) refuse("the attribute " + quoted(name) + " is given twice");
    set(name, value);
  }
}

const Value* Attributes::find(std::string_view name) const noexcept {
  const auto place = place_of(entries_, name);
  return place == entries_.end() || place->first != name ? nullptr : &place->second;
}

void Attributes::set(std::string_view name, Value value) {
  const auto place = place_of(entries_, name);
  if (place != entries_.end() && place->first == name) {
    place->second = std::move(value);
  } else {
    entries_.emplace(place, name, std::move(value));
  }
}

Value Attributes::take(std::string_view name) {
  const auto place = place_of(entries_, name);
  if (place == entries_.end() || place->first != name) return {};
  Value taken = std::move(place->second);
  entries_.erase(place);
  return taken;
}

Bytes encode_attributes(const Attributes& attributes) {
  return encode_with_types(attributes).bytes;
}

WrittenAttributes encode_with_types(const Attributes& attributes) {
  if (attributes.size() > kMaxAttributes)
    refuse(std::to_string(attributes.size()) + " attributes: a message has at most " +
           std::to_string(kMaxAttributes));
  std::string out;
  ValueWriter writer(out);
  writer.number(attributes.size());
  for (const auto& [name, value] : attributes) {
    check_name(name);
    out.push_back(static_cast<char>(name.size()));
    out.append(name);
    if (!writer.write(value)) writer.refuse(name);
  }
  return {.bytes = Bytes(std::move(out)), .types = writer.take_types()};
}

Result<Attributes> decode_attributes(const Bytes& bytes, const Limits& limits, const DescribedTypes* types) {
  ValueReader reader(bytes, limits, types);
  std::uint64_t count = 0;
  if (!reader.number(0xFFFF'FFFF, count)) return reader.error();
  if (count > kMaxAttributes) {
    reader.fail(Fault::count_too_large, std::to_string(count) + " attributes: a message has at most 256", 0);
    return reader.error();
  }
  Attributes attributes;
  std::string_view name;
  for (std::uint64_t i = 0; i < count; ++i) {
    Value value;
    if (!read_name(reader, name)) return reader.error();
    if (!reader.read(value)) {
      reader.inside(name);
      return reader.error();
    }
    attributes.set(name, std::move(value));
  }
  if (!reader.finish()) return reader.error();
  return attributes;
}

}  // namespace mf::flex
