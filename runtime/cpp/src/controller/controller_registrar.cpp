#include "mf/controller/controller_registrar.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "controller/registration.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kWithdrawWithin{500};

}  // namespace

ControllerRegistrar::ControllerRegistrar(const std::vector<Address>& controllers,
                                         std::array<std::uint8_t, 16> instance, const Log& log,
                                         const std::shared_ptr<transport::Reactor>& reactor) {
  for (const Address& controller : controllers)
    registrations_.push_back(std::make_unique<Registration>(controller, Uuid{instance}, log, reactor));
}

ControllerRegistrar::~ControllerRegistrar() {
  withdraw();
}

void ControllerRegistrar::announce(std::vector<Offered> offered, std::vector<Address> addresses) {
  std::vector<std::string> texts;
  for (const Address& address : addresses) texts.push_back(address.str());
  std::vector<Instance> instances;
  for (Offered& one : offered) {
    Instance instance;
    instance.service = std::move(one.service);
    instance.agent = std::move(one.agent);
    instance.addresses = texts;
    instance.fingerprint = Uuid{one.fingerprint};
    instance.weight = 1;
    instances.push_back(std::move(instance));
  }
  for (const auto& registration : registrations_) registration->set(instances);
}

void ControllerRegistrar::withdraw() {
  const TimePoint until = std::chrono::steady_clock::now() + kWithdrawWithin;
  for (const auto& registration : registrations_) registration->begin_withdraw();
  for (const auto& registration : registrations_) registration->await_withdrawn(until);
}

}  // namespace mf::controller

namespace mf {

std::unique_ptr<Registrar> make_controller_registrar(std::vector<Address> controllers,
                                                     std::array<std::uint8_t, 16> instance, const Log& log,
                                                     std::shared_ptr<transport::Reactor> reactor) {
  return std::make_unique<controller::ControllerRegistrar>(controllers, instance, log, reactor);
}

}  // namespace mf
