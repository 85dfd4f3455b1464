#pragma once
// R1. The short way from febird to febird, and into archives: a program's pairs as flat steps.
//
// Bytes that are alike in both schemas are passed: they are checked, and all that was passed since the last
// difference is copied at once. Only differences are written by themselves. What a step does is decided when
// the program is finished.
//
// Steps know only success. If a value is wrong or has no equal, a run ends without a word, and the walk
// (walk.hpp) reads the value again, finds the same and says it. So a run has no paths or faults, but it
// accepts nothing that the walk does not accept, and takes the same levels and memory out of the budget.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "codec/described/walk.hpp"
#include "mf/codec/described/program.hpp"
#include "mf/codec/reader.hpp"
#include "mf/core/buffer.hpp"

namespace mf::described {

enum class Does : std::uint8_t {
  // --- bytes are passed
  bytes,      // `size` bytes, whatever they are
  leaf,       // the same, in a struct or array, which takes a level
  checked,    // a number of type `what`, of which not every pattern is a value
  small,      // an integer that takes at most `most`, of a type of 2 bytes
  medium,     // the same of 4 bytes
  large,      // the same of 8 bytes
  text,       // a length and as many bytes, which are UTF-8
  octets,     // a length and as many bytes
  row,        // a list of integers, of codes up to `code`
  many,       // a list of values that take `size` bytes each, whatever they are
  array_row,  // an array's row, of type `what`
  record,     // a level, and block `what`
  list,       // the body for each element, which takes at least `size` bytes
  array,      // the body `size` times
  optional,   // the body, if there is a value
  texts,      // a map with texts as keys (`code`: UTF-8): the body for each value
  choice,     // a union of type `what`: the block of the alternative, `size` is the first in Steps::choices
  other,      // a value of type `what`, by the walk
  // --- differences
  put,        // writes Steps::constants from `what` on, `size` bytes
  drop,       // passes what the body passes, and does not copy it
  needed,     // T? to T: the body, or the default `what`
  real,       // f32 to f64
  convert,    // a number, by pair `what`
  by_walk,    // a value, by pair `what`
  moved,      // fields in another order: the body has `size` marked fields, and then what is made of them
  mark,       // the `size`-th field of a struct begins; `what`: all of them have been passed
  take,       // the bytes between two marks, `size` and `what`
  take_real,  // an f32 at mark `size`, as f64
  take_by,    // what the body makes of the bytes between two marks, `size` and `what`
  // --- into archives; their tags are constants that are put
  tagged_bytes,  // tag `what`, and what `bytes` passes; so the next ones
  tagged_small,
  tagged_medium,
  tagged_large,
  tagged_text,
  tagged_octets,
  elements,    // a list without its count
  present,     // an optional that takes no bytes if it is absent: the body, if there is a value
  length,      // tag `size` if it is not 0, a length, a level, and block `what`
  archived,    // a number of type `size`, by pair `what` if there is one
  packed,      // a list of integers of type `size`, behind tag `what`
  packed_raw,  // a list of numbers that take `size` bytes each, whatever they are, behind tag `what`
  entries,  // a map with texts as keys (`code`: UTF-8), each entry behind tag `what`: the body for each value
  field_by_walk,  // field `size` (`code`: where no other value of it may stand), by pair `what`
};

struct Step {
  Does does{};
  std::uint8_t code = 0;
  std::uint32_t size = 0;
  std::uint32_t body = 0;  // so many of the steps behind this one belong to it
  std::uint32_t what = 0;
  std::uint64_t most = 0;  // of integers; of containers what each element is charged
};

struct Steps {
  struct Block {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  std::vector<Step> steps;
  std::vector<Block> blocks;
  std::vector<std::uint32_t> choices;  // blocks; kNone: the alternative has no equal
  std::vector<std::byte> constants;
  std::vector<std::uint32_t> values;  // by pair: the block of a whole value; kNone: it has none
  std::vector<std::uint32_t> fields;  // by pair: the block of a struct's fields; kNone: it has none
};

/// Null: the program has none, or too many.
[[nodiscard]] std::shared_ptr<const Steps> make_steps(const Program& program);

/// Runs steps. It is used again for other values, since it keeps its memory.
class StepRun {
 public:
  StepRun(const Program& program, Scratches& scratches) noexcept
      : program_(program),
        steps_(*program.steps),
        scratches_(scratches),
        length_sizes_(steps_.steps.size(), 1) {}

