// The bindings and descriptions that a link asks its server for.
#include <utility>

#include "link/client_link_failures.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/client_link.hpp"

namespace mf::link {
namespace {

/// A waiting thread in a list of those to wake; under the link's lock.
class Listed {
 public:
  explicit Listed(std::vector<Waiter*>& list) : list_(list) { list_.push_back(&waiter); }
  ~Listed() { std::erase(list_, &waiter); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  Waiter waiter;

 private:
  std::vector<Waiter*>& list_;
};

}  // namespace

Outcome<std::shared_ptr<Binding>> ClientLink::bind(const ServiceInfo& service, const std::string& agent,
                                                   TimePoint deadline,
                                                   const std::shared_ptr<const Adaptation>& adaptation) {
  Lock lock(mutex_);
  auto begun = begin_bind(service, agent, {}, adaptation);
  if (!begun) return begun;
  const auto binding = std::move(begun).value();
  const auto unpin = [](Binding* pinned) { pinned->unpin(); };
  std::unique_ptr<Binding, decltype(unpin)> pinned(binding.get(), unpin);
  if (!binding->bound_.load()) {
    Listed listed(binding->waiters_);
    while (!binding->answered_ && !broken() && mf::now() < deadline) drive(listed.waiter, deadline, lock);
  }
  if (auto why = why_not_bound(*binding, service.name)) return *std::move(why);
  binding->touch();
  (void)pinned.release();
  return binding;
}

Outcome<std::shared_ptr<Binding>> ClientLink::begin_bind(
    const ServiceInfo& service, const std::string& agent, std::span<const std::byte> via,
    const std::shared_ptr<const Adaptation>& adaptation) {
  BindingKey key{.service = std::string(service.name),
                 .agent = agent,
                 .fingerprint = service.fingerprint,
                 .methods = {service.methods.begin(), service.methods.end()},
                 .adaptation = adaptation};
  std::shared_ptr<Binding> binding;
  if (const auto found = bindings_.find(key); found != bindings_.end()) {
    if (found->second->pin()) return found->second;
    binding = found->second;  // another caller has requested it
  }
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  if (!binding) {
    auto asked = ask(service, std::move(key), via);
    if (!asked) return asked;
    binding = std::move(asked).value();
  }
  binding->users_.fetch_add(1);  // from now on it cannot be taken back before this caller has it
  return binding;
}

std::optional<Failure> ClientLink::why_not_bound(const Binding& binding, std::string_view service) const {
  if (binding.bound_.load()) return std::nullopt;
  if (binding.answered_) return binding.refusal_;
  if (broken()) return not_executed(why_broken_.code, why_broken_.message);
  return not_executed(Code::deadline_exceeded,
                      peer() + " did not answer the binding of " + std::string(service));
}

Outcome<std::shared_ptr<Binding>> ClientLink::ask(const ServiceInfo& service, BindingKey&& key,
                                                  std::span<const std::byte> via) {
  const auto binding = std::make_shared<Binding>();
  binding->uses_ = &binding_uses_;
  binding->methods_ = service.methods.size();
  binding->adaptation_ = key.adaptation;
  if (!make_room_for(binding->methods_, binding->first_)) {
    return not_executed(Code::overloaded, peer() + " holds " + std::to_string(bindings_.size()) +
                                              " bindings of this connection, which takes " +
                                              std::to_string(max_bindings_) +
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
  if (!silence_watched_) watch_silence(mf::now());
  return binding;
}

bool ClientLink::make_room_for(std::size_t methods, std::uint16_t& first) {
  for (;;) {
    if (bindings_.size() < max_bindings_) {
      if (const auto free = route_numbers_.take(methods)) {
        first = *free;
        return true;
      }
    }
    if (!unbind_oldest()) return false;
  }
}

// The server would finish requests that were sent on it, but there are none, since calls pin it.
bool ClientLink::unbind_oldest() {
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

std::optional<ClientLink::Described> ClientLink::describe(std::string_view service, const Fingerprint& asked,
                                                          TimePoint deadline) {
  Lock lock(mutex_);
  if (broken()) return std::nullopt;
  const auto [key, description] = *ask_for_description(service, asked);
  {
    Listed listed(description->waiters);
    drive(listed.waiter, deadline, lock);
  }
  return take_description(key, *description);
}

ClientLink::Descriptions::iterator ClientLink::ask_for_description(std::string_view service,
                                                                   const Fingerprint& asked) {
  const auto [at, is_new] = descriptions_.try_emplace({std::string(service), asked});
  if (is_new) {
    at->second = std::make_shared<Description>();
    session_.send_describe({.service = service, .fingerprint = asked});
  }
  return at;
}

// One that nobody awaits any more is forgotten, and its answer dropped.
std::optional<ClientLink::Described> ClientLink::take_description(const Descriptions::key_type& key,
                                                                  const Description& asked) {
  if (asked.answered) return asked.said;
  const auto found = descriptions_.find(key);
  if (asked.waiters.empty() && found != descriptions_.end() && found->second.get() == &asked)
    descriptions_.erase(found);
  return std::nullopt;
}

}  // namespace mf::link
