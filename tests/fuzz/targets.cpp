// What every target requires of a decoder and any bytes: no crash, no leak, memory within the budget; a
// refusal names a fault inside of the bytes; a value is written and read again as itself.

#include "targets.hpp"

#include <cstdlib>
#include <vector>

#include "mf/codec/flex/attributes.hpp"
#include "wide_subjects.hpp"

namespace fuzz {
namespace {

using mf::codec::Subject;

constexpr mf::Limits kLimits{.decoded_bytes = std::size_t{1} << 20U};

void require(bool holds) {
  if (!holds) std::abort();
}

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

/// Byte 0 picks the type; the rest is what is read.
bool bytes_of_any(const std::vector<Subject>& types, std::span<const std::byte> input) {
  if (input.empty()) return false;
  const Subject& subject = types[std::to_integer<std::size_t>(input[0]) % types.size()];
  const auto bytes = input.subspan(1);
  const mf::Result<std::vector<std::byte>> written = subject.rewrite(bytes, kLimits);
  require_reuse(subject, bytes, written);
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
