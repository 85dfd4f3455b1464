// What ranks.py is for Python: a world of numbered processes, and the transfer of example 3 of the paper, for
// arrays of float64. Ranks in both languages make one world.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "mf/flex/flex.hpp"

inline constexpr std::chrono::seconds kLimit{120};  // that a rank waits for another one

class Ranks {
 public:
  /// The process must be called NAME.RANK, as the others are.
  Ranks(mf::flex::Process& process, std::size_t rank, std::size_t size,
        std::size_t chunk_bytes = std::size_t{256} << 10U)
      : process_(process),
        rank_(rank),
        size_(size),
        world_(process.name().substr(0, process.name().rfind('.'))),
        chunk_(std::max<std::size_t>(1, chunk_bytes / sizeof(double))) {}

  [[nodiscard]] mf::flex::Process& process() const noexcept { return process_; }
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::string name(std::size_t rank) const { return world_ + "." + std::to_string(rank); }

  /// A large buffer waits for its receiver.
  void mpi_send_buf(std::span<const double> buf, std::size_t dest, const std::string& tag) {
    const bool small = buf.size() <= chunk_;
    std::size_t start = 0;
    do {
      const auto end = std::min(start + chunk_, buf.size());
      process_.send({{"dest", name(dest)},
                     {"tag", tag},
                     {"buf", mf::flex::Array(buf.subspan(start, end - start))},
                     {"start", start},
                     {"end", end},
                     {"size", end - start},
                     {"mtype", small ? "small" : "large"},
                     {"last", end == buf.size()}});
      if (!small) process_.recv(kLimit, {{"src", name(dest)}, {"tag", tag}, {"mtype", "ack"}});
      start = end;
    } while (start < buf.size());
  }

  /// Throws if the sender has another count than `buf` has room for.
  void mpi_recv_buf(std::span<double> buf, std::size_t src, const std::string& tag) {
    const auto is_data = [](const mf::flex::Value& mtype) { return mtype == "small" || mtype == "large"; };
    std::size_t received = 0;
    for (bool last = false; !last;) {
      const auto m = process_.recv(kLimit, {{"src", name(src)}, {"tag", tag}, {"mtype", is_data}});
      if (m["mtype"] == "large") process_.send({{"dest", name(src)}, {"tag", tag}, {"mtype", "ack"}});
      const auto values = m["buf"].get<mf::flex::Array>().view<double>();
      const auto start = m["start"].to<std::size_t>();
      if (start + values.size() > buf.size())
        throw std::length_error(m.src() + " sends more than " + std::to_string(buf.size()) + " values");
      std::copy(values.begin(), values.end(), buf.begin() + static_cast<std::ptrdiff_t>(start));
      received += values.size();
      last = m["last"].to<bool>();
    }
    if (received != buf.size())
      throw std::length_error(name(src) + " has sent " + std::to_string(received) + " values, not " +
                              std::to_string(buf.size()));
  }

 private:
  mf::flex::Process& process_;
  const std::size_t rank_;
  const std::size_t size_;
  const std::string world_;
  const std::size_t chunk_;
};
