#include "mf/transport/memory.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace mf::transport {
namespace {

constexpr std::size_t kMostSlices = 64;

class FaultyStream final : public Stream {
 public:
  FaultyStream(std::unique_ptr<Stream> stream, const Faults& faults)
      : stream_(std::move(stream)),
        faults_(faults),
        read_sizes_(faults.seed * 2 + 1),
        write_sizes_(faults.seed * 2 + 2) {}

  IoResult read(std::span<std::byte> into, Wait wait) noexcept override {
    return stream_->read(into.first(std::min(into.size(), piece(read_sizes_))), wait);
  }

  IoResult write(std::span<const IoSlice> slices) noexcept override {
    if (written_ >= faults_.cut_after) {
      stream_->shutdown();
      return {.state = IoState::closed};
    }
    std::size_t all = 0;
    for (const auto& slice : slices) all += slice.size;
    auto most = std::min(all, piece(write_sizes_));
    if (written_ >= faults_.lost_after) {
      written_ += most;
      return {.bytes = most};
    }
    most = std::min({most, faults_.cut_after - written_, faults_.lost_after - written_});
    const auto result = stream_->write(first(slices, most));
    written_ += result.bytes;
    if (written_ >= faults_.cut_after) stream_->shutdown();
    return result;
  }

  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override {
    stream_->wait_ready(read, write, timeout);
  }
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override {
    stream_->set_coarse_timeout(timeout);
  }
  [[nodiscard]] std::size_t unacknowledged() const noexcept override { return stream_->unacknowledged(); }
  [[nodiscard]] bool allow_interrupts() noexcept override { return stream_->allow_interrupts(); }
  void interrupt() noexcept override { stream_->interrupt(); }
  void shutdown() noexcept override { stream_->shutdown(); }
  void close() noexcept override { stream_->close(); }
  [[nodiscard]] int fd() const noexcept override { return stream_->fd(); }
  [[nodiscard]] const std::string& peer() const noexcept override { return stream_->peer(); }

 private:
  using Sizes = std::minstd_rand;

  [[nodiscard]] std::size_t piece(Sizes& sizes) const noexcept {
    return faults_.largest_piece == Faults::kNever ? Faults::kNever : 1 + sizes() % faults_.largest_piece;
  }

  /// The first `most` bytes of the slices, as slices.
  std::span<const IoSlice> first(std::span<const IoSlice> slices, std::size_t most) noexcept {
    std::size_t count = 0;
    for (const auto& slice : slices) {
      if (most == 0 || count == slices_.size()) break;
      slices_[count] = {slice.data, std::min(slice.size, most)};
      most -= slices_[count++].size;
    }
    return {slices_.data(), count};
  }

  const std::unique_ptr<Stream> stream_;
  const Faults faults_;
  Sizes read_sizes_;   // of the reader
  Sizes write_sizes_;  // of the writer, as all below
  std::size_t written_ = 0;
  std::array<IoSlice, kMostSlices> slices_{};
};

}  // namespace

std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_memory_pair(Faults first, Faults second) {
  auto [left, right] = make_inproc_pair();
  return {std::make_unique<FaultyStream>(std::move(left), first),
          std::make_unique<FaultyStream>(std::move(right), second)};
}

}  // namespace mf::transport
