// Keeps the memory of large messages warm while they are exchanged (core/blocks.hpp), by a timer of the
// reactor that releases it when there was none for a second or two. An idle reactor has no such timer.
#pragma once

#include <cstddef>
#include <memory>

#include "mf/core/blocks.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::link {

void warm_blocks_by(const std::shared_ptr<transport::Reactor>& reactor) noexcept;

/// To be called for each message that is sent or received.
inline void warm_blocks_for(std::size_t size, const std::shared_ptr<transport::Reactor>& reactor) noexcept {
  if (size >= kKeptFrom) [[unlikely]]
    warm_blocks_by(reactor);
}

}  // namespace mf::link
