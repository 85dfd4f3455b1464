#include "mf/controller/controller_registrar.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "controller/candidates.hpp"
#include "controller/registration.hpp"
#include "controller/secret.hpp"
#include "mf/core/random.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kWithdrawWithin{500};

}  // namespace

ControllerRegistrar::ControllerRegistrar(const std::vector<Address>& controllers, const ProcessIdentity& who,
                                         const Log& log, const std::shared_ptr<transport::Reactor>& reactor,
                                         const TlsOptions& tls)
    : candidates_(
          Candidates::make(Credential{.nonce = Uuid{who.nonce}, .secret = Uuid{who.secret}}, log, reactor)) {
  for (const Address& controller : controllers)
    registrations_.push_back(std::make_unique<Registration>(controller, candidates_, log, reactor, tls));
}

bool ControllerRegistrar::registered() const {
  return std::ranges::any_of(registrations_, [](const auto& each) { return each->registered(); });
}

bool ControllerRegistrar::reload() {
  bool usable = true;
  for (const auto& each : registrations_) usable = each->reload() && usable;
  return usable;
}

ControllerRegistrar::~ControllerRegistrar() {
  withdraw();
}

void ControllerRegistrar::announce(std::vector<Offered> offered, std::vector<Address> addresses) {
  std::vector<std::string> texts;
  for (const Address& address : addresses) texts.push_back(address.str());
  std::vector<Offer> offers;
  for (Offered& one : offered) {
    Offer offer;
    offer.key.kind = one.kind == OfferedKind::topic ? KeyKind::topic : KeyKind::service;
    offer.key.name = std::move(one.service);
    offer.key.agent = std::move(one.agent);
    offer.addresses = texts;
    offer.fingerprint = Uuid{one.fingerprint};
    offer.weight = one.weight;
    offer.labels = std::move(one.labels);
    offer.alone = one.alone;
    offers.push_back(std::move(offer));
  }
  for (const auto& registration : registrations_) registration->set(offers);
}

void ControllerRegistrar::lead(std::string service, std::string agent,
                               std::shared_ptr<link::Candidacy> candidacy) {
  Key key;
  key.kind = KeyKind::service;
  key.name = std::move(service);
  key.agent = std::move(agent);
  candidates_->add(std::move(key), std::move(candidacy));
}

void ControllerRegistrar::withdraw() {
  candidates_->stop();  // before another process can be granted what this one leads
  const TimePoint until = mf::now() + kWithdrawWithin;
  for (const auto& registration : registrations_) registration->begin_withdraw();
  for (const auto& registration : registrations_) registration->await_withdrawn(until);
}

}  // namespace mf::controller

namespace mf {

ProcessIdentity draw_process_identity() {
  const auto secret = random_uuid();
  return {.nonce = controller::nonce_of(secret).bytes, .secret = secret.bytes};
}

std::unique_ptr<Registrar> make_controller_registrar(std::vector<Address> controllers,
                                                     const ProcessIdentity& who, const Log& log,
                                                     std::shared_ptr<transport::Reactor> reactor,
                                                     const TlsOptions& tls) {
  return std::make_unique<controller::ControllerRegistrar>(controllers, who, log, reactor, tls);
}

}  // namespace mf
