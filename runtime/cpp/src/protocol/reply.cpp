#include "mf/protocol/reply.hpp"

#include <cstring>
#include <string>

#include "mf/core/text.hpp"
#include "mf/protocol/frame.hpp"
#include "mf/protocol/limits.hpp"

namespace mf::protocol {
namespace {

constexpr std::size_t kFailureHead = 4;   // u8 execution, u8 zero, u16 length
constexpr std::size_t kDeclaredHead = 8;  // u16 index, u16 zero, u32 length

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

bool is_outcome(std::uint8_t number) noexcept {
  return number <= kLastCode;
}

}  // namespace

void write_failure_record(Buffer& out, Execution execution, std::string_view message) {
  message = cut_at_character(message, kMaxMessageText);
  std::string marked;
  if (!is_utf8(message)) message = marked = with_marks(message);
  std::byte* at = out.append(kFailureHead + message.size());
  // What a handler has met in a file says nothing of calls: this one has begun.
  store(at, std::uint8_t{execution != Execution::not_executed});
  store(at + 1, std::uint8_t{0});
  store(at + 2, static_cast<std::uint16_t>(message.size()));
  if (!message.empty()) std::memcpy(at + kFailureHead, message.data(), message.size());
}

bool read_failure_record(std::span<const std::byte>& bytes, FailureRecord& record) {
  if (bytes.size() < kFailureHead) return false;
  const auto execution = load<std::uint8_t>(bytes.data());
  const auto zero = load<std::uint8_t>(bytes.data() + 1);
  const std::size_t size = load<std::uint16_t>(bytes.data() + 2);
  if (execution > 1 || zero != 0 || size > kMaxMessageText || bytes.size() - kFailureHead < size)
    return false;
  record.execution = static_cast<Execution>(execution);
  record.message = {reinterpret_cast<const char*>(bytes.data() + kFailureHead), size};
  bytes = bytes.subspan(kFailureHead + size);
  return is_utf8(record.message);
}

bool parse_failure(std::span<const std::byte> payload, FailureRecord& record) {
  return read_failure_record(payload, record) && payload.empty();
}

MixedWriter::MixedWriter(Buffer& out, std::uint32_t count) : out_(out) {
  const std::size_t size = padded(count);
  std::memset(out_.append(size), 0, size);
}

void MixedWriter::set(std::uint32_t item, Code outcome) noexcept {
  store(out_.data() + item, outcome);
}

void MixedWriter::begin_declared(std::uint16_t index) {
  declared_at_ = out_.size();
  std::byte* at = out_.append(kDeclaredHead);
  std::memset(at, 0, kDeclaredHead);
  store(at, index);
}

void MixedWriter::end_declared() noexcept {
  const std::size_t size = out_.size() - declared_at_ - kDeclaredHead;
  store(out_.data() + declared_at_ + 4, static_cast<std::uint32_t>(size));
}

MixedReader::MixedReader(std::span<const std::byte> payload, std::uint32_t count) noexcept {
  const std::size_t size = padded(count);
  if (payload.size() < size) return;
  outcomes_ = payload.first(count);
  rest_ = payload.subspan(size);
  for (const std::byte outcome : outcomes_) {
    const auto number = std::to_integer<std::uint8_t>(outcome);
    if (!is_outcome(number)) return;
  }
  for (const std::byte zero : payload.subspan(count, size - count))
    if (zero != std::byte{0}) return;
  ok_ = true;
}

bool MixedReader::skip_results(std::size_t bytes) noexcept {
  if (bytes > rest_.size()) return false;
  rest_ = rest_.subspan(bytes);
  return true;
}

bool MixedReader::next_declared(std::uint16_t& index, std::span<const std::byte>& error) noexcept {
  if (rest_.size() < kDeclaredHead) return false;
  index = load<std::uint16_t>(rest_.data());
  const auto zero = load<std::uint16_t>(rest_.data() + 2);
  const std::size_t size = load<std::uint32_t>(rest_.data() + 4);
  if (zero != 0 || rest_.size() - kDeclaredHead < size) return false;
  error = rest_.subspan(kDeclaredHead, size);
  rest_ = rest_.subspan(kDeclaredHead + size);
  return true;
}

}  // namespace mf::protocol
