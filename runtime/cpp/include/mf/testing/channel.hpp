// A server and a client of it in one process, joined without a network: all of the protocol, real frames.
//
//   mf::testing::Channel channel(std::make_shared<MyShop>());
//   ShopClient shop(channel.client());
//   channel.faults().cut(Operation::reply);                   see mf/testing/faults.hpp
#pragma once

#include <memory>
#include <string>

#include "mf/client/client.hpp"
#include "mf/core/servant.hpp"
#include "mf/server/server.hpp"
#include "mf/testing/faults.hpp"

namespace mf::testing {

/// A name for a place in memory that no other one has.
[[nodiscard]] std::string new_name();

struct ChannelOptions {
  OfferOptions offer{};
  /// `listen` is the channel's own.
  ServerOptions server{};
  ClientOptions client{};
};

class Channel {
 public:
  explicit Channel(std::shared_ptr<Servant> servant, ChannelOptions options = {});

  [[nodiscard]] Client& client() noexcept { return client_; }
  [[nodiscard]] Server& server() noexcept { return server_; }
  [[nodiscard]] Faults& faults() noexcept { return faults_; }
  /// Where more clients of this process reach the server: memory:…
  [[nodiscard]] const std::string& address() const noexcept { return address_; }

 private:
  const std::string address_;
  Faults faults_;
  Server server_;
  Client client_;
};

}  // namespace mf::testing
