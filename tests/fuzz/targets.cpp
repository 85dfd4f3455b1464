// What every target requires of a decoder and any bytes: no crash, no leak, memory within the budget; a
// refusal names a fault inside of the bytes; a value is written and read again as itself.

#include "targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/described/json.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/codec/flex/attributes.hpp"
#include "mf/codec/xxhash.hpp"
#include "mf/values/reader.hpp"
#include "wide_subjects.hpp"

namespace fuzz {
namespace {

using mf::codec::Subject;

constexpr mf::Limits kLimits{.decoded_bytes = std::size_t{1} << 20U};

/// `rewritten` is what the input's value was written as, `rewrite` does the same with that.
template <class Written, class Rewrite>
bool checked(const mf::Result<Written>& rewritten, std::size_t size, const Rewrite& rewrite) {
  if (!rewritten) {
    const mf::DecodeError& error = rewritten.error();
    require(error.fault != mf::Fault::none && !error.reason.empty() && error.offset <= size);
    return false;
  }
  const auto again = rewrite(*rewritten);
  require(again.ok() && *again == *rewritten);
  return true;
}

bool are_same(const mf::Result<std::vector<std::byte>>& one,
              const mf::Result<std::vector<std::byte>>& other) {
  if (one.ok() || other.ok()) return one.ok() && other.ok() && *one == *other;
  const mf::DecodeError& first = one.error();
  const mf::DecodeError& second = other.error();
  return first.fault == second.fault && first.offset == second.offset && first.path == second.path;
}

/// What stood in an object before is of no account: here a half of the input, or all of it.
void require_reuse(const Subject& subject, std::span<const std::byte> bytes,
                   const mf::Result<std::vector<std::byte>>& written) {
  const auto half = bytes.first(bytes.size() / 2);
  for (const auto before : {half, bytes}) {
    require(are_same(subject.rewrite_after(before, bytes, kLimits), written));
  }
  require(are_same(subject.rewrite_after(bytes, half, kLimits), subject.rewrite(half, kLimits)));
}

struct DescribedType {
  std::string_view name;
  std::string_view descriptor;
  std::string_view annex;
};
constexpr DescribedType kDescribedTypes[] = {
#include "described_types.inc"
};

/// The schema of a type whose value is its own; null: a codec of a user's has its bytes.
const mf::described::Schema* schema_of(std::string_view type) {
  static const auto kSchemas = [] {
    std::map<std::string_view, mf::described::Schema> schemas;
    for (const DescribedType& each : kDescribedTypes) {
      if (!each.name.starts_with("vectors.wide.")) continue;
      auto read = mf::described::Schema::read(each.descriptor, each.annex);
      require(read.ok());
      schemas.emplace(each.name, std::move(*read));
    }
    return schemas;
  }();
  const auto found = kSchemas.find(type);
  return found == kSchemas.end() ? nullptr : &found->second;
}

/// A reader by description takes what generated code takes, and else finds the same fault at the same place;
/// of memory each has its own reckoning.
void require_described(const Subject& subject, std::span<const std::byte> bytes,
                       const mf::Result<std::vector<std::byte>>& written) {
  const mf::described::Schema* const known = schema_of(subject.name);
  if (known == nullptr) return;
  const mf::described::Schema& schema = *known;
  const mf::described::TypeIndex type = schema.value();
  const auto text = mf::described::to_json(schema, type, bytes, kLimits);
  const auto out_of_memory = [](const auto& result) {
    return !result.ok() && result.error().fault == mf::Fault::budget_exceeded;
  };
  if (out_of_memory(text) || out_of_memory(written)) return;
  if (!written.ok() && written.error().fault == mf::Fault::none) return;  // a constraint is broken
  require(text.ok() == written.ok());
  if (text.ok()) {
    // Where it is no deeper than a text may be, which has two levels more where a graph begins.
    const auto back = mf::described::from_json(schema, type, *text);
    require(back.ok() || back.error().fault == mf::Fault::depth_exceeded);
    return;
  }
  require(text.error().fault == written.error().fault && text.error().offset == written.error().offset &&
          text.error().path == written.error().path);
}

/// Byte 0 picks the type; the rest is what is read.
bool bytes_of_any(const std::vector<Subject>& types, std::span<const std::byte> input) {
  if (input.empty()) return false;
  const Subject& subject = types[std::to_integer<std::size_t>(input[0]) % types.size()];
  const auto bytes = input.subspan(1);
  const mf::Result<std::vector<std::byte>> written = subject.rewrite(bytes, kLimits);
  require_reuse(subject, bytes, written);
  require_described(subject, bytes, written);
  return checked(written, bytes.size(),
                 [&](const std::vector<std::byte>& again) { return subject.rewrite(again, {}); });
}

bool tier_bytes(mf::Tier tier, std::span<const std::byte> input) {
  std::vector<Subject> types;
  for (const Subject& each : mf::codec::subjects())
    if (each.tier == tier) types.push_back(each);
  return bytes_of_any(types, input);
}

}  // namespace

bool memcpy_bytes(std::span<const std::byte> input) {
  return tier_bytes(mf::Tier::memcpy, input);
}

bool febird_bytes(std::span<const std::byte> input) {
  return tier_bytes(mf::Tier::febird, input);
}

bool archive_bytes(std::span<const std::byte> input) {
  return tier_bytes(mf::Tier::archive, input);
}

bool custom_bytes(std::span<const std::byte> input) {
  return bytes_of_any(mf::codec::custom_subjects(), input);
}

bool schema_text(std::span<const std::byte> input) {
  if (input.empty()) return false;
  const std::string_view text(reinterpret_cast<const char*>(input.data()) + 1, input.size() - 1);
  const std::size_t zero = std::min(text.find('\0'), text.size());
  const auto schema =
      mf::described::Schema::read(text.substr(0, zero), text.substr(std::min(zero + 1, text.size())));
  require(schema.ok() || !schema.error().reason.empty());
  return schema.ok();
}

bool json_text(std::span<const std::byte> input) {
  static const std::vector<Subject> kTypes = [] {
    std::vector<Subject> all = mf::codec::subjects();
    const auto& custom = mf::codec::custom_subjects();
    all.insert(all.end(), custom.begin(), custom.end());
    return all;
  }();
  if (input.empty()) return false;
  const Subject& subject = kTypes[std::to_integer<std::size_t>(input[0]) % kTypes.size()];
  const auto bytes = input.subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return checked(subject.rewrite_text(text, kLimits), text.size(),
                 [&](const std::string& written) { return subject.rewrite_text(written, {}); });
}

namespace {

void put(std::span<std::byte> file, std::size_t at, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) file[at + i] = static_cast<std::byte>(number >> 8 * i & 0xff);
}

std::size_t length_at(std::span<const std::byte> file, std::size_t at) {
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + at, sizeof length);
  return length;
}

