#include "waits.hpp"

#include <sched.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "mf/client/client.hpp"
#include "mf/link/waiter.hpp"
#include "mf/server/server.hpp"
#include "scheduler.hpp"
#include "simulation.topics.hpp"

namespace simulated {
namespace {

constexpr int kWaits = 20;
constexpr Time kSoon = 10'000;  // what looking at the clock takes
// Of threads that wait, in some seconds.
constexpr std::uint64_t kFewPoints = 1'000;

struct Wait {
  mf::link::Waiter waiter;
  Time finished = 0;
  Time woken = 0;
};

void sleep(Time time) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(time));
}

/// Has the processor for 20 us at a time.
void be_busy() {
  for (int turn = 0; turn < 1'000; ++turn) {
    for (int look = 0; look < 1'000; ++look) (void)mf::now();
    ::sched_yield();
  }
}

}  // namespace

std::vector<std::string> late_waits() {
  std::array<Wait, kWaits> waits;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(be_busy);
  for (auto& each : waits) {
    threads.emplace_back([&each] {
      each.waiter.wait_until(mf::now() + std::chrono::seconds(10));
      each.woken = scheduler().now();
    });
  }
  for (auto& thread : threads) {
    if (&thread == &threads[3]) break;
    thread.join();
  }
  for (auto& each : waits) {
    sleep(70 * kMillisecond);
    each.finished = scheduler().now();
    each.waiter.finish();
  }
  for (auto& thread : threads) {
    if (thread.joinable()) thread.join();
  }
  std::vector<std::string> late;
  for (const auto& each : waits) {
    if (each.woken - each.finished > kSoon)
      late.push_back("a thread was woken " + std::to_string(each.woken - each.finished) +
                     " ns after its wait was finished");
  }
  return late;
}

std::vector<std::string> restless_publisher() {
  constexpr auto kAddress = "tcp://127.0.0.1:7401";
  mf::Topics topics;
  mf::Server server({.listen = kAddress});
  server.offer(topics);
  server.start();
  const auto publisher = simulation::FleetingPublisher(topics);
  auto place = publisher.at("north");
  const mf::Client client(kAddress);
  const simulation::FleetingSubscriber subscriber(client, "north",
                                                  {.overflow = mf::Overflow::drop_oldest, .max_messages = 5});
  std::vector<std::string> wrong;
  if (!publisher.await_subscribers(1, std::chrono::seconds(10))) wrong.emplace_back("there is no subscriber");
  // More than the stream and the queues on the way have room for.
  for (std::uint64_t i = 0; i < 5'000; ++i)
    place.publish({.number = i, .filler = mf::Bytes(std::string(1'000, 'x'))});
  sleep(kSecond);
  const auto before = scheduler().points();
  sleep(5 * kSecond);
  const auto made = scheduler().points() - before;
  if (publisher.stats().subscriptions.at(0).queued == 0) wrong.emplace_back("no message waits");
  if (made > kFewPoints)
    wrong.push_back("threads that wait have come to " + std::to_string(made) + " points of theirs in 5 s");
  return wrong;
}

}  // namespace simulated
