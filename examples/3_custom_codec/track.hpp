// A walker's track and its codec: differences between neighbours, which are small, in as few bytes as they
// need. track.py makes the same bytes:
//
//   for each point latitude and longitude, less those of the point before (of the first: less 0), each as a
//   number n >= 0 with 2n for n and -2n - 1 for negative ones, seven bits a byte, the lowest first; the
//   highest bit of a byte says that more follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace geo {

/// In millionths of a degree.
struct Point {
  std::int32_t latitude = 0;
  std::int32_t longitude = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Track {
  std::vector<Point> points;
  friend bool operator==(const Track&, const Track&) = default;
};

/// What mfidlc asks of a codec: an exact size, a writer of so many bytes, a reader that refuses what it
/// cannot take.
class TrackCodec {
 public:
  static std::size_t size(const Track& track) {
    std::size_t size = 0;
    each_number(track, [&size](std::uint64_t number) {
      for (++size; number >= 0x80; number >>= 7U) ++size;
    });
    return size;
  }

  static void write(std::span<std::byte> bytes, const Track& track) {
    std::size_t at = 0;
    each_number(track, [&](std::uint64_t number) {
      for (; number >= 0x80; number >>= 7U) bytes[at++] = static_cast<std::byte>((number & 0x7fU) | 0x80U);
      bytes[at++] = static_cast<std::byte>(number);
    });
  }

  static bool read(std::span<const std::byte> bytes, Track& track) {
    track.points.clear();
    for (Point last; !bytes.empty(); track.points.push_back(last)) {
      if (!read_difference(bytes, last.latitude) || !read_difference(bytes, last.longitude)) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned kMostBits = 35;  // of a difference

  template <class Take>
  static void each_number(const Track& track, const Take& take) {
    Point last;
    for (const Point& point : track.points) {
      take(folded(std::int64_t{point.latitude} - last.latitude));
      take(folded(std::int64_t{point.longitude} - last.longitude));
      last = point;
    }
  }

  static std::uint64_t folded(std::int64_t number) {
    return static_cast<std::uint64_t>(number >= 0 ? 2 * number : -2 * number - 1);
  }

  /// Adds the next difference in `bytes` to `coordinate`, and takes it from them.
  static bool read_difference(std::span<const std::byte>& bytes, std::int32_t& coordinate) {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < kMostBits && !bytes.empty(); shift += 7) {
      const auto byte = std::to_integer<std::uint64_t>(bytes[0]);
      bytes = bytes.subspan(1);
      number |= (byte & 0x7fU) << shift;
      if (byte >= 0x80) continue;
      if (byte == 0 && shift > 0) return false;  // one value, one encoding
      const auto half = static_cast<std::int64_t>(number >> 1U);
      const std::int64_t sum = coordinate + ((number & 1U) != 0 ? -half - 1 : half);
      if (sum < std::numeric_limits<std::int32_t>::min() || sum > std::numeric_limits<std::int32_t>::max())
        return false;
      coordinate = static_cast<std::int32_t>(sum);
      return true;
    }
    return false;
  }
};

}  // namespace geo
