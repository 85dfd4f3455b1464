// A subscription of a client of the door, whose messages become JSON. Used on the door's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "http/callers.hpp"
#include "http/description.hpp"
#include "http/problem.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/topics/receiver.hpp"

namespace mf::http {

/// What a client asks of a subscription.
struct Subscribing {
  std::string agents = "*";  // a pattern, as users write it; of a topic without agents it is not used
  std::string overflow{};    // "drop_oldest" …; empty: as the topic says
  std::optional<std::uint32_t> replay{};
};

class Feed {
 public:
  [[nodiscard]] static std::variant<std::unique_ptr<Feed>, Problem> begin(
      const std::shared_ptr<Caller>& caller, const std::shared_ptr<const Description>& description,
      const Subscribing& wanted);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Calls `next` once, on any thread, when a message or the end has come.
  void when_ready(UniqueFunction<void(Outcome<topics::Receiver::Taken>&&)> next);
  /// The message as a JSON object: "value", the "agent" of a topic that has agents, and how many messages
  /// were "missed" just before it.
  [[nodiscard]] Answer json_of(const topics::Receiver::Taken& taken) const;
  /// Calls `send` for this message and for those that wait already, until it has returned that kMostAtOnce
  /// bytes are to be sent.
  template <class Send>
  void each(topics::Receiver::Taken&& taken, const Send& send) {
    do {
      if (send(json_of(taken)) >= kMostAtOnce) return;
    } while (take_ready(taken));
  }

 private:
  static constexpr std::size_t kMostAtOnce = std::size_t{32} << 10U;

  /// False: none waits, or the subscription has ended, which when_ready() says.
  [[nodiscard]] bool take_ready(topics::Receiver::Taken& into);

  Feed(std::shared_ptr<Caller> caller, std::shared_ptr<const Description> description,
       std::shared_ptr<topics::Receiver> receiver);

  const std::shared_ptr<Caller> caller_;
  const std::shared_ptr<const Description> description_;
  const std::shared_ptr<topics::Receiver> receiver_;
  std::stop_source stopping_;
};

}  // namespace mf::http
