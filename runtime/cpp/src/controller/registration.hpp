#pragma once
// One server process registered at one controller. See controller_registrar.hpp.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "mf/core/types.hpp"
#include "mf/transport/address.hpp"

namespace mf::controller {

class Registration {
 public:
  Registration(const Address& controller, const Uuid& nonce, const Log& log);
  ~Registration();

  /// These are the instances now; returns at once.
  void set(std::vector<Instance> instances);
  /// Nothing more is registered; what is, is being taken back.
  void begin_withdraw();
  /// Returns when the controller knows, or at the time given.
  void await_withdrawn(TimePoint until);

 private:
  /// What answers reach, also those that come late.
  struct State;

  void run();
  void send_register(std::uint64_t generation, const std::vector<Instance>& instances);
  void send_keep();

  Uuid nonce_;
  std::shared_ptr<State> state_;
  Client client_;
  ControllerClient controller_;
  std::thread thread_;
};

}  // namespace mf::controller
