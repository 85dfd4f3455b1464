#pragma once
// A Resolver that gets the locations of services from controllers: it watches each service that was
// requested, until forget() is called for it.
//
// It has no thread: decisions are made on a reactor's thread, which also receives the answers. A watch is a
// stream on which the controller sends changes; an idle client only answers a ping now and then. An
// interrupted watch resumes where it was. Known instances stay in use, whatever happens to the controller.
// Nothing is connected before the first question.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/link/resolver.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::controller {

class ControllerResolver final : public Resolver {
 public:
  /// Controllers without a common store each know a part; the first one that answers is used. `log`: one line
  /// if they do not answer within a second of the first question, and one when they answer again.
  explicit ControllerResolver(
      std::vector<Address> controllers,
      std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>(),
      const Log& log = {}, const TlsOptions& tls = {}, const ClientCredential& credential = {});
  ~ControllerResolver() override;

  Snapshot offers(std::string_view service) override;
  std::uint64_t add_listener(std::function<void()> changed) override;
  void remove_listener(std::uint64_t listener) noexcept override;
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override;
  [[nodiscard]] std::uint64_t version() const noexcept override;
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }
  [[nodiscard]] std::uint32_t client_id() const noexcept override;

  void forget(std::string_view service) noexcept override;
  bool reload() override;
  void close() noexcept override;

 private:
  /// State that late answers reach, also after the resolver was destroyed.
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace mf::controller
