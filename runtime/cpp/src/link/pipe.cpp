#include "mf/link/pipe.hpp"

#include <array>
#include <span>

namespace mf::link {

Pipe::Wrote Pipe::write(Lock& lock, const std::atomic<bool>& over) {
  if (writing_ || blocked_) return Wrote::nothing;
  writing_ = true;
  auto wrote = Wrote::all;
  std::array<IoSlice, 64> slices;
  while (has_output() && !over.load(std::memory_order_acquire)) {
    const auto n = session.fill_output(slices);
    if (n == 0 && !stream->has_output()) break;  // the rest of a payload has to arrive first
    for (const auto& slice : std::span(slices).first(n)) offered_ += slice.size;
    lock.unlock();
    const auto result = stream->write(std::span(slices).first(n));
    lock.lock();
    session.consumed(result.bytes);
    written_ += result.bytes;
    offered_ = written_;
    if (was_blocked_ && result.bytes != 0) moved_ = true;
    was_blocked_ = result.state == transport::IoState::would_block;
    if (result.state == transport::IoState::ok) continue;
    blocked_ = was_blocked_;
    wrote = blocked_ ? Wrote::full : Wrote::failed;
    break;
  }
  writing_ = false;
  return wrote;
}

}  // namespace mf::link
