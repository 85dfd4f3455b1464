// What is done with topics in a run: one server's publishers with what reads them in its own process, and the
// subscribers of one client. Each has threads of its own, which write down what they see (topics_record.hpp).
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/topics/topics.hpp"
#include "topics_record.hpp"

namespace simulated {

/// What the threads look at.
struct Signals {
  const bool& all_is_well;  // nothing goes wrong any more: take all, and say farewell
  const bool& asked_to_stop;
};

class PublisherWork {
 public:
  PublisherWork(const TopicsPlan& plan, int server, const Signals& signals);
  void offer_at(mf::Server& server) { server.offer(topics_); }
  /// Begins to publish, once its server has started.
  void start();
  /// When its server has stopped.
  void join();

 private:
  void publish(const std::string& place);
  void publish(const Burst& burst, const std::string& place, std::map<bool, std::uint64_t>& numbers);

  const TopicsPlan& plan_;
  const int server_;
  const Signals signals_;
  mf::Topics topics_;
  const int run_;
  std::vector<std::thread> threads_;
};

/// Writes down what the publishers that live count of their subscriptions. All is well, and all has come.
void count_subscriptions();

class ReaderWork {
 public:
  ReaderWork(const TopicsPlan& plan, std::size_t client, const mf::Client& caller, const Signals& signals);
  void join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace simulated
