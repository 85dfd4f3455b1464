// Messages of a client of one schema at replicas of another one, from bytes to bytes: either the client has
// adapted to what the replicas read, or a replica of another version reads what stands in its group's log.
// Immutable: any thread may use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "mf/core/bytes.hpp"
#include "mf/core/outcome.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/replication.hpp"

namespace mf::replicated {

class AdaptedMessages {
 public:
  explicit AdaptedMessages(std::shared_ptr<const link::Adaptation> adaptation)
      : adaptation_(std::move(adaptation)) {}

  /// The service as the replicas have it.
  [[nodiscard]] const ServiceInfo& service() const noexcept { return adaptation_->service(); }
  /// Of a method, by the client's name.
  [[nodiscard]] std::optional<std::uint16_t> index_of(std::string_view method) const;
  /// Makes the name of a method and a request those of the replicas; or why that cannot be, not executed.
  [[nodiscard]] std::optional<Failure> request(std::uint16_t index, std::string_view& method,
                                               Bytes& payload) const;
  /// Makes what a servant has made of it the client's; or why that cannot be.
  [[nodiscard]] std::optional<Failure> outcome(std::uint16_t index, replication::Outcome& outcome) const;

 private:
  const std::shared_ptr<const link::Adaptation> adaptation_;
};

}  // namespace mf::replicated
