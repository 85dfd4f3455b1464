// Why febird's integers are coded as they are (docs/decisions/0012): rows of u32 as LEB128, as groups of four
// behind a control byte, and as blocks of one width; and the lone integers of a heartbeat as LEB128 or behind
// a bitmap of widths.
//
//   g++ -std=c++20 -O2 -Iruntime/cpp/include -o /tmp/integers bench/codecs/integers/integers.cpp
//       runtime/cpp/src/codec/{reader,row,varint,fault}.cpp
//   taskset -c 1 /tmp/integers
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "mf/codec/row.hpp"
#include "mf/codec/varint_row.hpp"

namespace {

using Row = std::vector<std::uint32_t>;
using mf::codec::Reader;
using mf::codec::Writer;

std::array<std::byte, 1 << 16> memory;

// --- LEB128, eight at a time while they are small

std::size_t write_leb128(const Row& row) {
  Writer writer(memory.data());
  mf::codec::write_varint(writer, row.size());
  mf::codec::write_varint_row(writer, std::span<const std::uint32_t>(row));
  return static_cast<std::size_t>(writer.position() - memory.data());
}

bool read_leb128(std::size_t size, Row& row) {
  Reader reader({memory.data(), size});
  std::size_t count = 0;
  if (!reader.read_count(1, count)) return false;
  row.resize(count);
  return mf::codec::read_varint_row(reader, std::span(row)) && reader.finish();
}

// --- groups of four: a control byte with four widths of 1 to 4 bytes, then their bytes

unsigned width_code(std::uint32_t value) {
  return static_cast<unsigned>(value > 0xFFU) + static_cast<unsigned>(value > 0xFFFFU) +
         static_cast<unsigned>(value > 0xFF'FFFFU);
}

std::size_t write_groups(const Row& row) {
  Writer writer(memory.data());
  mf::codec::write_varint(writer, row.size());
  std::byte* control = writer.skip((row.size() + 3) / 4);
  std::byte* to = writer.position();
  for (std::size_t i = 0; i < row.size(); i += 4, ++control) {
    unsigned codes = 0;
    for (std::size_t k = 0; k < 4 && i + k < row.size(); ++k) {
      const unsigned code = width_code(row[i + k]);
      std::memcpy(to, &row[i + k], 4);  // surplus bytes are overwritten
      to += code + 1;
      codes |= code << (2 * k);
    }
    *control = static_cast<std::byte>(codes);
  }
  return static_cast<std::size_t>(to - memory.data());
}

bool read_groups(std::size_t size, Row& row) {
  Reader reader({memory.data(), size});
  std::size_t count = 0;
  if (!reader.read_count(1, count)) return false;
  row.resize(count);
  const std::byte* control = reader.peek();
  const std::byte* from = control + (count + 3) / 4;
  const std::byte* const end = memory.data() + size;
  constexpr std::array<std::uint32_t, 4> kMasks{0xFFU, 0xFFFFU, 0xFF'FFFFU, 0xFFFF'FFFFU};
  for (std::size_t i = 0; i < count; i += 4, ++control) {
    const auto codes = std::to_integer<unsigned>(*control);
    for (std::size_t k = 0; k < 4 && i + k < count; ++k) {
      const unsigned code = (codes >> (2 * k)) & 3U;
      if (from + code + 1 > end) return false;
      std::uint32_t word = 0;
      std::memcpy(&word, from, 4);  // a real decoder would have to check for the end
      row[i + k] = word & kMasks[code];
      from += code + 1;
    }
  }
  return from == end;
}

// --- blocks of one width

std::size_t write_blocks(const Row& row) {
  mf::codec::detail::SpanBlocks<std::uint32_t> blocks{row};
  // The exact size is worked out first, as codecs do.
  const std::size_t size = mf::codec::detail::row_size<std::uint32_t>(blocks, row.size());
  static_cast<void>(mf::codec::detail::write_row<std::uint32_t>(memory.data(), blocks, row.size()));
  return size;
}

bool read_blocks(std::size_t size, Row& row) {
  Reader reader({memory.data(), size});
  return mf::codec::detail::read_row(reader, row) && reader.finish();
}

// --- the lone integers of a heartbeat: serial, and three of each queue

constexpr std::array<std::int64_t, 13> kLone{
    1'573'084'800'123, 17, 100, 640, 3, 100, 12, 99, 100, 870, 41, 100, 5};

std::size_t write_lone_leb128(std::span<const std::int64_t> values) {
  Writer writer(memory.data());
  for (const std::int64_t each : values) mf::codec::write_varint(writer, mf::codec::zigzag(each));
  return static_cast<std::size_t>(writer.position() - memory.data());
}

std::int64_t read_lone_leb128(std::size_t size, std::span<std::int64_t> values) {
  Reader reader({memory.data(), size});
  for (std::int64_t& each : values) {
    if (!mf::codec::read_zigzag(reader, each)) std::abort();
  }
  return values[0];
}

/// The serial alone, then four structures of three fields; before each structure a byte with two bits for
/// each field.
std::size_t write_lone_bitmap(std::span<const std::int64_t> values) {
  std::byte* to = memory.data();
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t fields = i == 0 ? 1 : 3;
    std::byte* const bitmap = to++;
    unsigned codes = 0;
    for (std::size_t k = 0; k < fields; ++k, ++i) {
      const std::uint64_t value = mf::codec::zigzag(values[i]);
      const unsigned code = static_cast<unsigned>(value > 0xFFU) + static_cast<unsigned>(value > 0xFFFFU) +
                            static_cast<unsigned>(value > 0xFFFF'FFFFU);
      std::memcpy(to, &value, 8);  // surplus bytes are overwritten
      to += std::size_t{1} << code;
      codes |= code << (2 * k);
    }
    *bitmap = static_cast<std::byte>(codes);
  }
  return static_cast<std::size_t>(to - memory.data());
}

std::int64_t read_lone_bitmap(std::size_t size, std::span<std::int64_t> values) {
  const std::byte* from = memory.data();
  const std::byte* const end = from + size;
  constexpr std::array<std::uint64_t, 4> kMasks{0xFFU, 0xFFFFU, 0xFFFF'FFFFU, ~std::uint64_t{0}};
  for (std::size_t i = 0; i < values.size();) {
    const std::size_t fields = i == 0 ? 1 : 3;
    const auto codes = std::to_integer<unsigned>(*from++);
    for (std::size_t k = 0; k < fields; ++k, ++i) {
      const unsigned code = (codes >> (2 * k)) & 3U;
      if (from + (std::size_t{1} << code) > end) std::abort();
      std::uint64_t word = 0;
      std::memcpy(&word, from, 8);
      values[i] = mf::codec::unzigzag(word & kMasks[code]);
      from += std::size_t{1} << code;
    }
  }
  return values[0];
}

// --- measuring

/// Nanoseconds of one call: the minimum of many short repetitions.
template <class Work>
double nanoseconds(const Work& work) {
  constexpr int kTimes = 400;
  double least = 1e18;
  for (int round = 0; round < 200; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) {
      work();
      asm volatile("" : : : "memory");
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / kTimes);
  }
  return least;
}

struct Coding {
  const char* name;
  std::size_t (*write)(const Row&);
  bool (*read)(std::size_t, Row&);
};

void measure(const char* what, const Row& row) {
  for (const Coding& coding :
       {Coding{"leb128", &write_leb128, &read_leb128}, Coding{"groups", &write_groups, &read_groups},
        Coding{"blocks", &write_blocks, &read_blocks}}) {
    const std::size_t size = coding.write(row);
    Row back;
    if (!coding.read(size, back) || back != row) std::abort();
    const auto values = static_cast<double>(row.size());
    const double writing = nanoseconds([&] { coding.write(row); }) / values;
    const double reading = nanoseconds([&] { static_cast<void>(coding.read(size, back)); }) / values;
    std::printf("%-22s %-7s %6.2f %6.2f ns/value %6.2f bytes/value\n", what, coding.name, writing, reading,
                static_cast<double>(size) / values);
  }
}

Row row_of(std::size_t size, const std::function<std::uint64_t()>& next) {
  Row row(size);
  std::generate(row.begin(), row.end(), [&] { return static_cast<std::uint32_t>(next()); });
  return row;
}

}  // namespace

int main() {
  std::mt19937 random(1);
  measure("small (0 to 99)", row_of(1000, [&] { return random() % 100; }));
  measure("uniform to 16,000", row_of(1000, [&] { return random() % 16'000; }));
  measure("1 of 100 an outlier",
          row_of(1000, [&] { return random() % 100 == 0 ? random() : random() % 100; }));
  measure("random 32 bits", row_of(1000, [&] { return random(); }));
  measure("20 positions", row_of(20, [&, at = std::uint32_t{0}]() mutable {
            return at += 1 + static_cast<std::uint32_t>(random() % 200);
          }));
  std::array<std::int64_t, kLone.size()> values{};
  std::size_t size = write_lone_leb128(kLone);
  std::printf("%-22s %-7s %6.1f", "13 lone of heartbeat", "leb128",
              nanoseconds([] { write_lone_leb128(kLone); }));
  std::printf(" %6.1f ns %zu bytes\n", nanoseconds([&] { read_lone_leb128(size, values); }), size);
  size = write_lone_bitmap(kLone);
  std::printf("%-22s %-7s %6.1f", "13 lone of heartbeat", "bitmap",
              nanoseconds([] { write_lone_bitmap(kLone); }));
  std::printf(" %6.1f ns %zu bytes\n", nanoseconds([&] { read_lone_bitmap(size, values); }), size);
}
