#pragma once
// Keeps a server registered at controllers: a registration is a stream, and the registrar registers again
// whenever it ends. Later changes are sent as differences. The secret that proves ownership of the
// registration lives as long as the registrar.
//
// Each controller has its own Registration. None has a thread: decisions are made on a reactor's thread,
// which also receives the answers. A controller that cannot be reached is retried with back-off for as long
// as the server lives.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/link/registrar.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::controller {

class Candidates;
class Registration;

class ControllerRegistrar final : public Registrar {
 public:
  ControllerRegistrar(
      const std::vector<Address>& controllers, const ProcessIdentity& who, const Log& log = Log(),
      const std::shared_ptr<transport::Reactor>& reactor = std::make_shared<transport::Reactor>(),
      const TlsOptions& tls = {});
  ~ControllerRegistrar() override;

  void announce(std::vector<Offered> offered, std::vector<Address> addresses) override;
  /// Asks the first controller, or one that shares its store: two controllers without a common store could
  /// both grant the lead.
  void lead(std::string service, std::string agent, std::shared_ptr<link::Candidacy> candidacy) override;
  /// Whether any of its controllers has confirmed the registration.
  [[nodiscard]] bool registered() const override;
  bool reload() override;
  void withdraw() override;

 private:
  const std::shared_ptr<Candidates> candidates_;
  std::vector<std::unique_ptr<Registration>> registrations_;
};

}  // namespace mf::controller
