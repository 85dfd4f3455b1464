// One server process registered at one controller. See controller_registrar.hpp.
#pragma once

#include <memory>
#include <vector>

#include "mf/controller.client.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/types.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/reactor.hpp"
#include "mf/transport/tls.hpp"

namespace mf::controller {

class Candidates;

class Registration {
 public:
  /// `candidates` are notified when the process is registered here.
  Registration(const Address& controller, std::shared_ptr<Candidates> candidates, const Log& log,
               std::shared_ptr<transport::Reactor> reactor, const TlsOptions& tls);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// Sets the current offers; returns at once.
  void set(const std::vector<Offer>& offers);
  [[nodiscard]] bool registered() const;
  /// See Client::reload().
  bool reload();
  /// Stops registering and withdraws the registration.
  void begin_withdraw();
  /// Returns when the controller has confirmed it, or at the given time.
  void await_withdrawn(TimePoint until);

 private:
  /// State that late answers reach, too.
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace mf::controller
