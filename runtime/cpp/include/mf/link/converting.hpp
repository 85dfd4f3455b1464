// Bytes of a call between the client's schema and that of a server that has another one (adaptation.hpp): its
// request, its reply, the values of its streams.
//
// A value that has no equal in the other schema is refused by itself: one item of a batch alone, the call, or
// the stream, with its path in words. What arrives and is not in order is what it is without a conversion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mf/codec/described/transcode.hpp"
#include "mf/core/buffer.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/link/reply.hpp"
#include "mf/link/stream.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/protocol/session.hpp"

namespace mf::link {

/// What a conversion of one value has come to.
struct Converted {
  described::Went went = described::Went::over;
  std::string why{};
};

enum class Direction : std::uint8_t { to_server, to_client };

/// One direction of one part of a method. One thread at a time.
class Conversion {
 public:
  /// `place`: what stands in front of paths, "parameter".
  Conversion(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method, Direction direction,
             described::PairIndex way, std::string place);

  /// The parameters or results of one call.
  [[nodiscard]] Converted fields(codec::Reader& reader, Buffer& out);
  /// A value of a stream, one of those that lie one behind the other.
  [[nodiscard]] Converted element(codec::Reader& reader, Buffer& out);
  /// A value alone, of a topic.
  [[nodiscard]] Converted alone(codec::Reader& reader, Buffer& out);
  /// A declared error.
  [[nodiscard]] Converted error(const evolution::ErrorPlan& plan, codec::Reader& reader, Buffer& out);
  /// How what comes of element() lies in its frames, and how it lay before.
  [[nodiscard]] Tier element_tier() const noexcept;
  [[nodiscard]] Tier element_tier_before() const noexcept;

 private:
  [[nodiscard]] Converted said(described::Went went, std::string_view place) const;

  const std::shared_ptr<const Adaptation> adaptation_;
  const std::uint16_t method_;
  const Direction direction_;
  const described::PairIndex way_;
  const std::string place_;
  const described::Program& program_;
  described::Transcoder transcoder_;
  Buffer inner_;
};

/// A request on its way to a server of another schema, and the reply to it.
class AdaptedRequest {
 public:
  /// The method can be called and is converted.
  AdaptedRequest(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method);

  /// Makes the server's payload and head of the client's, metadata and all. Gives how the call ends, if
  /// nothing of it can go over.
  [[nodiscard]] std::optional<Reply> send(std::span<const std::byte> payload, protocol::RequestHead& head);
  [[nodiscard]] std::optional<Reply> send(const Gathered& payload, protocol::RequestHead& head);
  /// What send() has made.
  [[nodiscard]] Gathered& payload() noexcept { return payload_; }
  /// Makes of the server's reply the client's.
  void receive(Reply& reply);

 private:
  struct Answer;

  [[nodiscard]] Failure unreadable(std::string_view why) const;
  [[nodiscard]] bool take(protocol::MixedReader& outcomes, Code code, Answer& answer);
  [[nodiscard]] Reply put_together(Reply& reply, std::vector<Answer>&& answers, const Buffer& results);

  const std::shared_ptr<const Adaptation> adaptation_;
  const std::uint16_t method_;
  const evolution::MethodPlan& plan_;
  Conversion requests_;
  Conversion results_;
  Gathered payload_;
  std::uint32_t items_ = 0;                                    // of the client's request
  std::vector<std::pair<std::uint32_t, std::string>> unsent_;  // of those, and why
};

/// Null: nothing of the method is converted, or it has no such stream.
[[nodiscard]] std::unique_ptr<AdaptedRequest> adapted_request(const Adaptation& adaptation,
                                                              std::uint16_t method);
[[nodiscard]] std::shared_ptr<StreamConversion> stream_conversion(
    const std::shared_ptr<const Adaptation>& adaptation, std::uint16_t method, Direction direction);
/// Of a topic's values, to the subscriber. Null: they are the same.
[[nodiscard]] std::unique_ptr<Conversion> topic_conversion(
    const std::shared_ptr<const Adaptation>& adaptation);

}  // namespace mf::link
