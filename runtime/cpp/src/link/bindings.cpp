#include "mf/link/bindings.hpp"

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"

namespace mf::link {

Outcome<std::shared_ptr<Binding>> Bindings::begin(const ServiceInfo& service, const std::string& agent,
                                                  std::span<const std::byte> via,
                                                  const std::shared_ptr<const Adaptation>& adaptation,
                                                  const Failure* broken) {
  Key key{.service = std::string(service.name),
          .agent = agent,
          .fingerprint = service.fingerprint,
          .methods = {service.methods.begin(), service.methods.end()},
          .adaptation = adaptation};
  std::shared_ptr<Binding> binding;
  if (const auto found = bindings_.find(key); found != bindings_.end()) {
    if (found->second->pin()) return found->second;
    binding = found->second;  // another caller has requested it
  }
  if (broken != nullptr) return not_executed(broken->code, broken->message);
  if (!binding) {
    auto asked = ask(service, std::move(key), via);
    if (!asked) return asked;
    binding = std::move(asked).value();
  }
  binding->users_.fetch_add(1);  // from now on it cannot be taken back before this caller has it
  return binding;
}

std::optional<Failure> Bindings::why_not_bound(const Binding& binding, std::string_view service,
                                               const Failure* broken) const {
  if (binding.bound_.load()) return std::nullopt;
  if (binding.answered_) return binding.refusal_;
  if (broken != nullptr) return not_executed(broken->code, broken->message);
  return not_executed(Code::deadline_exceeded,
                      peer_ + " did not answer the binding of " + std::string(service));
}

Outcome<std::shared_ptr<Binding>> Bindings::ask(const ServiceInfo& service, Key&& key,
                                                std::span<const std::byte> via) {
  const auto binding = std::make_shared<Binding>();
  binding->uses_ = &uses_;
  binding->methods_ = service.methods.size();
  binding->adaptation_ = key.adaptation;
  if (!make_room_for(binding->methods_, binding->first_)) {
    return not_executed(Code::overloaded, peer_ + " holds " + std::to_string(bindings_.size()) +
                                              " bindings of this connection, which takes " +
                                              std::to_string(most_) +
                                              ", and calls are in flight on all of them");
  }
  try {
    session_.send_bind(binding->first_, {.fingerprint = service.fingerprint,
                                         .service = service.name,
                                         .agent = key.agent,
                                         .methods = {service.methods.begin(), service.methods.end()},
                                         .via = via});
  } catch (const Error& error) {  // for an agent's name of 32 KiB
    route_numbers_.give_back(binding->first_, binding->methods_);
    return not_executed(error.code(), error.message());
  }
  binding->refusal_.code = Code::ok;
  bindings_[std::move(key)] = binding;
  asked_[binding->first_] = binding;
  return binding;
}

bool Bindings::make_room_for(std::size_t methods, std::uint16_t& first) {
  for (;;) {
    if (bindings_.size() < most_) {
      if (const auto free = route_numbers_.take(methods)) {
        first = *free;
        return true;
      }
    }
    if (!unbind_oldest()) return false;
  }
}

// The server would finish requests that were sent on it, but there are none, since calls pin it.
bool Bindings::unbind_oldest() {
  auto oldest = bindings_.end();
  for (auto at = bindings_.begin(); at != bindings_.end(); ++at) {
    if (!at->second->bound_.load() || at->second->users_.load() != 0) continue;
    if (oldest == bindings_.end() || at->second->last_used_.load() < oldest->second->last_used_.load())
      oldest = at;
  }
  if (oldest == bindings_.end()) return false;
  if (!oldest->second->take_back()) return true;  // pinned just now: look again
  session_.send_unbind(oldest->second->first_);
  route_numbers_.give_back(oldest->second->first_, oldest->second->methods_);
  bindings_.erase(oldest);
  return true;
}

void Bindings::on_bound(const protocol::Event& event) {
  const auto found = asked_.find(event.header.route);
  if (found == asked_.end()) return;
  const auto binding = std::move(found->second);
  asked_.erase(found);
  if (event.code == Code::ok) {
    binding->bound_.store(true);
  } else {  // it may be requested again
    binding->refusal_ = not_executed(event.code, peer_ + ": " + std::string(event.text));
    std::erase_if(bindings_, [&](const auto& entry) { return entry.second == binding; });
    route_numbers_.give_back(binding->first_, binding->methods_);
  }
  binding->answered_ = true;
  for (auto* waiter : binding->waiters_) waiter->finish();
}

Bindings::Descriptions::iterator Bindings::ask(std::string_view service, const Fingerprint& asked) {
  const auto [at, is_new] = descriptions_.try_emplace({std::string(service), asked});
  if (is_new) {
    at->second = std::make_shared<Description>();
    session_.send_describe({.service = service, .fingerprint = asked});
  }
  return at;
}

// One that is not awaited any more is forgotten, and its answer dropped.
std::optional<Described> Bindings::take(const Descriptions::key_type& key, const Description& asked) {
  if (asked.answered) return asked.said;
  const auto found = descriptions_.find(key);
  if (asked.waiters.empty() && found != descriptions_.end() && found->second.get() == &asked)
    descriptions_.erase(found);
  return std::nullopt;
}

void Bindings::on_descriptor(const protocol::Event& event) {
  protocol::Descriptor descriptor;
  const char* reason = nullptr;
  std::string room;
  if (!protocol::parse_descriptor(event.payload, descriptor, reason, room)) return;
  const auto found = descriptions_.find({std::string(descriptor.service), descriptor.fingerprint});
  if (found == descriptions_.end()) return;
  const auto description = std::move(found->second);
  descriptions_.erase(found);
  description->answered = true;
  description->said = {.text = std::string(descriptor.text), .annex = std::string(descriptor.annex)};
  for (auto* waiter : description->waiters) waiter->finish();
}

void Bindings::end() {
  for (auto& [key, binding] : bindings_) {
    for (auto* waiter : binding->waiters_) waiter->finish();
  }
  for (auto& [key, description] : descriptions_) {
    for (auto* waiter : description->waiters) waiter->finish();
  }
}

}  // namespace mf::link
