// A thread's spare buffer for requests: small calls encode into the same memory again and again.
#pragma once

#include "mf/core/buffer.hpp"
#include "mf/core/gathered.hpp"

namespace mf::client {

/// An empty buffer, with memory if the thread has some to spare.
[[nodiscard]] Buffer take_scratch() noexcept;
/// What is large is not kept.
void give_scratch(Buffer&& buffer) noexcept;

/// The thread's spare buffer for the length of a scope, out of reach of what is called meanwhile.
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