  /// False: the walk has to look; then `reader` and `out` are as they were.
  [[nodiscard]] bool run(std::uint32_t block, codec::Reader& reader, Buffer& out);

 private:
  [[nodiscard]] bool block(std::uint32_t index, codec::Reader& reader) {
    const Steps::Block& block = steps_.blocks[index];
    const Step* const first = steps_.steps.data() + block.first;
    return run(first, first + block.count, reader);
  }
  [[nodiscard]] bool run(const Step* at, const Step* end, codec::Reader& reader);
  [[nodiscard]] bool row(const Step& step, codec::Reader& reader);
  [[nodiscard]] bool texts(const Step& step, codec::Reader& reader);
  [[nodiscard]] bool choice(const Step& step, codec::Reader& reader);
  [[nodiscard]] bool needed(const Step& step, codec::Reader& reader);
  [[nodiscard]] bool read_checked(const Type& type, codec::Reader& reader, std::uint64_t& bits);
  [[nodiscard]] bool convert(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool present(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool length(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool archived(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool packed(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool packed_raw(const Step& step, codec::Reader& reader);
  [[nodiscard, gnu::noinline]] bool entries(const Step& step, codec::Reader& reader);
  [[nodiscard]] bool moved(const Step& step, codec::Reader& reader);
  /// Room for the length of what is written until close_length(), which has the same step.
  struct Length {
    std::size_t begin;
    std::size_t end;  // where what it counts begins
  };
  [[nodiscard]] Length open_length(const Step& step);
  void close_length(const Step& step, const Length& length);
  // By the walk; in transcode.cpp.
  [[nodiscard]] bool pass_by_walk(TypeIndex type, codec::Reader& reader);
  template <class Begin>
  [[nodiscard]] bool convert_by_walk(PairIndex pair, codec::Reader& reader, const Begin& begin);
  [[nodiscard]] bool convert_by_walk(PairIndex pair, codec::Reader& reader);
  [[nodiscard]] bool convert_field_by_walk(const Step& step, codec::Reader& reader);

  std::byte* room(std::size_t size) {
    if (size > static_cast<std::size_t>(limit_ - to_)) [[unlikely]]
      grow(size);
    return to_;
  }
  void grow(std::size_t size);
  void open(Buffer& out);
  void close() {
    if (to_ != nullptr) out_->resize(static_cast<std::size_t>(to_ - out_->data()));
  }
  void copy(const std::byte* from, std::size_t size) {
    std::byte* const to = room(size);
    if (size >= 4 && size <= 16) {  // two stores that overlap, without a call
      size >= 8 ? copy_ends<8>(to, from, size) : copy_ends<4>(to, from, size);
    } else if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size != 0) {
      to[0] = from[0];
      to[size / 2] = from[size / 2];
      to[size - 1] = from[size - 1];
    }
    to_ += size;
  }
  template <std::size_t kPart>
  static void copy_ends(std::byte* to, const std::byte* from, std::size_t size) {
    std::memcpy(to, from, kPart);
    std::memcpy(to + size - kPart, from + size - kPart, kPart);
  }
  void put_varint(std::uint64_t value) {
    if (value < 0x80) [[likely]] {
      *room(1) = static_cast<std::byte>(value);
      ++to_;
    } else {
      put_long_varint(value);
    }
  }
  void put_long_varint(std::uint64_t value);
  void put_tag(const Step& step, const codec::Reader& reader) {
    copy_passed(reader);
    put_varint(step.what);
  }
  void put_real(const std::byte* from);
  [[nodiscard]] const std::byte* mark(std::uint32_t field) const noexcept {
    return marks_[first_mark_ + field];
  }
  /// What was passed is copied; what follows begins at the reader.
  void copy_passed(const codec::Reader& reader) {
    copy(passed_, static_cast<std::size_t>(reader.peek() - passed_));
    passed_ = reader.peek();
  }

  const Program& program_;
  const Steps& steps_;
  Scratches& scratches_;
  Buffer* out_ = nullptr;
  std::byte* to_ = nullptr;
  std::byte* limit_ = nullptr;
  const std::byte* passed_ = nullptr;  // from here on bytes are passed, and not copied yet
  std::vector<const std::byte*> marks_;
  std::size_t first_mark_ = 0;              // of the struct whose fields are marked
  std::vector<std::uint8_t> length_sizes_;  // by step: bytes of the length that it put last
};

}  // namespace mf::described
