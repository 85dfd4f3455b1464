#include "mf/testing/controller.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "mf/core/extension.hpp"
#include "mf/testing/channel.hpp"
#include "mf/transport/waiting.hpp"

namespace mf::testing {

class FakeController::State final : public Resolver {
 public:
  Snapshot offers(std::string_view service) override {
    const std::scoped_lock lock(mutex_);
    return of(service);
  }
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override {
    std::unique_lock lock(mutex_);
    ++waits;
    transport::wait_until(changed_, lock, until, [&] { return of(service) != known; });
    return of(service);
  }
  std::uint64_t add_listener(std::function<void()> changed) override {
    const std::scoped_lock lock(mutex_);
    ++waits;
    listeners_.emplace(++last_listener_, std::move(changed));
    return last_listener_;
  }
  void remove_listener(std::uint64_t listener) noexcept override {
    const std::scoped_lock lock(mutex_);
    listeners_.erase(listener);
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return version_; }
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }

  template <class Change>
  void change(std::string_view service, Change change) {
    {
      const std::scoped_lock lock(mutex_);
      auto& entry = of(service);
      auto offers = *entry;
      change(offers);
      entry = std::make_shared<const Offers>(std::move(offers));
    }
    notify();
  }
  template <class Change>
  void change_all(Change change) {
    {
      const std::scoped_lock lock(mutex_);
      change(unknown_);
      for (auto& [service, entry] : known_) {
        auto offers = *entry;
        change(offers);
        entry = std::make_shared<const Offers>(std::move(offers));
      }
    }
    notify();
  }

  std::atomic<std::uint64_t> waits{0};
  std::mutex servers_mutex;
  std::map<std::string, std::unique_ptr<Server>, std::less<>> servers;

 private:
  Snapshot& of(std::string_view service) {
    const auto found = known_.find(service);
    if (found != known_.end()) return found->second;
    return known_.emplace(service, std::make_shared<const Offers>(unknown_)).first->second;
  }
  void notify() {
    std::map<std::uint64_t, std::function<void()>> listeners;
    {
      const std::scoped_lock lock(mutex_);
      ++version_;
      changed_.notify_all();
      listeners = listeners_;
    }
    for (const auto& [id, listener] : listeners) listener();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Offers unknown_{.agents = {}, .any_agent = {}, .answered = true, .note = {}};
  std::map<std::string, Snapshot, std::less<>> known_;
  std::map<std::uint64_t, std::function<void()>> listeners_;
  std::uint64_t last_listener_ = 0;
  std::atomic<std::uint64_t> version_{1};
};

FakeController::FakeController() : state_(std::make_shared<State>()) {}

FakeController::~FakeController() {
  const std::scoped_lock lock(state_->servers_mutex);
  state_->servers.clear();
}

Client FakeController::client(ClientOptions options) const {
  return Client(state_, std::move(options));
}

std::shared_ptr<Resolver> FakeController::resolver() const {
  return state_;
}

void FakeController::add(std::string_view service, std::string_view address, std::string_view agent,
                         std::uint32_t weight) {
  const Instance instance{.address = Address::parse(address), .weight = weight};
  state_->change(service, [&](Offers& offers) { offers.agents[std::string(agent)].push_back(instance); });
}

void FakeController::remove(std::string_view service, std::string_view address, std::string_view agent) {
  const auto gone = Address::parse(address);
  state_->change(service, [&](Offers& offers) {
    std::erase_if(offers.agents[std::string(agent)],
                  [&](const Instance& instance) { return instance.address == gone; });
  });
}

void FakeController::say(std::string_view service,
                         const std::map<std::string, std::vector<std::string>>& agents) {
  Offers said;
  for (const auto& [agent, addresses] : agents) {
    auto& instances = said.agents[agent];
    for (const auto& address : addresses) instances.push_back({.address = Address::parse(address)});
  }
  recover();
  state_->change(service, [&](Offers& offers) { offers.agents = std::move(said.agents); });
}

std::string FakeController::serve(std::shared_ptr<Servant> servant, std::string_view agent,
                                  ServerOptions options) {
  const auto services = services_of(*servant);
  options.listen = "memory:" + new_name();
  auto server = std::make_unique<Server>(options);
  server->offer(std::move(servant), {.agent = std::string(agent)});
  server->start();
  {
    const std::scoped_lock lock(state_->servers_mutex);
    state_->servers[options.listen] = std::move(server);
  }
  for (const auto* service : services) add(std::string(service->name), options.listen, agent);
  return options.listen;
}

void FakeController::stop(std::string_view address) {
  const auto gone = Address::parse(address);
  state_->change_all([&](Offers& offers) {
    for (auto& [agent, instances] : offers.agents)
      std::erase_if(instances, [&](const Instance& instance) { return instance.address == gone; });
  });
  std::unique_ptr<Server> stopped;  // outside of the lock
  const std::scoped_lock lock(state_->servers_mutex);
  if (const auto found = state_->servers.find(address); found != state_->servers.end()) {
    stopped = std::move(found->second);
    state_->servers.erase(found);
  }
}

void FakeController::lose(std::string_view why) {
  state_->change_all([&](Offers& offers) {
    offers.answered = false;
    offers.note = why;
  });
}

void FakeController::recover() {
  state_->change_all([](Offers& offers) {
    offers.answered = true;
    offers.note.clear();
  });
}

std::uint64_t FakeController::waits() const noexcept {
  return state_->waits;
}

}  // namespace mf::testing
