// What comes back from a link for one request: the payload as it stood on the wire, or why there is none.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "mf/core/buffer.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"

namespace mf::link {

struct Reply {
  /// Code::ok; Code::declared (MIXED: an outcome for each item); or why all items failed.
  Code status = Code::ok;
  /// The tier of the results; 0 where there are none.
  std::uint8_t encoding = 0;
  std::uint32_t count = 0;
  /// Results and records as in protocol.md section 5. Valid as long as `owner`; without one, until the
  /// completion returns.
  std::span<const std::byte> payload;
  SharedBytes owner;
  /// The link itself ended the call: `failure` says why and there is no payload.
  bool local = false;
  Failure failure;

  Reply() = default;
  /// What is left behind looks into nothing.
  Reply(Reply&& other) noexcept
      : status(other.status),
        encoding(other.encoding),
        count(other.count),
        payload(std::exchange(other.payload, {})),
        owner(std::move(other.owner)),
        local(other.local),
        failure(std::move(other.failure)) {}
  Reply& operator=(Reply&& other) noexcept {
    status = other.status;
    encoding = other.encoding;
    count = other.count;
    payload = std::exchange(other.payload, {});
    owner = std::move(other.owner);
    local = other.local;
    failure = std::move(other.failure);
    return *this;
  }

  static Reply failed(Failure why) {
    Reply reply;
    reply.status = why.code;
    reply.local = true;
    reply.failure = std::move(why);
    return reply;
  }

  /// Makes the payload independent of the link's receive window.
  void keep() {
    if (owner || payload.empty()) return;
    owner = SharedBytes::copy(payload);
    payload = owner.span();
  }
};

using Completion = UniqueFunction<void(Reply&&)>;

/// Where a blocking caller receives its reply: small payloads are copied to its own stack, large ones shared.
struct ReplySlot {
  Reply reply;
  alignas(8) std::array<std::byte, 512> small;

  void take(Reply&& from) {
    reply = std::move(from);
    if (reply.owner || reply.payload.empty()) return;
    if (reply.payload.size() > small.size()) return reply.keep();
    std::memcpy(small.data(), reply.payload.data(), reply.payload.size());
    reply.payload = {small.data(), reply.payload.size()};
  }
};

}  // namespace mf::link
