// The controller's functions for server processes: registration and leads.

#include <set>
#include <utility>

#include "controller/feeds.hpp"
#include "controller/grants.hpp"
#include "controller/secret.hpp"
#include "mf/core/failure.hpp"
#include "mf/transport/address.hpp"

namespace mf::controller {
namespace {

constexpr std::size_t kMostWarnings = 64;  // the limit for pending warnings of one process

/// Writes each address in the one way in which all peers and access files read it. The failure for the first
/// one that is none.
std::optional<Failure> unusable(std::vector<Offer>& offers) {
  try {
    for (Offer& offer : offers) {
      for (std::string& text : offer.addresses) {
        const auto address = Address::parse(text);
        text = address.str();
        if (address.local() && access::has_dots(address.host))
          return not_executed(Code::invalid_argument,
                              "address '" + text + "': its path has a part that is '.' or '..'");
      }
    }
  } catch (const Error& error) {
    return Outcome<void>(error).failure();
  }
  return std::nullopt;
}

std::string name_of(const Key& key) {
  return key.agent.empty() ? key.name : key.name + " for agent \"" + key.agent + "\"";
}

}  // namespace

std::optional<Failure> Controller::not_owner(std::string_view action, const Credential& who) const {
  const auto& identity = current_call().identity();
  const bool stranger = registry_.standing(who) == Registry::Standing::stranger;
  const auto first = registry_.identity_of(who.nonce);
  if (!stranger && (!first || first->empty() || *first == identity.name)) return std::nullopt;
  const auto instance = public_id(who.nonce);
  const auto owner = registrations_.find(who.nonce);
  if (stranger && action == "register" && nonce_of(who.secret) == who.nonce) {
    // The secret proves that the nonce belongs to this process, although another one has registered under it
    // while this controller did not know the process.
    options_.log.write(Level::warning, "nonce_taken_back",
                       {{"instance", instance},
                        {"which", registry_.offered(who.nonce)},
                        {"peer", current_call().peer},
                        {"owner", owner != registrations_.end() ? owner->second->peer : ""}});
    return std::nullopt;
  }
  options_.log.write(Level::warning, "not_owner",
                     {{"action", action},
                      {"instance", instance},
                      {"which", registry_.offered(who.nonce)},
                      {"peer", current_call().peer},
                      {"identity", identity.str()},
                      {"owner", owner != registrations_.end() ? owner->second->peer : ""},
                      {"owner_identity", first.value_or("")}});
  return Outcome<void>(NotOwner(instance)).failure();
}

std::optional<Failure> Controller::not_registered(std::string_view action, const Credential& who) const {
  if (closed_) return not_executed(Code::shutting_down, "the controller is stopping");
  if (auto stranger = not_owner(action, who)) return stranger;
  if (registrations_.contains(who.nonce)) return std::nullopt;
  return Outcome<void>(NotRegistered(public_id(who.nonce))).failure();
}

void Controller::register_(ControllerRegisterRequest request, StreamWriter<Standing> out,
                           Responder<void> responder) {
  const auto& call = current_call();
  if (options_.dead_after.count() != 0) call.keep_alive(options_.dead_after);
  const auto registration =
      std::make_shared<Registration>(std::move(out), std::move(responder), request.who.nonce);
  const auto offers = request.offers.size();
  const auto instance = public_id(request.who.nonce);
  std::string which;
  Grants grants;
  Work work;
  const auto refusal = [&]() -> std::optional<Failure> {
    if (auto no = unusable(request.offers)) return no;
    if (auto no = denied(request.offers, grants)) return no;
    const std::scoped_lock lock(mutex_);
    if (auto no = no_stream(registration->connection)) return no;
    if (auto no = not_owner("register", request.who)) return no;
    const auto before = registry_.log().latest();
    const TimePoint now = options_.clock->now();
    (void)was_asleep();  // before a registration could be renewed by mistake
    try {
      registry_.put(request.who, request.process, registration->connection, std::move(request.offers), now,
                    registration->host, registration->identity.name);
    } catch (const Error& error) {
      return Outcome<void>(error).failure();
    }
    options_.store->put(request.who.nonce, registry_.stored(request.who.nonce));
    enter(registration);
    auto replaced = std::exchange(registrations_[request.who.nonce], registration);
    if (replaced)
      end(replaced,
          may_have_run(Code::cancelled, "the process has registered anew, from " + registration->peer), work);
    registration->warnings = warn(request.who.nonce, nullptr, work);
    which = registry_.offered(request.who.nonce);
    go_on(registration, work);
    spread(before, work);
    wake_at(next_due());
    return std::nullopt;
  }();
  if (refusal) {
    options_.log.write(Level::warning, "not_registered",
                       {{"instance", instance},
                        {"process", request.process},
                        {"peer", call.peer},
                        {"identity", call.identity().str()},
                        {"reason", refusal->message}});
    return registration->responder.respond(*refusal);
  }
  options_.log.write(Level::info, "registered",
                     {{"instance", instance},
                      {"process", request.process},
                      {"offers", offers},
                      {"which", which},
                      {"peer", call.peer},
                      {"identity", call.identity().str()}});
  log_grants(grants);
  await_end(registration);
  do_all(work);
}

void Controller::update(ControllerUpdateRequest request, Responder<void> responder) {
  const auto put = request.put.size();
  const auto removed = request.remove.size();
  std::string which;
  Grants grants;
  Work work;
  const auto answer = [&]() -> Outcome<void> {
    if (auto no = unusable(request.put)) return *no;
    if (auto no = denied(request.put, grants)) return *no;
    const std::scoped_lock lock(mutex_);
    if (auto no = not_registered("update", request.who)) return *no;
    const auto before = registry_.log().latest();
    std::set<Key> keys;
    for (const Offer& offer : request.put) keys.insert(offer.key);
    bool changed = false;
    try {
      changed = registry_.update(request.who.nonce, request.put, request.remove, options_.clock->now());
    } catch (const Error& error) {
      return error;
    }
    if (!changed) return {};
    options_.store->change(request.who.nonce, request.put, request.remove);
    end_leads(request.who.nonce, work);
    which = registry_.offered(request.who.nonce);
    const auto& registration = registrations_.at(request.who.nonce);
    for (auto& warning : warn(request.who.nonce, &keys, work))
      if (registration->warnings.size() < kMostWarnings) registration->warnings.push_back(std::move(warning));
    go_on(registration, work);
    spread(before, work);
    return {};
  }();
  if (answer.ok() && (put != 0 || removed != 0))
    options_.log.write(Level::info, "updated",
                       {{"instance", public_id(request.who.nonce)},
                        {"put", put},
                        {"removed", removed},
                        {"which", which},
                        {"peer", current_call().peer},
                        {"identity", current_call().identity().str()}});
  if (answer.ok()) log_grants(grants);
  responder.respond(answer);
  do_all(work);
}

void Controller::deregister(ControllerDeregisterRequest request, Responder<void> responder) {
  std::string which;
  Work work;
  const auto answer = [&]() -> Outcome<void> {
    const std::scoped_lock lock(mutex_);
    if (auto no = not_registered("deregister", request.who)) return *no;
    which = registry_.offered(request.who.nonce);
    end(std::shared_ptr<Feed>(registrations_.at(request.who.nonce)), {}, work);
    return {};
  }();
  if (answer.ok())
    options_.log.write(
        Level::info, "deregistered",
        {{"instance", public_id(request.who.nonce)}, {"which", which}, {"peer", current_call().peer}});
  responder.respond(answer);
  do_all(work);
}

void Controller::lead(ControllerLeadRequest request, StreamWriter<Lead> out, Responder<void> responder) {
  if (options_.dead_after.count() != 0) current_call().keep_alive(options_.dead_after);
  const auto candidate =
      std::make_shared<Candidate>(std::move(out), std::move(responder), request.who.nonce, request.what);
  Grants grants;
  Work work;
  const auto refusal = [&]() -> std::optional<Failure> {
    const access::Wish wish{
        .action = access::Action::lead, .object = request.what.name, .agent = request.what.agent};
    if (auto no = denied(wish, &grants)) return no;
    const std::scoped_lock lock(mutex_);
    if (auto no = no_stream(candidate->connection)) return no;
    if (auto no = not_registered("lead", request.who)) return no;
    if (auto no = not_offered(*candidate)) return no;
    if (const auto no = candidacies_.refusal(candidate->nonce, candidate->host))
      return not_executed(Code::overloaded, *no);
    enter(candidate);
    candidates_.emplace(candidate->id, candidate);
    candidacies_.add(candidate->nonce, candidate->host);
    election_.add(candidate->key, candidate->id);
    ask_for_leads(work);
    return std::nullopt;
  }();
  if (refusal) return candidate->responder.respond(*refusal);
  log_grants(grants);
  await_end(candidate);
  do_all(work);
}

std::optional<Failure> Controller::not_offered(const Candidate& candidate) const {
  if (may_lead(candidate)) return std::nullopt;
  options_.log.write(Level::warning, "lead_refused",
                     {{"name", candidate.key.name},
                      {"agent", candidate.key.agent},
                      {"instance", public_id(candidate.nonce)},
                      {"peer", candidate.peer},
                      {"identity", candidate.identity.str()},
                      {"reason", "the process does not offer it"}});
  return not_executed(Code::permission_denied,
                      "only a process that offers " + name_of(candidate.key) + " may lead it");
}

std::size_t Controller::candidates() const {
  const std::scoped_lock lock(mutex_);
  return candidates_.size();
}

void Controller::forget(const Uuid& nonce, Work& work) {
  const auto before = registry_.log().latest();
  options_.store->remove(nonce);
  if (!stays_elsewhere(nonce)) (void)registry_.remove(nonce);
  spread(before, work);
  end_leads(nonce, work);
}

void Controller::doubt(const Uuid& nonce, Work& work) {
  const auto before = registry_.log().latest();
  const TimePoint until = options_.clock->now() + kGrace;
  if (!stays_elsewhere(nonce)) registry_.doubt(nonce, until);
  spread(before, work);
  end_leads(nonce, work);
  wake_at(until);
}

void Controller::end_leads(const Uuid& nonce, Work& work) {
  if (!candidacies_.has(nonce)) return;
  std::vector<std::shared_ptr<Feed>> over;
  for (const auto& [id, candidate] : candidates_)
    if (candidate->nonce == nonce && !may_lead(*candidate)) over.push_back(candidate);
  for (const auto& feed :
       over) {  // before any of them ends, so that none of their leads is granted to another one of them
    const auto candidate = candidates_.extract(feed->id);
    election_.remove(candidate.mapped()->key, feed->id);
  }
  for (const auto& feed : over)
    end(feed,
        may_have_run(Code::unavailable,
                     "the process is not registered any more, or does not offer this any more"),
        work);
}

bool Controller::may_lead(const Candidate& candidate) const {
  return registrations_.contains(candidate.nonce) && registry_.offers(candidate.nonce, candidate.key);
}

std::string Controller::shown(const Uuid& nonce) const {
  const auto registration = registrations_.find(nonce);
  std::string text = "process \"" + registry_.name_of(nonce) + "\" (instance " + public_id(nonce);
  if (registration != registrations_.end()) text += ", " + registration->second->peer;
  return text + ")";
}

std::vector<Warning> Controller::warn(const Uuid& nonce, const std::set<Key>* keys, Work& work) {
  std::vector<Warning> warnings;
  for (const Registry::Shared& shared : registry_.shared(nonce)) {
    if (keys != nullptr && !keys->contains(shared.key)) continue;
    if (warnings.size() == kMostWarnings) break;
    const auto text_of = [&](const Uuid& other) {
      return name_of(shared.key) + " is meant to have one server, and is offered by " + shown(other) +
             ", too";
    };
    Warning warning;
    warning.key = shared.key;
    warning.text = text_of(shared.other);
    warnings.push_back(warning);
    options_.log.write(Level::warning, "offered_twice",
                       {{"name", shared.key.name},
                        {"agent", shared.key.agent},
                        {"one", shown(shared.one)},
                        {"other", shown(shared.other)}});
    const auto concerned = registrations_.find(shared.other);
    if (concerned == registrations_.end() || concerned->second->warnings.size() >= kMostWarnings) continue;
    warning.text = text_of(shared.one);
    concerned->second->warnings.push_back(std::move(warning));
    go_on(concerned->second, work);
  }
  return warnings;
}

}  // namespace mf::controller
