// What a client does at servers of a service whose schema is another one than its own: it binds with their
// fingerprint and their names of those methods that it can call, and speaks their schema (docs/evolution.md).
// A server never learns of it.
//
// A server of another schema is asked what that is (DESCRIBE), once a connection; that its descriptor is
// the one of its fingerprint shows when it is bound. What was made of the two schemas is kept for the
// process: adaptations are never changed, and any thread may use them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/evolution/plan.hpp"
#include "mf/link/client_link.hpp"

namespace mf::link {

class Adaptation final : public std::enable_shared_from_this<Adaptation> {
 public:
  Adaptation(const ServiceInfo& own, const Fingerprint& theirs, evolution::Plan plan);
  Adaptation(const Adaptation&) = delete;
  Adaptation& operator=(const Adaptation&) = delete;

  /// Why nothing of the service can be called; empty: something can be.
  [[nodiscard]] const std::string& refusal() const noexcept { return plan_.refusal; }
  /// The service as it is bound: what can be called of it.
  [[nodiscard]] const ServiceInfo& service() const noexcept { return bound_; }
  /// By the method's index in the client's schema.
  [[nodiscard]] const evolution::MethodPlan& method(std::uint16_t index) const {
    return plan_.methods[index];
  }
  [[nodiscard]] bool allows(std::uint16_t index) const { return method(index).callable(); }
  /// Why a method cannot be called; not of one that can.
  [[nodiscard]] Failure refusal_of(std::uint16_t index) const;
  /// The place of its route among those that are bound; not of a method that cannot be called.
  [[nodiscard]] std::uint16_t place(std::uint16_t index) const { return places_[index]; }
  [[nodiscard]] const evolution::Plan& plan() const noexcept { return plan_; }

 private:
  evolution::Plan plan_;
  const std::string name_;
  std::vector<std::string_view> names_;  // of those that are bound
  std::vector<std::uint16_t> places_;    // by index
  ServiceInfo bound_;
};

/// What a server with that fingerprint has said before; null: none has. What one that is connected says may
/// differ, by its annex.
[[nodiscard]] std::shared_ptr<const Adaptation> known_adaptation(const ServiceInfo& own,
                                                                 const Fingerprint& theirs);
/// Of what a server says; remembered. Null: the text cannot be that of a service, as `why` says.
[[nodiscard]] std::shared_ptr<const Adaptation> adaptation_to(const ServiceInfo& own,
                                                              const ClientLink::Described& theirs,
                                                              std::string& why);

/// Binds a service that may have another schema there. `announced`: its fingerprint there, as far as somebody
/// has said; zeros: nobody has. Failure: SCHEMA_MISMATCH with the difference, if nothing of it can be called,
/// or what bind() gives.
[[nodiscard]] Outcome<std::shared_ptr<Binding>> bind_adapting(ClientLink& link, const ServiceInfo& own,
                                                              const std::string& agent,
                                                              const Fingerprint& announced,
                                                              TimePoint deadline);

}  // namespace mf::link
