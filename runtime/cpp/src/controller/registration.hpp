// One server process registered at one controller. See controller_registrar.hpp.
#pragma once

#include <memory>
#include <vector>

#include "mf/controller.client.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/types.hpp"
#include "mf/link/candidacy.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::controller {

class Registration {
 public:
  Registration(const Address& controller, const Credential& who, const Log& log,
               std::shared_ptr<transport::Reactor> reactor);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// These are the offers now; returns at once.
  void set(const std::vector<Offer>& offers);
  /// Asks for the lead whenever the process is registered; returns at once.
  void lead(Key key, std::shared_ptr<link::Candidacy> candidacy);
  /// Nothing more is registered, and nothing is led; what is registered, is being taken back.
  void begin_withdraw();
  /// Returns when the controller knows, or at the time given.
  void await_withdrawn(TimePoint until);

 private:
  /// What answers reach, also those that come late.
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace mf::controller
