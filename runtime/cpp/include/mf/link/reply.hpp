// The end of one request on a link: the payload as received, or the reason why there is none.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "mf/codec/reader.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/metadata.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/protocol/coming.hpp"

namespace mf::link {

/// How a request ended on its connection.
enum class Ended : std::uint8_t {
  replied,     // by the server's REPLY
  unreadable,  // by a REPLY that cannot be decoded
  refused,     // the connection did not accept the request: nothing was sent
  lost,        // the connection has ended
  expired,     // at its deadline
  cancelled,   // by its caller
};

struct Reply {
  /// Code::ok; Code::declared (MIXED: an outcome for each item); or why all items failed.
  Code status = Code::ok;
  /// The tier of the results; 0 where there are none.
  std::uint8_t encoding = 0;
  /// Only for a request that a relay forwarded: kMetadata if the payload still begins with a metadata block.
  std::uint8_t flags = 0;
  std::uint32_t count = 0;
  /// Results and records as in protocol.md section 5. Valid as long as `owner`; without one, until the
  /// completion returns.
  std::span<const std::byte> payload;
  Bytes owner;
  /// Only in a reply to a forwarded request: the payload, if it is still arriving. `owner` keeps it alive.
  protocol::Coming* coming = nullptr;
  /// Unless this is `replied`, the link itself ended the call: `failure` says why and there is no payload.
  Ended how = Ended::replied;
  Failure failure;
  /// The metadata that the server sent; null if there are none.
  std::unique_ptr<Metadata> metadata;

  Reply() = default;
  /// The moved-from reply has no payload.
  Reply(Reply&& other) noexcept
      : status(other.status),
        encoding(other.encoding),
        flags(other.flags),
        count(other.count),
        payload(std::exchange(other.payload, {})),
        owner(std::move(other.owner)),
        coming(other.coming),
        how(other.how),
        failure(std::move(other.failure)),
        metadata(std::move(other.metadata)) {}
  Reply& operator=(Reply&& other) noexcept {
    status = other.status;
    encoding = other.encoding;
    flags = other.flags;
    count = other.count;
    payload = std::exchange(other.payload, {});
    owner = std::move(other.owner);
    coming = other.coming;
    if (local() || other.local()) [[unlikely]]
      failure = std::move(other.failure);
    how = other.how;
    metadata = std::move(other.metadata);
    return *this;
  }

  [[nodiscard]] bool local() const noexcept { return how != Ended::replied; }
  /// A reader of the payload; large `bytes` share its memory.
  [[nodiscard]] codec::Reader reader() const {
    codec::Reader reader(payload);
    if (!owner.empty()) reader.set_owner(owner);
    return reader;
  }

  static Reply failed(Failure why, Ended how) {
    Reply reply;
    reply.status = why.code;
    reply.how = how;
    reply.failure = std::move(why);
    return reply;
  }

  /// Makes the payload independent of the link's receive window.
  void keep() {
    if (!owner.empty() || payload.empty()) return;
    owner = Bytes(payload);
    payload = owner.span();
  }
};

using Completion = UniqueFunction<void(Reply&&)>;

/// Where a blocking caller receives its reply: small payloads are copied to its stack, large ones shared.
struct ReplySlot {
  Reply reply;
  alignas(8) std::array<std::byte, 512> copied;

  /// The reply without what an earlier attempt has left in it, to be filled in place.
  Reply& renew() {
    if (reply.local() || reply.metadata != nullptr) [[unlikely]]
      reply = Reply();
    return reply;
  }
  /// Makes the payload independent of the link's receive window.
  void keep() {
    if (!reply.owner.empty() || reply.payload.empty()) return;
    if (reply.payload.size() > copied.size()) return reply.keep();
    std::memcpy(copied.data(), reply.payload.data(), reply.payload.size());
    reply.payload = {copied.data(), reply.payload.size()};
  }
};

}  // namespace mf::link
