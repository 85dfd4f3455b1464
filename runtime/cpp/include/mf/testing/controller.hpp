// A controller that a test plays: what clients know of servers is what the test says, and they know it at
// once.
//
//   mf::testing::FakeController controller;
//   auto client = controller.client();
//   controller.serve(std::make_shared<Books>(), "books");       a server in this process, and its entry
//   controller.add("shop.Index", "tcp://127.0.0.1:7401");       an entry alone
//   controller.lose("it was restarted");                        no answer for services that are not known yet
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/core/servant.hpp"
#include "mf/link/resolver.hpp"
#include "mf/server/server.hpp"

namespace mf::testing {

/// All functions are thread-safe. Clients that were made of it may outlive it.
class FakeController {
 public:
  /// It has answered from the start: what it does not name does not exist.
  FakeController();
  ~FakeController();
  FakeController(const FakeController&) = delete;
  FakeController& operator=(const FakeController&) = delete;

  [[nodiscard]] Client client(ClientOptions options = {}) const;
  [[nodiscard]] std::shared_ptr<Resolver> resolver() const;

  /// An instance of a service, by its full name. Throws Error(INVALID_ARGUMENT) for an address that cannot be
  /// read.
  void add(std::string_view service, std::string_view address, std::string_view agent = "",
           std::uint32_t weight = 1);
  /// The agent stays known, with an instance less.
  void remove(std::string_view service, std::string_view address, std::string_view agent = "");
  /// All addresses of a service, by agent, in place of what was known; the controller answers, also if it did
  /// not.
  void say(std::string_view service, const std::map<std::string, std::vector<std::string>>& agents);
  /// Starts a server in this process and adds it. Gives its address.
  std::string serve(std::shared_ptr<Servant> servant, std::string_view agent = "",
                    ServerOptions options = {});
  /// Removes the entries of a server that serve() has started, and stops it.
  void stop(std::string_view address);

  /// It does not answer any more; what was known stays so.
  void lose(std::string_view why);
  void recover();

  /// How often a client has begun to wait for a change.
  [[nodiscard]] std::uint64_t waits() const noexcept;

 private:
  class State;

  const std::shared_ptr<State> state_;
};

}  // namespace mf::testing
