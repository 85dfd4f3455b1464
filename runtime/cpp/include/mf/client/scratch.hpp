// A spare buffer per thread for requests: small calls encode into the same memory again and again.
#pragma once

#include "mf/core/buffer.hpp"
#include "mf/core/gathered.hpp"

namespace mf::client {

/// An empty buffer, with the thread's spare memory if there is any.
[[nodiscard]] Buffer take_scratch() noexcept;
/// Large buffers are not kept.
void give_scratch(Buffer&& buffer) noexcept;

/// The thread's spare buffer for a scope; functions called meanwhile cannot get it.
class Scratch {
 public:
  Scratch() noexcept : payload_(take_scratch()) {}
  ~Scratch() { give_scratch(std::move(payload_.buffer)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Gathered& payload() noexcept { return payload_; }

 private:
  Gathered payload_;
};

}  // namespace mf::client
