#include <algorithm>
#include <utility>

#include "codec/described/archive_check.hpp"
#include "codec/described/steps.hpp"
#include "mf/codec/archive_packed.hpp"
#include "mf/codec/row.hpp"
#include "mf/codec/utf8.hpp"
#include "mf/codec/varint.hpp"

namespace mf::described {
namespace {

namespace kernel = codec::detail;
using codec::Reader;

template <class T>
bool pass_varint(Reader& reader, std::uint64_t most) {
  T value{};
  return codec::read_varint(reader, value) && value <= most;
}

bool take_text(Reader& reader, bool utf8, std::span<const std::byte>& text) {
  const std::byte* from = nullptr;
  std::size_t length = 0;
  if (!reader.take_counted(from, length)) return false;
  text = {from, length};
  return !utf8 || codec::is_ascii(from, length) || codec::valid_utf8_prefix(text) == length;
}

}  // namespace

bool StepRun::run(std::uint32_t block_index, Reader& reader, Buffer& out) {
  const std::size_t start = out.size();
  const codec::Limits limits = reader.limits_left();
  // Of its own, since what a reader has charged stays charged.
  Reader inner({reader.peek(), reader.left()}, limits);
  marks_.clear();
  first_mark_ = 0;
  open(out);
  passed_ = inner.peek();
  if (!block(block_index, inner)) {
    out.resize(start);
    return false;
  }
  copy_passed(inner);
  close();
  reader.advance(inner.offset());
  return reader.charge(limits.decoded_bytes - inner.limits_left().decoded_bytes, 1);
}

void StepRun::open(Buffer& out) {
  out_ = &out;
  to_ = out.data() + out.size();
  limit_ = out.data() + out.capacity();
}

void StepRun::grow(std::size_t size) {
  const auto used = static_cast<std::size_t>(to_ - out_->data());
  out_->resize(used);
  out_->append(size);
  to_ = out_->data() + used;
  limit_ = out_->data() + out_->capacity();
}

bool StepRun::run(const Step* at, const Step* const end, Reader& reader) {
  for (; at != end; at += 1 + at->body) {
    const Step& step = *at;
    const std::byte* from = nullptr;
    std::size_t count = 0;
    std::span<const std::byte> text;
    switch (step.does) {
      case Does::leaf:
        if (!reader.enter_leaf()) return false;
        if (!reader.take(step.size, from)) return false;
        break;
      case Does::tagged_bytes:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::bytes:
        if (!reader.take(step.size, from)) return false;
        break;
      case Does::tagged_small:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::small:
        if (!pass_varint<std::uint16_t>(reader, step.most)) return false;
        break;
      case Does::tagged_medium:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::medium:
        if (!pass_varint<std::uint32_t>(reader, step.most)) return false;
        break;
      case Does::tagged_large:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::large:
        if (!pass_varint<std::uint64_t>(reader, step.most)) return false;
        break;
      case Does::tagged_text:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::text:
        if (!take_text(reader, true, text)) return false;
        break;
      case Does::tagged_octets:
        put_tag(step, reader);
        [[fallthrough]];
      case Does::octets:
        if (!reader.take_counted(from, count)) return false;
        break;
      case Does::row:
        if (!row(step, reader)) return false;
        break;
      case Does::many:
        if (!reader.enter_leaf() || !reader.read_count(step.size, count) ||
            !reader.charge(count, step.most) || !reader.take(count * step.size, from))
          return false;
        break;
      case Does::array_row: {
        const Type& type = program_.from->type(step.what);
        const RowOf row{*program_.from, program_.from->type(type.element), false, false};
        if (!reader.enter_leaf() || !read_array_row(reader, row, type.length, scratches_.values))
          return false;
        break;
      }
      case Does::record:
        if (!reader.enter() || !block(step.what, reader)) return false;
        reader.leave();
        break;
      case Does::elements:
        copy_passed(reader);
        if (!reader.enter() || !reader.read_count(step.size, count) || !reader.charge(count, step.most))
          return false;
        passed_ = reader.peek();
        for (const bool messages = at[1].does == Does::length; count != 0; --count)
          if (!(messages ? length(at[1], reader) : run(at + 1, at + 1 + step.body, reader))) return false;
        reader.leave();
        break;
      case Does::list:
        if (!reader.enter() || !reader.read_count(step.size, count) || !reader.charge(count, step.most))
          return false;
        for (; count != 0; --count)
          if (!run(at + 1, at + 1 + step.body, reader)) return false;
        reader.leave();
        break;
      case Does::array:
        if (!reader.enter()) return false;
        for (count = step.size; count != 0; --count)
          if (!run(at + 1, at + 1 + step.body, reader)) return false;
        reader.leave();
        break;
      case Does::optional:
        if (!reader.take(1, from) || *from > std::byte{1}) return false;
        if (*from == std::byte{1} &&
            (!reader.charge(1, step.most) || !run(at + 1, at + 1 + step.body, reader)))
          return false;
        break;
      case Does::texts:
        if (!texts(step, reader)) return false;
        break;
      case Does::choice:
        if (!choice(step, reader)) return false;
        break;
      case Does::checked: {
        std::uint64_t bits = 0;
        if (!read_checked(program_.from->type(step.what), reader, bits)) return false;
        break;
      }
      case Does::other:
        if (!pass_by_walk(step.what, reader)) return false;
        break;
      case Does::put:
        copy_passed(reader);
        copy(steps_.constants.data() + step.what, step.size);
        break;
      case Does::drop:
        copy_passed(reader);
        if (!run(at + 1, at + 1 + step.body, reader)) return false;
        passed_ = reader.peek();
        break;
      case Does::needed:
        if (!needed(step, reader)) return false;
        break;
      case Does::real:
        copy_passed(reader);
        if (!reader.take(sizeof(float), from)) return false;
        put_real(from);
        passed_ = reader.peek();
        break;
      case Does::convert:
        if (!convert(step, reader)) return false;
        break;
      case Does::by_walk:
        copy_passed(reader);
        if (!convert_by_walk(step.what, reader)) return false;
        passed_ = reader.peek();
        break;
      case Does::present:
        if (!present(step, reader)) return false;
        break;
      case Does::length:
        if (!length(step, reader)) return false;
        break;
      case Does::archived:
        if (!archived(step, reader)) return false;
        break;
      case Does::packed:
        if (!packed(step, reader)) return false;
        break;
      case Does::packed_raw:
        if (!packed_raw(step, reader)) return false;
        break;
      case Does::entries:
        if (!entries(step, reader)) return false;
        break;
      case Does::field_by_walk:
        copy_passed(reader);
        if (!convert_field_by_walk(step, reader)) return false;
        passed_ = reader.peek();
        break;
      case Does::moved:
        if (!moved(step, reader)) return false;
        break;
      case Does::mark:
        marks_[first_mark_ + step.size] = reader.peek();
        if (step.what != 0) passed_ = reader.peek();
        break;
      case Does::take:
        copy(mark(step.size), static_cast<std::size_t>(mark(step.what) - mark(step.size)));
        break;
      case Does::take_real:
        put_real(mark(step.size));
        break;
      case Does::take_by: {
        // It was looked at, and is charged already.
        Reader again({mark(step.size), mark(step.what)}, {reader.limits_left().depth, SIZE_MAX});
        passed_ = again.peek();
        if (!run(at + 1, at + 1 + step.body, again)) return false;
        copy_passed(again);
        passed_ = reader.peek();
        break;
      }
    }
  }
  return true;
}

void StepRun::put_real(const std::byte* from) {
  float value = 0;
  std::memcpy(&value, from, sizeof(value));
  const double wide = value;
  std::memcpy(room(sizeof(wide)), &wide, sizeof(wide));
  to_ += sizeof(wide);
}

bool StepRun::row(const Step& step, Reader& reader) {
  std::size_t count = 0;
  unsigned code = 0;
  if (!reader.enter_leaf() || !kernel::read_row_head(reader, step.code, count, code) ||
      !reader.charge(count, step.most))
    return false;
  const std::byte* from = nullptr;
  std::size_t size = count << code;
  if (count > kernel::kRowBlock) [[unlikely]] {
    const std::size_t blocks = kernel::row_blocks(count);
    const std::byte* codes = nullptr;
    if (!kernel::take_codes(reader, blocks - 1, step.code, codes)) return false;
    size = kernel::kRowBlock << code;
    for (std::size_t block = 1; block < blocks; ++block)
      size += kernel::block_count(count, block) << kernel::code_at(codes, block - 1);
  }
  return reader.take(size, from);
}

bool StepRun::texts(const Step& step, Reader& reader) {
  const Step* const body = &step + 1;
  std::size_t count = 0;
  if (!reader.enter() || !reader.read_count(step.size, count) || !reader.charge(count, step.most))
    return false;
  std::span<const std::byte> last;
  for (std::size_t i = 0; i < count; ++i) {
    std::span<const std::byte> key;
    if (!take_text(reader, step.code != 0, key) || (i != 0 && !bytes_before(last, key)) ||
        !run(body, body + step.body, reader))
      return false;
    last = key;
  }
  reader.leave();
  return true;
}

bool StepRun::choice(const Step& step, Reader& reader) {
  std::uint32_t number = 0;
  if (!reader.enter() || !codec::read_varint(reader, number)) return false;
  const auto place = find_field(*program_.from, program_.from->type(step.what), number);
  if (!place) return false;
  const std::uint32_t inside = steps_.choices[step.size + *place];
  if (inside == kNone || !block(inside, reader)) return false;
  reader.leave();
  return true;
}

bool StepRun::needed(const Step& step, Reader& reader) {
  const std::byte* flag = nullptr;
  copy_passed(reader);
  if (!reader.take(1, flag) || *flag > std::byte{1}) return false;
  passed_ = reader.peek();
  if (*flag == std::byte{1}) return run(&step + 1, &step + 1 + step.body, reader);
  if (step.what == kNone) return false;
  const std::vector<std::byte>& instead = program_.defaults[step.what].febird;
  copy(instead.data(), instead.size());
  return true;
}

/// A number that is a value of its type.
bool StepRun::read_checked(const Type& type, Reader& reader, std::uint64_t& bits) {
  if (type.raw) {
    const std::byte* at = nullptr;
    if (!reader.take(type.size, at)) return false;
    bits = load_bits(type, at);
  } else {
    const std::uint64_t most = type.size == 8 ? UINT64_MAX : (std::uint64_t{1} << (8U * type.size)) - 1;
    if (!codec::read_varint(reader, bits) || bits > most) return false;
    if (is_signed(type)) bits = static_cast<std::uint64_t>(codec::unzigzag(bits));
  }
  return is_valid(*program_.from, type, bits);
}

bool StepRun::convert(const Step& step, Reader& reader) {
  const Pair& pair = program_.pairs[step.what];
  const Type& from = program_.from->type(pair.from);
  const Type& to = program_.to->type(pair.to);
  std::uint64_t bits = 0;
  copy_passed(reader);
  if (!read_checked(from, reader, bits)) return false;
  if (!Conversion(&program_, &pair, from, to).convert(bits)) return false;
  if (to.raw) {
    store_bits(to, room(sizeof(bits)), bits);
    to_ += to.size;
  } else {
    put_varint(is_signed(to) ? codec::zigzag(static_cast<std::int64_t>(bits)) : bits);
  }
  passed_ = reader.peek();
  return true;
}

void StepRun::put_long_varint(std::uint64_t value) {
  codec::Writer writer(room(codec::kMaxVarint<std::uint64_t>));
  codec::write_varint(writer, value);
  to_ = writer.position();
}

// --- into archives

bool StepRun::present(const Step& step, Reader& reader) {
  const std::byte* flag = nullptr;
  copy_passed(reader);
  if (!reader.take(1, flag) || *flag > std::byte{1}) return false;
  passed_ = reader.peek();
  return *flag == std::byte{0} ||
         (reader.charge(1, step.most) && run(&step + 1, &step + 1 + step.body, reader));
}

/// As many bytes are kept free as the length of the last such value took.
StepRun::Length StepRun::open_length(const Step& step) {
  const std::size_t kept = length_sizes_[static_cast<std::size_t>(&step - steps_.steps.data())];
  to_ = room(kept) + kept;
  const auto end = static_cast<std::size_t>(to_ - out_->data());
  return {end - kept, end};
}

void StepRun::close_length(const Step& step, const Length& length) {
  const std::size_t size = static_cast<std::size_t>(to_ - out_->data()) - length.end;
  const std::size_t needed = codec::varint_size(size);
  if (length.begin + needed != length.end) [[unlikely]] {
    static_cast<void>(room(needed));
    std::memmove(out_->data() + length.begin + needed, out_->data() + length.end, size);
    to_ = out_->data() + length.begin + needed + size;
    length_sizes_[static_cast<std::size_t>(&step - steps_.steps.data())] = static_cast<std::uint8_t>(needed);
  }
  codec::Writer writer(out_->data() + length.begin);
  codec::write_varint(writer, size);
}

bool StepRun::length(const Step& step, Reader& reader) {
  copy_passed(reader);
  if (step.size != 0) put_varint(step.size);
  const Length kept = open_length(step);
  if (!reader.enter() || !block(step.what, reader)) return false;
  reader.leave();
  copy_passed(reader);
  close_length(step, kept);
  return true;
}

bool StepRun::archived(const Step& step, Reader& reader) {
  const Pair* const pair = step.what == kNone ? nullptr : &program_.pairs[step.what];
  const Type& from = program_.from->type(step.size);
  const Type& to = pair == nullptr ? from : program_.to->type(pair->to);
  std::uint64_t bits = 0;
  copy_passed(reader);
  if (!read_checked(from, reader, bits) || !Conversion(&program_, pair, from, to).convert(bits)) return false;
  if (wire_of(to) == codec::archive::Wire::varint) {
    put_varint(folded(to, bits));
  } else {
    store_bits(to, room(sizeof(bits)), bits);
    to_ += to.size;
  }
  passed_ = reader.peek();
  return true;
}

bool StepRun::packed(const Step& step, Reader& reader) {
  const Type& of = program_.from->type(step.size);
  std::size_t count = 0;
  copy_passed(reader);
  if (!reader.enter_leaf() ||
      !read_row(reader, {*program_.from, of, false, true}, step.most, scratches_.values, count))
    return false;
  passed_ = reader.peek();
  if (count == 0) return true;
  const auto pack = [&]<class T>(T /*type*/) {
    const std::span<const T> numbers(reinterpret_cast<const T*>(scratches_.values.data()), count);
    const std::size_t size = codec::archive::packed_size(numbers);
    put_varint(step.what);
    put_varint(size);
    codec::BackWriter writer(room(size) + size);
    codec::archive::write_packed(writer, numbers);
    to_ += size;
  };
  if (of.size == 4) {
    is_signed(of) ? pack(std::int32_t{}) : pack(std::uint32_t{});
  } else {
    is_signed(of) ? pack(std::int64_t{}) : pack(std::uint64_t{});
  }
  return true;
}

bool StepRun::packed_raw(const Step& step, Reader& reader) {
  const std::byte* from = nullptr;
  std::size_t count = 0;
  copy_passed(reader);
  if (!reader.enter_leaf() || !reader.read_count(step.size, count) || !reader.charge(count, step.most) ||
      !reader.take(count * step.size, from))
    return false;
  passed_ = reader.peek();
  if (count == 0) return true;
  put_varint(step.what);
  put_varint(count * step.size);
  copy(from, count * step.size);
  return true;
}

bool StepRun::entries(const Step& step, Reader& reader) {
  const Step* const body = &step + 1;
  std::size_t count = 0;
  copy_passed(reader);
  if (!reader.enter() || !reader.read_count(step.size, count) || !reader.charge(count, step.most))
    return false;
  std::span<const std::byte> last;
  for (std::size_t i = 0; i < count; ++i) {
    put_varint(step.what);
    const Length kept = open_length(step);
    put_varint(codec::archive::tag_of(1, codec::archive::Wire::length));
    passed_ = reader.peek();
    std::span<const std::byte> key;
    if (!take_text(reader, step.code != 0, key) || (i != 0 && !bytes_before(last, key)) ||
        !run(body, body + step.body, reader))
      return false;
    copy_passed(reader);
    close_length(step, kept);
    last = key;
  }
  passed_ = reader.peek();
  reader.leave();
  return true;
}

bool StepRun::moved(const Step& step, Reader& reader) {
  copy_passed(reader);
  const std::size_t outer = std::exchange(first_mark_, marks_.size());
  marks_.resize(first_mark_ + step.size + 1);
  if (!run(&step + 1, &step + 1 + step.body, reader)) return false;
  marks_.resize(first_mark_);
  first_mark_ = outer;
  passed_ = reader.peek();
  return true;
}

}  // namespace mf::described