/// The sums of a file (docs/protocol.md, section 8a), as far as its lengths lead.
void repair(std::span<std::byte> file) {
  constexpr std::size_t kHead = 24;
  if (file.size() < kHead) return;
  const auto texts = kHead + length_at(file, 12) + length_at(file, 16);
  auto at = (texts + 7) / 8 * 8;
  if (at + 8 > file.size()) return;
  put(file, at, mf::codec::xxh64(file.first(at)), 8);
  at += 8;
  for (std::uint64_t number = 0; at + 16 <= file.size(); ++number) {
    const auto length = length_at(file, at + 8);
    if (length > file.size() - at - 16) return;
    std::array<std::byte, 12> numbered{};
    put(numbered, 0, length, 4);
    put(numbered, 4, number, 8);
    put(file, at, mf::codec::xxh64(file.subspan(at + 16, length)), 8);
    put(file, at + 12, mf::codec::xxh64(numbered), 4);
    at += 16 + (length + 7) / 8 * 8;
  }
}

/// The later version of the type that a file has; of none a type that it hardly has.
mf::TypeTexts later_version(std::string_view file) {
  for (const DescribedType& each : kDescribedTypes)
    if (each.name.starts_with("stored.") && file.find("value " + std::string(each.name) + "\n") == 24)
      return {.descriptor = std::string(each.descriptor), .annex = std::string(each.annex)};
  return {.descriptor = "value a.B\ntype a.B struct febird\n c u8\n", .annex = "annex a.B\n"};
}

}  // namespace

bool values_file(std::span<const std::byte> input) {
  if (input.empty()) return false;
  std::vector<std::byte> file(input.begin() + 1, input.end());
  if ((input[0] & std::byte{1}) != std::byte{0}) repair(file);
  const auto own = later_version({reinterpret_cast<const char*>(file.data()), file.size()});
  try {
    mf::values::Reading reading(mf::values::memory_source(file), "FILE", own, "");
    std::uint64_t values = 0;
    bool whole = true;
    while (const auto value = reading.next()) {
      whole = value->ok() || reading.number() > values;  // a fault of the file is no value
      values = reading.number();
      require(value->ok() || value->failure().message.starts_with("FILE: "));
    }
    require(reading.offset() <= file.size() && !reading.next());
    return whole;
  } catch (const mf::Error& refused) {
    require(refused.message().starts_with("FILE: "));
    return false;
  }
}

/// Byte 0 picks a value or the attributes of a message.
bool flex_bytes(std::span<const std::byte> input) {
  if (input.empty()) return false;
  const mf::Bytes bytes(input.subspan(1));
  const auto same = [&](const auto& read, auto&& write) {
    if (read) {
      require(write(*read) == bytes);
      return true;
    }
    require(read.error().fault != mf::Fault::none && !read.error().reason.empty() &&
            read.error().offset <= bytes.size());
    return false;
  };
  if (input[0] == std::byte{0})
    return same(mf::flex::decode(bytes, kLimits), [](const auto& value) { return mf::flex::encode(value); });
  return same(mf::flex::decode_attributes(bytes, kLimits),
              [](const auto& value) { return mf::flex::encode_attributes(value); });
}

}  // namespace fuzz
