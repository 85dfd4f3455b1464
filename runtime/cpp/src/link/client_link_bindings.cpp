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
  Lock lock(pipe_.mutex);
  auto begun = begin_bind(service, agent, {}, adaptation);
  if (!begun) return begun;
  const auto binding = std::move(begun).value();
  const auto unpin = [](Binding* pinned) { pinned->unpin(); };
  std::unique_ptr<Binding, decltype(unpin)> pinned(binding.get(), unpin);
  if (!binding->bound_.load()) {
    Listed listed(binding->waiters_);
    while (!binding->answered_ && !broken() && mf::now() < deadline) drive(listed.waiter, deadline, lock);
  }
  if (auto why = bindings_.why_not_bound(*binding, service.name, why_broken())) return *std::move(why);
  binding->touch();
  (void)pinned.release();
  return binding;
}

Outcome<std::shared_ptr<Binding>> ClientLink::begin_bind(
    const ServiceInfo& service, const std::string& agent, std::span<const std::byte> via,
    const std::shared_ptr<const Adaptation>& adaptation) {
  auto begun = bindings_.begin(service, agent, via, adaptation, why_broken());
  if (bindings_.awaited() && !silence_watched_) watch_silence(mf::now());
  return begun;
}

std::optional<Described> ClientLink::describe(std::string_view service, const Fingerprint& asked,
                                              TimePoint deadline) {
  Lock lock(pipe_.mutex);
  if (broken()) return std::nullopt;
  const auto [key, description] = *bindings_.ask(service, asked);
  {
    Listed listed(description->waiters);
    drive(listed.waiter, deadline, lock);
  }
  return bindings_.take(key, *description);
}

}  // namespace mf::link
