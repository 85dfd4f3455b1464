// The interface through which a server announces what it offers. Servers depend on this interface, never on
// the controller behind it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/link/candidacy.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/tls.hpp"

namespace mf::transport {
class Reactor;
}

namespace mf {

enum class OfferedKind : std::uint8_t { service, topic };

/// One (service, agent) of a server, or one (topic, agent) that it publishes.
struct Offered {
  OfferedKind kind = OfferedKind::service;
  std::string service;
  std::string agent;
  std::array<std::uint8_t, 16> fingerprint{};
  std::uint32_t weight = 1;
  std::map<std::string, std::string> labels{};
  bool alone = false;
};

class Registrar {
 public:
  virtual ~Registrar() = default;  // deregisters, within a bound of 500 ms

  /// Registers, and keeps registered through every loss of the controller; returns at once.
  virtual void announce(std::vector<Offered> offered, std::vector<Address> addresses) = 0;

  /// Asks for the lead of a service and agent until the candidacy has ended; returns at once. A lead does not
  /// outlast the registration.
  virtual void lead(std::string service, std::string agent, std::shared_ptr<link::Candidacy> candidacy) = 0;

  /// Whether a controller has registered the offers that were announced.
  [[nodiscard]] virtual bool registered() const { return true; }

  /// Reads files of TLS again; see Client::reload().
  virtual bool reload() { return true; }

  /// Withdraws all leads, then all offers; returns when the controller has answered, or after 500 ms.
  virtual void withdraw() = 0;
};

/// The identity of a process for controllers. `secret` is random, and is sent to controllers only. `nonce`,
/// which is public in HELLO, is derived from it, so that a controller recognises the process that may
/// register under the nonce, even if it has not known the process before.
struct ProcessIdentity {
  std::array<std::uint8_t, 16> nonce{};
  std::array<std::uint8_t, 16> secret{};
};
/// Makes a new identity. Defined on floor R7.
[[nodiscard]] ProcessIdentity draw_process_identity();

/// A registrar for the controllers at these addresses, which runs on that reactor; `tls`: how it verifies
/// those at mf+tls:// and identifies itself to them. Declared here so that servers can be given a URL;
/// defined on floor R7.
std::unique_ptr<Registrar> make_controller_registrar(std::vector<Address> controllers,
                                                     const ProcessIdentity& who, const Log& log,
                                                     std::shared_ptr<transport::Reactor> reactor,
                                                     const TlsOptions& tls);

}  // namespace mf
