#pragma once
// Where services are, as controllers say: a Resolver that watches each service it was asked about, until it
// is told to forget it.
//
// It has no thread: what to ask is decided on a reactor's, where answers come, too. A watch is a stream on
// which the controller says what changes; an idle client does nothing but answer a ping now and then. A watch
// that was cut off goes on from where it was. Whatever happens to the controller, what was known stays known
// and goes on being used. Nothing is connected before the first question.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "mf/link/resolver.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::controller {

class ControllerResolver final : public Resolver {
 public:
  /// Controllers without a common store each know a part; the first that answers is asked.
  /// `log`: one line when they do not answer, within a second of the first question, and one when they do
  /// again.
  explicit ControllerResolver(
      std::vector<Address> controllers,
      std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>(),
      const Log& log = {}, const TlsOptions& tls = {});
  ~ControllerResolver() override;

  Snapshot offers(std::string_view service) override;
  std::uint64_t add_listener(std::function<void()> changed) override;
  void remove_listener(std::uint64_t listener) noexcept override;
  Snapshot wait_for_change(std::string_view service, const Snapshot& known, TimePoint until) override;
  [[nodiscard]] std::uint64_t version() const noexcept override;
  [[nodiscard]] bool knows_agents() const noexcept override { return true; }
  [[nodiscard]] std::uint32_t client_id() const noexcept override;

  void forget(std::string_view service) noexcept override;
  void close() noexcept override;

 private:
  /// What answers reach, also those that come after the resolver's end.
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace mf::controller
