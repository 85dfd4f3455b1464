// Converts the bytes of a call between the client's schema and a differing one of the server
// (adaptation.hpp): the request, the reply, and the values of streams.
//
// A value without an equal in the other schema fails only the batch item, call or stream that it belongs to;
// the failure names its path. Invalid bytes that arrive are handled as without a conversion.
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

/// The outcome of converting one value.
struct Converted {
  described::Went went = described::Went::over;
  std::string why{};
};

/// The message for a declared error that the client's schema lacks.
[[nodiscard]] std::string undeclared(const Adaptation& adaptation, std::uint16_t method,
                                     const evolution::ErrorPlan& error);

enum class Direction : std::uint8_t { to_server, to_client };

/// Converts one part of a method in one direction. Used by one thread at a time.
class Conversion {
 public:
  /// `place`: the first word of paths, for example "parameter".
  Conversion(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method, Direction direction,
             described::PairIndex way, std::string place);

  /// Converts the parameters or results of one call.
  [[nodiscard]] Converted fields(codec::Reader& reader, Buffer& out);
  /// Converts the next one of a stream's consecutive values.
  [[nodiscard]] Converted element(codec::Reader& reader, Buffer& out);
  /// Converts a single value, such as a topic's.
  [[nodiscard]] Converted alone(codec::Reader& reader, Buffer& out);
  /// Converts a declared error.
  [[nodiscard]] Converted error(const evolution::ErrorPlan& plan, codec::Reader& reader, Buffer& out);
  /// The tiers of a stream's values after and before element().
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

/// Converts a request to a server with another schema, and its reply.
class AdaptedRequest {
 public:
  /// The method must be callable, and MethodPlan::converts must be true.
  AdaptedRequest(std::shared_ptr<const Adaptation> adaptation, std::uint16_t method);

  /// Makes the server's payload(), with the metadata, and adapts `head`. Returns the reply that ends the call
  /// if no item can be converted.
  [[nodiscard]] std::optional<Reply> send(std::span<const std::byte> payload, protocol::RequestHead& head);
  [[nodiscard]] std::optional<Reply> send(const Gathered& payload, protocol::RequestHead& head);
  /// The result of send().
  [[nodiscard]] Gathered& payload() noexcept { return payload_; }
  /// Converts the server's reply to one for the client.
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
  std::uint32_t items_ = 0;                                    // in the client's request
  std::vector<std::pair<std::uint32_t, std::string>> unsent_;  // items that were not sent, with reasons
};

/// Both return null if the bytes need no conversion or there is no such stream.
[[nodiscard]] std::unique_ptr<AdaptedRequest> adapted_request(const Adaptation& adaptation,
                                                              std::uint16_t method);
[[nodiscard]] std::shared_ptr<StreamConversion> stream_conversion(
    const std::shared_ptr<const Adaptation>& adaptation, std::uint16_t method, Direction direction);
/// Converts a topic's values for the subscriber. Null: the bytes are the same.
[[nodiscard]] std::unique_ptr<Conversion> topic_conversion(
    const std::shared_ptr<const Adaptation>& adaptation);

}  // namespace mf::link
