#include "values/form.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "mf/codec/described/schema.hpp"
#include "mf/codec/xxhash.hpp"
#include "mf/core/text.hpp"

namespace mf::values {
namespace {

constexpr std::string_view kMagic = "MFVALUE\n";
constexpr std::size_t kHead = 24;
constexpr std::size_t kSum = 8;
constexpr std::size_t kRecord = 16;
constexpr std::size_t kChunk = std::size_t{1} << 18U;
constexpr std::size_t kLeastZeros = 8;

constexpr std::string_view kWhereZeros = ", where zeros begin";

constexpr std::size_t zeros_behind(std::size_t size) noexcept {
  return -size & 7U;
}

template <class N>
void append_number(std::vector<std::byte>& out, N number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    out.push_back(static_cast<std::byte>(number >> 8U * i & 0xffU));
}

template <class N>
N number_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
  N number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i)
    number |= static_cast<N>(static_cast<N>(std::to_integer<std::uint8_t>(bytes[offset + i])) << 8U * i);
  return number;
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::uint32_t check_of(std::size_t length, std::uint64_t number) noexcept {
  std::array<std::byte, 12> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(length >> 8U * i & 0xffU);
  for (std::size_t i = 0; i < 8; ++i) bytes[4 + i] = static_cast<std::byte>(number >> 8U * i & 0xffU);
  return static_cast<std::uint32_t>(codec::xxh64(bytes));
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

FormError within_head(std::size_t at, std::string_view why = "") {
  return {.words = "cut off at byte " + std::to_string(at) + ", within its head" + std::string(why),
          .cut = true};
}

FormError foreign() {
  return {.words = "no file of values: it does not begin as one"};
}

FormError damaged_head() {
  return {.words = "its head is damaged"};
}

}  // namespace

void append_head(std::vector<std::byte>& out, const TypeTexts& texts) {
  const auto begin = out.size();
  append_text(out, kMagic);
  append_number(out, kVersion);
  append_number(out, static_cast<std::uint32_t>(texts.descriptor.size()));
  append_number(out, static_cast<std::uint32_t>(texts.annex.size()));
  append_number(out, std::uint32_t{0});
  append_text(out, texts.descriptor);
  append_text(out, texts.annex);
  out.resize(out.size() + zeros_behind(out.size() - begin));
  append_number(out, codec::xxh64(std::span(out).subspan(begin)));
}

void append_record(std::vector<std::byte>& out, std::uint64_t number, std::span<const std::byte> value) {
  append_number(out, codec::xxh64(value));
  append_number(out, static_cast<std::uint32_t>(value.size()));
  append_number(out, check_of(value.size(), number));
  out.insert(out.end(), value.begin(), value.end());
  out.resize(out.size() + zeros_behind(value.size()));
}

std::optional<FormError> Records::begin(TypeTexts& texts) {
  const auto start = peek(kHead);
  if (error_ != 0) return unreadable();
  const auto magic = std::as_bytes(std::span(kMagic));
  if (!start.empty() && all_zero(start)) {
    const auto zeros = before_zeros(start.size());
    if (error_ != 0) return unreadable();
    if (zeros) return within_head(0, kWhereZeros);
    return foreign();
  }
  const auto compared = std::min(start.size(), magic.size());
  if (start.empty() || !std::ranges::equal(start.first(compared), magic.first(compared))) return foreign();
  if (start.size() < kHead) return within_head(start.size());
  const auto version = number_at<std::uint32_t>(start, 8);
  if (version != kVersion)
    return FormError{.words = "a file of values of version " + std::to_string(version) +
                              "; this program reads version " + std::to_string(kVersion)};
  const std::size_t descriptor = number_at<std::uint32_t>(start, 12);
  const std::size_t annex = number_at<std::uint32_t>(start, 16);
  if (descriptor == 0 || descriptor > described::kMaxText || annex > described::kMaxText ||
      number_at<std::uint32_t>(start, 20) != 0)
    return damaged_head();
  const auto texts_end = kHead + descriptor + annex;
  const auto size = texts_end + zeros_behind(texts_end);
  const auto all = peek(size + kSum);
  if (error_ != 0) return unreadable();
  if (all.size() < size + kSum) return within_head(all.size());
  if (codec::xxh64(all.first(size)) != number_at<std::uint64_t>(all, size)) {
    const auto before = before_zeros(size + kSum);
    if (error_ != 0) return unreadable();
    return before ? within_head(*before, kWhereZeros) : damaged_head();
  }
  texts.descriptor = text_of(all.subspan(kHead, descriptor));
  texts.annex = text_of(all.subspan(kHead + descriptor, annex));
  if (!is_utf8(texts.descriptor) || !is_utf8(texts.annex))
    return FormError{.words = "its descriptor is no UTF-8"};
  pass(size + kSum);
  return std::nullopt;
}

std::optional<FormError> Records::next(std::optional<std::span<const std::byte>>& value) {
  value.reset();
  const auto start = peek(kRecord);
  if (error_ != 0) return unreadable();
  if (start.empty()) return std::nullopt;
  if (start.size() < kRecord) return cut(start.size());
  const auto sum = number_at<std::uint64_t>(start, 0);
  const std::size_t length = number_at<std::uint32_t>(start, 8);
  if (length > kMostValue || number_at<std::uint32_t>(start, 12) != check_of(length, number_))
    return broken(kRecord);
  const auto size = kRecord + length + zeros_behind(length);
  const auto all = peek(size);
  if (error_ != 0) return unreadable();
  if (all.size() < size) return cut(all.size());
  const auto found = all.subspan(kRecord, length);
  if (codec::xxh64(found) != sum || !all_zero(all.subspan(kRecord + length))) return broken(kRecord + length);
  pass(size);
  ++number_;
  value = found;
  return std::nullopt;
}

std::span<const std::byte> Records::peek(std::size_t size) {
  while (end_ - begin_ < size && error_ == 0) {
    if (begin_ != 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < kChunk) buffer_.resize(std::max(end_ + kChunk, end_ * 2));
    const auto got = source_(std::span(buffer_).subspan(end_));
    if (got < 0) error_ = static_cast<int>(-got);
    if (got <= 0) break;
    end_ += static_cast<std::size_t>(got);
  }
  return std::span(buffer_).subspan(begin_, std::min(size, end_ - begin_));
}

void Records::pass(std::size_t size) noexcept {
  begin_ += size;
  offset_ += size;
}

FormError Records::cut(std::size_t left, std::string_view why) const {
  return {.words = "cut off at byte " + std::to_string(offset_ + left) + std::string(why) +
                   ": the value that begins at byte " + std::to_string(offset_) +
                   " is not whole; values before it: " + std::to_string(number_),
          .cut = true};
}

FormError Records::broken(std::size_t size) {
  const auto before = before_zeros(size);
  if (error_ != 0) return unreadable();
  if (before) return cut(*before, kWhereZeros);
  return {.words = "damaged at byte " + std::to_string(offset_) +
                   ": no value begins there; values before it: " + std::to_string(number_)};
}

std::optional<std::size_t> Records::before_zeros(std::size_t size) {
  auto before = size;
  while (before > 0 && buffer_[begin_ + before - 1] == std::byte{0}) --before;
  auto zeros = size - before;
  auto part = std::span<const std::byte>(buffer_).subspan(begin_ + size, end_ - begin_ - size);
  begin_ = end_ = 0;
  while (zeros > 0 && all_zero(part)) {
    zeros += part.size();
    const auto got = source_(std::span(buffer_));
    if (got < 0) error_ = static_cast<int>(-got);
    if (got == 0 && zeros >= kLeastZeros) return before;
    if (got <= 0) return std::nullopt;
    part = std::span<const std::byte>(buffer_).first(static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

FormError Records::unreadable() const {
  return {.words = std::generic_category().message(error_), .of_system = true};
}

}  // namespace mf::values
