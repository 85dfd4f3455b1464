// The direction into an engine: subscribes to a topic, and appends each message with its headers.
//
// At least once: a message leaves the queue of the subscription, whose bounds hold back its publishers, only
// to be appended, and nothing more is taken while the engine has not acknowledged it. What a publisher has
// not kept while this was away is a gap in the numbers, which readers see. Messages that another schema
// published are converted into that of the description, as for any subscriber.
//
// run() is called by one thread; the rest is thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "mf/bridge/engine.hpp"
#include "mf/bridge/pause.hpp"
#include "mf/client/core.hpp"
#include "mf/topics/described_topic.hpp"
#include "mf/topics/remote_receiver.hpp"

namespace mf::bridge {

struct InwardOptions {
  /// The pattern, in which a member of an enum has its name; empty: all.
  std::string agents{};
  SubscribeOptions subscribe{};
  std::string stream{};
  Log log{};
};

struct InwardStats {
  std::uint64_t appended = 0;
  std::uint64_t missed = 0;   // on the way here, by their numbers
  std::uint64_t refused = 0;  // by the engine, for good
  std::uint64_t unreadable = 0;
};

class Inward {
 public:
  /// Throws INVALID_ARGUMENT for agents or a policy that the topic cannot have.
  Inward(std::shared_ptr<client::Core> core, const topics::DescribedTopic& topic, Engine& engine,
         InwardOptions options);

  /// Until it is to stop. Throws what Engine::writer() says for good. `ready` is called once it subscribes.
  void run(const std::stop_token& stop, const std::function<void()>& ready = {});
  [[nodiscard]] InwardStats stats() const;

 private:
  [[nodiscard]] std::shared_ptr<topics::RemoteReceiver> subscribe();
  void pump(topics::Receiver& receiver, const std::stop_token& stop);
  [[nodiscard]] bool take(topics::Receiver& receiver, std::vector<Record>& into);
  void append(std::span<const Record> records, const std::stop_token& stop);
  void add(topics::Item& item, std::vector<Record>& into);

  const std::shared_ptr<client::Core> core_;
  const topics::DescribedTopic& topic_;
  Engine& engine_;
  const InwardOptions options_;
  const std::string agents_;  // as they are sent
  const SubscribeOptions subscribe_;
  std::unique_ptr<Writer> writer_;
  Trouble trouble_;
  std::atomic<std::uint64_t> appended_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> unreadable_{0};
};

}  // namespace mf::bridge
