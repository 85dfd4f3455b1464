#pragma once
// R1. The values that ArchiveCheck found behind the tags of an archive, so that the walk does not read its
// bytes again. Fields may be sent in any order and in parts; the notes have them in the order of the type,
// and a message that was sent in parts is one message here. Numbers are stored as they lie in memory; all
// other values are named by their place in the archive.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace mf::described {

/// A value behind a tag, or the numbers of a row that follow each other.
struct Part {
  std::uint32_t field = 0;          // its place in its type
  std::uint32_t message = 0;        // of a message: its index in the notes
  std::size_t first = 0;            // of numbers: where they begin in the notes
  std::size_t size = 0;             // bytes of the numbers, of a text, or of a value of another tier
  const std::byte* from = nullptr;  // of a text or a value of another tier

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {from, size}; }
};
using Parts = std::span<const Part>;

class ArchiveNotes {
 public:
  // --- for the check

  /// Where the parts of the outer message are, while those of an inner one are added: for close(), forget().
  struct Outer {
    std::size_t begin;
    std::size_t end;
  };
  /// Begins a message: what is added from now on is part of it.
  [[nodiscard]] Outer open() noexcept { return {std::exchange(begin_, open_.size()), open_.size()}; }
  /// Stores the parts of the message in the order of their fields, and returns to the outer one.
  void close(const Outer& outer) {
    const auto first = open_.begin() + static_cast<std::ptrdiff_t>(begin_);
    const auto before = [](const Part& left, const Part& right) { return left.field < right.field; };
    messages_.push_back({parts_.size(), open_.size() - begin_});
    if (std::is_sorted(first, open_.end(), before)) {
      parts_.insert(parts_.end(), first, open_.end());
    } else {  // those of one field stay in the order in which they were sent
      order_.resize(open_.size() - begin_);
      std::iota(order_.begin(), order_.end(), begin_);
      std::ranges::sort(order_, {},
                        [this](std::size_t place) { return std::pair(open_[place].field, place); });
      for (const auto place : order_) parts_.push_back(open_[place]);
    }
    forget(outer);
  }
  [[nodiscard]] Outer outer() const noexcept { return {begin_, open_.size()}; }
  /// Drops what was added to a message that failed, since it may be read again with its other parts.
  void forget(const Outer& outer) {
    open_.resize(outer.end);
    begin_ = outer.begin;
  }
  /// Drops the parts of the message: another alternative of the union was sent.
  void start_anew() { open_.resize(begin_); }

  /// The message that was closed last is the value of the field.
  void add_message(std::uint32_t field) { open_.push_back({.field = field, .message = last()}); }
  void add_bytes(std::uint32_t field, std::span<const std::byte> bytes) {
    open_.push_back({.field = field, .size = bytes.size(), .from = bytes.data()});
  }
  /// Room for numbers of `size` bytes. Numbers of a `row` that follow each other are one part.
  [[nodiscard]] std::byte* add_numbers(std::uint32_t field, std::size_t size, bool row) {
    if (!row || open_.size() == begin_ || open_.back().field != field ||
        open_.back().first + open_.back().size != used_) {
      used_ = (used_ + 7) / 8 * 8;  // so that numbers are aligned
      open_.push_back({.field = field, .first = used_});
    }
    open_.back().size += size;
    used_ += size;
    if (numbers_.size() < used_) numbers_.resize(used_ + used_ / 2);
    return numbers_.data() + (used_ - size);
  }
  /// Gives back that many bytes at the end of the room that was taken last.
  void drop_numbers(std::size_t size) {
    used_ -= size;
    open_.back().size -= size;
    if (open_.back().size == 0) open_.pop_back();
  }
  /// Owns the bytes of a message that was sent in parts: other parts point into them.
  void keep(std::vector<std::byte> joined) { joined_.push_back(std::move(joined)); }
  [[nodiscard]] std::size_t messages() const noexcept { return messages_.size(); }

  // --- for the walk

  /// The message that was closed last, which is the outermost one when all is read.
  [[nodiscard]] std::uint32_t last() const noexcept {
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  [[nodiscard]] Parts parts(std::uint32_t message) const noexcept {
    return Parts(parts_).subspan(messages_[message].first, messages_[message].count);
  }
  [[nodiscard]] const std::byte* numbers(const Part& part) const noexcept {
    return numbers_.data() + part.first;
  }
  void clear() noexcept {
    begin_ = 0;
    used_ = 0;
    open_.clear();
    parts_.clear();
    messages_.clear();
    joined_.clear();
  }

 private:
  struct Message {
    std::size_t first;
    std::size_t count;
  };
  std::size_t begin_ = 0;           // of the parts of the message that is read
  std::vector<Part> open_;          // of all messages that are read
  std::vector<std::size_t> order_;  // scratch of close()
  std::vector<Part> parts_;
  std::vector<Message> messages_;
  std::size_t used_ = 0;
  std::vector<std::byte> numbers_;
  std::vector<std::vector<std::byte>> joined_;
};

/// Those of a field among the parts of a message.
[[nodiscard]] inline Parts parts_of(Parts parts, std::size_t field) noexcept {
  const auto found = std::ranges::equal_range(parts, field, {}, &Part::field);
  return {found.begin(), found.end()};
}

}  // namespace mf::described
