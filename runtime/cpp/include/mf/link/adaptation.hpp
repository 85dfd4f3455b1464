// How a client calls servers whose schema of a service differs from its own: it binds with the server's
// fingerprint and the server's names of the methods that it can call, and sends values of the server's schema
// (docs/evolution.md). The server does not notice.
//
// The client asks such a server for its schema (DESCRIBE), once for each connection; binding then shows
// whether the descriptor belongs to the fingerprint. Adaptations are kept for the process; they are
// immutable, and any thread may use them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/outcome.hpp"
#include "mf/core/service.hpp"
#include "mf/evolution/plan.hpp"
#include "mf/link/client_link.hpp"

namespace mf::link {

class Adaptation final : public std::enable_shared_from_this<Adaptation> {
 public:
  /// `peer`: the peer with the other schema, as failures name it; "": no particular one.
  Adaptation(const ServiceInfo& own, const Fingerprint& theirs, evolution::Plan plan, std::string peer);
  /// The same for another peer.
  Adaptation(const Adaptation& other, std::string peer);
  Adaptation(const Adaptation&) = delete;
  Adaptation& operator=(const Adaptation&) = delete;

  /// Why the service cannot be bound; empty: it can be, and each method has its own verdict.
  [[nodiscard]] const std::string& refusal() const noexcept { return plan().refusal; }
  /// The service as it is bound: the server's fingerprint, and its names of the callable methods.
  [[nodiscard]] const ServiceInfo& service() const noexcept { return made_->bound; }
  /// `index` is the method's index in the client's schema, here and below.
  [[nodiscard]] const evolution::MethodPlan& method(std::uint16_t index) const {
    return plan().methods[index];
  }
  [[nodiscard]] bool allows(std::uint16_t index) const { return method(index).callable(); }
  /// Why a method cannot be called; only for methods that allows() refuses.
  [[nodiscard]] Failure refusal_of(std::uint16_t index) const { return refusal_of(index, peer_); }
  /// The same at another peer of that schema.
  [[nodiscard]] Failure refusal_of(std::uint16_t index, std::string_view peer) const;
  /// The offset of the method's route from the first route; only for methods that allows() permits.
  [[nodiscard]] std::uint16_t place(std::uint16_t index) const { return made_->places[index]; }
  [[nodiscard]] const evolution::Plan& plan() const noexcept { return made_->plan; }
  /// A message about values that do not go over, which begins with the peer as all failures of calls do.
  [[nodiscard]] std::string said(std::string_view words) const;

 private:
  /// The part that all peers with these two schemas share.
  struct Made {
    evolution::Plan plan;
    std::string name;
    std::vector<std::string_view> names;  // of the bound methods
    std::vector<std::uint16_t> places;    // by the method's index
    ServiceInfo bound;
  };

  std::shared_ptr<const Made> made_;
  const std::string peer_;
};

/// The first 16 bytes of the SHA-256 of a descriptor.
[[nodiscard]] Fingerprint fingerprint_of(std::string_view descriptor);

/// An adaptation made earlier for a server with that fingerprint; null: there is none. The adaptation for a
/// connected server may differ, since its annex may.
[[nodiscard]] std::shared_ptr<const Adaptation> known_adaptation(const ServiceInfo& own,
                                                                 const Fingerprint& theirs);
/// Makes the adaptation for the schema that `peer` describes, or finds the one made before. Null: there is
/// none, for the reason in `why`.
[[nodiscard]] std::shared_ptr<const Adaptation> adaptation_to(const ServiceInfo& own,
                                                              const ClientLink::Described& theirs,
                                                              const std::string& peer, std::string& why);

/// What the description of a server's schema means for a client that wants to bind there.
struct Adapted {
  std::shared_ptr<const Adaptation> adaptation;  // or
  std::optional<Failure> failure;  // SCHEMA_MISMATCH with the difference; neither: the schema is
                                   // the client's own
};
/// `refused`: the fingerprint with which the server has refused a binding; zeros: with none.
[[nodiscard]] Adapted adapt_to(const ServiceInfo& own, const ClientLink::Described& theirs,
                               const std::string& peer, const Fingerprint& refused);

}  // namespace mf::link
