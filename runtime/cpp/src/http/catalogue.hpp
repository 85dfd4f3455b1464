// The names of all services and topics that the controller of the relay lists, for the document of the door.
// They are asked for when a document is, and kept for some seconds. All functions run on the door's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::relay {
class Relay;
}

namespace mf::http {

class Catalogue {
 public:
  /// Whether it is a topic, and its name.
  using Names = std::set<std::pair<bool, std::string>>;
  using Found = UniqueFunction<void(const Names&)>;
  using Post = std::function<void(UniqueFunction<void()>)>;

  static constexpr std::size_t kMost = 100;  // names of either kind; the first ones of the alphabet
  static constexpr std::chrono::seconds kKeptFor{2};
  static constexpr std::chrono::seconds kAnswerWithin{2};

  Catalogue(std::shared_ptr<relay::Relay> relay, std::shared_ptr<transport::Reactor> reactor, Post post)
      : relay_(std::move(relay)), reactor_(std::move(reactor)), post_(std::move(post)) {}

  /// Calls `found` once, perhaps before this returns; with what is known if the controller does not answer.
  void find(Found found);
  /// Ends all waits.
  void close();

 private:
  void ask(bool topics);
  void on_names(bool topics, const Outcome<controller::Found>& outcome);

  const std::shared_ptr<relay::Relay> relay_;
  const std::shared_ptr<transport::Reactor> reactor_;
  const Post post_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::optional<Client> client_;  // of the controller, in the name of the relay
  Names names_;
  TimePoint asked_at_{};
  std::size_t missing_ = 0;  // answers
  std::vector<Found> waiting_;
};

}  // namespace mf::http
