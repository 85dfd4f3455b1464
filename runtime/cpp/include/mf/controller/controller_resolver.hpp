#pragma once
// Where services are, as controllers say: a Resolver that watches each service it was asked about.
//
// One thread decides what to ask; answers come on the controller client's own thread. A watch is a call that
// the controller answers when something changed, so an idle client makes one call in kWait. Whatever happens
// to the controller, what was known stays known and goes on being used. Nothing is connected before the first
// question.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/controller/known_service.hpp"
#include "mf/link/backoff.hpp"
#include "mf/link/resolver.hpp"

namespace mf::controller {

class ControllerResolver final : public Resolver {
 public:
  static constexpr std::chrono::seconds kWait{20};

  /// Controllers without a common store each know a part; the first that answers is asked.
  explicit ControllerResolver(std::vector<Address> controllers);
  ~ControllerResolver() override;

  Snapshot offers(std::string_view service) override;
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override;
  [[nodiscard]] std::uint64_t version() const noexcept override;
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }
  [[nodiscard]] std::uint32_t client_id() const noexcept override;

 private:
  struct Service {
    KnownService known;
    Snapshot snapshot;
    bool asked = false;  // a watch is on its way
    TimePoint asked_since{};
    TimePoint ask_at{};
    link::Backoff backoff{1};
  };
  struct Ask {
    std::string service;
    std::uint64_t epoch = 0;
    std::uint64_t revision = 0;
  };
  /// What answers reach, also those that come after the resolver's end.
  struct State;

  Service& service(std::string_view name);
  void run();
  void greet();
  void watch(const Ask& ask);

  std::string where_;
  std::shared_ptr<State> state_;
  Client client_;
  ControllerClient controller_;
  std::thread thread_;
};

}  // namespace mf::controller
