// Waits in the callbacks of asynchronous calls, on the thread that ends calls at their deadlines.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/server/server.hpp"
#include "mf/testing/clock.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/calls.server.hpp"
#include "support/wait.hpp"

namespace mftest::callbacks_test {
namespace {

/// Answers the first call, and no other.
class AnswersOnce final : public calls::PartAsyncServant {
 public:
  void name(calls::PartNameRequest /*request*/, mf::Responder<std::string> responder) override {
    if (!std::exchange(asked_, true)) return responder.respond(std::string("part"));
    const std::scoped_lock lock(mutex_);
    kept_.push_back(std::move(responder));
  }
  void fail(calls::PartFailRequest /*request*/, mf::Responder<void> responder) override {
    responder.respond({});
  }
  /// To be called in the end: a call that is not answered keeps its connection, which keeps the servant.
  void forget() {
    const std::scoped_lock lock(mutex_);
    kept_.clear();
  }

 private:
  bool asked_ = false;
  std::mutex mutex_;
  std::vector<mf::Responder<std::string>> kept_;
};

TEST(WaitsInCallbacks, EndAtTheDeadlineOfTheirBatch) {
  constexpr auto kDeadline = std::chrono::seconds(3);
  mf::testing::FakeClock clock;
  mf::Server server;
  const auto servant = std::make_shared<AnswersOnce>();
  server.offer(servant, {.agent = "news"});
  server.start();
  mf::Client client(server.address().str());
  const auto stub = calls::PartClient(client).at("news");
  std::atomic<bool> waits{false};
  std::promise<mf::Code> ended;
  stub.async_name([&](const mf::Outcome<std::string>& /*outcome*/) {
    auto batch = stub.name_batch(std::vector<calls::PartNameRequest>(1), {.deadline = kDeadline});
    waits = true;
    const auto outcomes = batch.results();
    const auto& outcome = outcomes.at(0);
    ended.set_value(outcome.ok() ? mf::Code::ok : outcome.failure().code);
  });
  ASSERT_TRUE(eventually([&] { return waits.load(); }));
  clock.advance(kDeadline);
  auto code = ended.get_future();
  EXPECT_EQ(code.wait_for(kLong), std::future_status::ready) << "although the clock goes no further";
  clock.advance(kDeadline);
  EXPECT_EQ(code.get(), mf::Code::deadline_exceeded);
  servant->forget();
}

}  // namespace
}  // namespace mftest::callbacks_test
