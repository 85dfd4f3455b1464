// A relay in this process, and the servers behind it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/fake_resolver.hpp"
#include "mf/relay/relay.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/server/server.hpp"
#include "support/wait.hpp"

namespace mftest {

/// A relay whose resolver the test controls.
class Relayed {
 public:
  explicit Relayed(mf::ServerOptions options = {}, std::vector<mf::Address> controllers = {},
                   mf::relay::RelayOptions relay = {})
      : resolver(std::make_shared<FakeResolver>()) {
    relay.log = mf::Log(log);
    relay_ = std::make_shared<mf::relay::Relay>(resolver, std::move(controllers), std::move(relay));
    options.stream_window = 0;
    options.forwarder = relay_;
    options.log = mf::Log(log);
    server_ = std::make_unique<mf::Server>(std::move(options));
    server_->start();
  }
  ~Relayed() { stop(); }
  void stop() {
    server_->stop();
    relay_->close();
  }
  /// What a door of another protocol needs of it; the door ends before this does.
  [[nodiscard]] const std::shared_ptr<mf::relay::Relay>& relay() const { return relay_; }
  [[nodiscard]] std::shared_ptr<const mf::server::Gatekeeper> gatekeeper() const {
    return server_->gatekeeper();
  }
  [[nodiscard]] bool reload() { return server_->reload(); }
  /// Sets the servers for the agent as the relay's only knowledge.
  void knows(const std::vector<mf::Address>& servers, const std::string& agent = "") {
    auto offers = answered();
    for (const auto& server : servers) offers.agents[agent].push_back({.address = server});
    resolver->set(std::move(offers));
  }
  [[nodiscard]] mf::Address address() const { return server_->address(); }
  [[nodiscard]] mf::ServerStats stats() const { return server_->stats(); }
  [[nodiscard]] std::vector<mf::relay::TopicRelayStats> topics() const { return relay_->topics(); }

  const std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  const std::shared_ptr<FakeResolver> resolver;

 private:
  std::shared_ptr<mf::relay::Relay> relay_;
  std::unique_ptr<mf::Server> server_;
};

}  // namespace mftest
