#pragma once
// The payload of a frame that is to be sent, wherever its bytes are: the one type that sessions and links
// take for requests, replies and the data of streams. It refers to its source, which must outlive the call
// that it is passed to.
//
//   bytes           copied
//   a Buffer        moved from if it is large, otherwise copied and left as it is
//   a Gathered      likewise; its pieces are shared. A const one is copied, its pieces are shared
//   bytes of an owner   shared if they are large, otherwise copied
//   a Coming        sent while it arrives

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "mf/core/buffer.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/gathered.hpp"
#include "mf/protocol/coming.hpp"

namespace mf::protocol {

class Outbound {
 public:
  template <class Range>
    requires std::is_convertible_v<const Range&, std::span<const std::byte>> &&
                 (!std::is_same_v<Range, Buffer> && !std::is_same_v<Range, Bytes>)
  Outbound(const Range& bytes) noexcept
      : bytes_(static_cast<std::span<const std::byte>>(bytes)), size_(bytes_.size()) {}
  Outbound(Buffer& from) noexcept : bytes_(from.span()), size_(bytes_.size()), buffer_(&from) {}
  Outbound(Buffer&& from) noexcept : Outbound(from) {}
  Outbound(Gathered& from) noexcept : Outbound(std::as_const(from)) {
    buffer_ = &from.buffer;
    gathered_ = &from;
  }
  Outbound(Gathered&& from) noexcept : Outbound(from) {}
  explicit Outbound(const Gathered& from) noexcept
      : bytes_(from.buffer.span()), pieces_(from.pieces), size_(from.size()) {}
  /// An empty owner has none of the bytes.
  Outbound(std::span<const std::byte> bytes, const Bytes& owner) noexcept
      : bytes_(bytes), size_(bytes.size()), owner_(&owner) {}
  explicit Outbound(const Coming& coming) noexcept : size_(coming.size()), coming_(&coming) {}
  Outbound(const std::shared_ptr<const Coming>& coming) noexcept : Outbound(*coming) {}
  Outbound(const std::shared_ptr<Coming>& coming) noexcept : Outbound(*coming) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  friend class Session;

  std::span<const std::byte> bytes_;
  std::span<const Gathered::Piece> pieces_;
  std::size_t size_;
  Buffer* buffer_ = nullptr;      // to be moved from
  Gathered* gathered_ = nullptr;  // likewise
  const Bytes* owner_ = nullptr;
  const Coming* coming_ = nullptr;
};

}  // namespace mf::protocol
