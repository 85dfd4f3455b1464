// The interceptors that come with the runtime.
#include <condition_variable>
#include <thread>

#include "interceptors/ways.hpp"
#include "mf/interceptors/access_log.hpp"
#include "mf/interceptors/hedging.hpp"
#include "mf/interceptors/limiter.hpp"

namespace mftest::intercepted {
namespace {

using mf::Code;
using namespace std::chrono_literals;

struct Lines final : mf::LogSink {
  void write(mf::Level /*level*/, std::string_view line) noexcept override {
    const std::scoped_lock lock(mutex);
    lines.emplace_back(line);
  }
  std::mutex mutex;
  std::vector<std::string> lines;
};

TEST(AccessLog, WritesALineForEachCall) {
  const auto lines = std::make_shared<Lines>();
  Ends ends(kWays[0], {std::make_shared<mf::interceptors::AccessLog>(mf::Log(lines))});

  EXPECT_EQ(ends.twice(1).value(), 2);
  EXPECT_FALSE(ends.fail("std").ok());

  ASSERT_EQ(lines->lines.size(), 2U);
  EXPECT_TRUE(lines->lines[0].starts_with("call service=mftest.calls.Echo method=twice agent="))
      << lines->lines[0];
  EXPECT_NE(lines->lines[0].find(" code=OK us="), std::string::npos);
  EXPECT_NE(lines->lines[0].find(" request_bytes=4 reply_bytes=4"), std::string::npos);
  EXPECT_NE(lines->lines[1].find(" method=fail "), std::string::npos);
  EXPECT_NE(lines->lines[1].find(" code=HANDLER_FAILED "), std::string::npos);
}

TEST(AccessLog, OfFailuresTakesADeclaredErrorForAnAnswer) {
  const auto lines = std::make_shared<Lines>();
  using mf::interceptors::AccessLog;
  Ends ends(kWays[0], {std::make_shared<AccessLog>(mf::Log(lines), AccessLog::Of::failures)});

  EXPECT_EQ(ends.twice(1).value(), 2);
  EXPECT_FALSE(ends.fail("nope").ok());
  EXPECT_FALSE(ends.fail("std").ok());

  ASSERT_EQ(lines->lines.size(), 1U);
  EXPECT_NE(lines->lines[0].find("HANDLER_FAILED"), std::string::npos);
}

/// Holds handlers of again() until it is opened.
class Held final : public Echo {
 public:
  std::int32_t again(std::int32_t x) override {
    std::unique_lock lock(mutex_);
    const auto number = started_++;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || number >= held_; });
    return x;
  }
  void hold(int calls) {
    const std::scoped_lock lock(mutex_);
    held_ = calls;
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for(int calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_ >= calls; });
  }
  int started() {
    const std::scoped_lock lock(mutex_);
    return started_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int started_ = 0;
  int held_ = 1'000'000;
  bool open_ = false;
};

struct Served {
  explicit Served(mf::Interceptors at_client = {}, mf::Interceptors at_server = {})
      : server({.interceptors = std::move(at_server), .log = mf::Log(mf::Level::off)}) {
    server.offer(held);
    server.start();
    client.emplace(server.address().str(), mf::ClientOptions{.interceptors = std::move(at_client)});
    stub.emplace(*client);
  }
  ~Served() { held->open(); }

  std::future<mf::Outcome<std::int32_t>> begin(std::int32_t x, mf::CallOptions options = {}) {
    auto ended = std::make_shared<std::promise<mf::Outcome<std::int32_t>>>();
    auto future = ended->get_future();
    stub->async_again(x, options,
                      [ended](mf::Outcome<std::int32_t> outcome) { ended->set_value(std::move(outcome)); });
    return future;
  }

  std::shared_ptr<Held> held = std::make_shared<Held>();
  mf::Server server;
  std::optional<mf::Client> client;
  std::optional<calls::EchoClient> stub;
};

TEST(Limiter, RefusesWhatItCannotHold) {
  const auto limiter = std::make_shared<mf::interceptors::Limiter>(
      mf::interceptors::LimiterOptions{.concurrent = 1, .queued = 1});
  Served served({limiter});
  auto first = served.begin(1);
  served.held->wait_for(1);
  auto second = served.begin(2);

  const auto third = served.begin(3).get();

  EXPECT_EQ(third.failure().code, Code::overloaded);
  EXPECT_EQ(third.failure().message, "mftest.calls.Echo.again: at most 1 calls run at once, and 1 wait");
  EXPECT_EQ(limiter->running(), 1U);
  EXPECT_EQ(limiter->waiting(), 1U);
  served.held->open();
  EXPECT_EQ(first.get().value(), 1);
  EXPECT_EQ(second.get().value(), 2);
  EXPECT_EQ(limiter->running(), 0U);
}

TEST(Limiter, CallsThatBlockWaitForTheirTurn) {
  const auto limiter = std::make_shared<mf::interceptors::Limiter>(
      mf::interceptors::LimiterOptions{.concurrent = 1, .queued = 1});
  Served served({limiter});
  auto first = served.begin(1);
  served.held->wait_for(1);
  std::thread opening([&] {
    while (limiter->waiting() == 0) std::this_thread::yield();
    served.held->open();
  });

  EXPECT_EQ(served.stub->again(2), 2);

  opening.join();
  EXPECT_EQ(first.get().value(), 1);
}

TEST(Limiter, AWaitEndsAtTheDeadline) {
  const auto limiter = std::make_shared<mf::interceptors::Limiter>(
      mf::interceptors::LimiterOptions{.concurrent = 1, .queued = 5});
  Served served({limiter});
  auto first = served.begin(1);
  served.held->wait_for(1);

  const auto late = served.begin(2, {.deadline = 20ms}).get();
  const auto blocked = mf::attempt([&] { return served.stub->again(2, {.deadline = 20ms}); });

  for (const auto& each : {late, blocked}) {
    EXPECT_EQ(each.failure().code, Code::deadline_exceeded);
    EXPECT_EQ(each.failure().execution, mf::Execution::not_executed);
  }
  EXPECT_EQ(limiter->waiting(), 0U);
  served.held->open();
  EXPECT_EQ(first.get().value(), 1);
}

TEST(Limiter, AtAServerItHoldsHandlers) {
  const auto limiter = std::make_shared<mf::interceptors::Limiter>(
      mf::interceptors::LimiterOptions{.concurrent = 1, .methods = {"again"}});
  Served served({}, {limiter});
  auto first = served.begin(1);
  served.held->wait_for(1);

  const auto outcome = mf::attempt([&] { return served.stub->again(2); });

  EXPECT_EQ(outcome.failure().code, Code::overloaded);
  EXPECT_EQ(served.stub->twice(2), 4);
  EXPECT_EQ(served.held->started(), 1);
}

TEST(Hedging, ASlowCallIsMadeOnceMore) {
  Served served(
      {std::make_shared<mf::interceptors::Hedging>(mf::interceptors::HedgingOptions{.after = 20ms})});
  served.held->hold(1);

  EXPECT_EQ(served.stub->again(7), 7);
  EXPECT_EQ(served.held->started(), 2);
  EXPECT_EQ(served.begin(8).get().value(), 8);
}

TEST(Hedging, AsynchronousCallsAreMadeOnceMoreToo) {
  Served served(
      {std::make_shared<mf::interceptors::Hedging>(mf::interceptors::HedgingOptions{.after = 20ms})});
  served.held->hold(1);

  EXPECT_EQ(served.begin(7).get().value(), 7);

  EXPECT_EQ(served.held->started(), 2);
}

TEST(Hedging, OtherMethodsAreCalledOnce) {
  const auto recorder = std::make_shared<mf::interceptors::Recorder>();
  Served served({std::make_shared<mf::interceptors::Hedging>(mf::interceptors::HedgingOptions{.after = 1ms})},
                {recorder});

  served.stub->wait(30);

  EXPECT_EQ(recorder->calls("wait").size(), 1U);
}

TEST(Hedging, ACallFailsWithWhatTheFirstRequestHasFailedWith) {
  mf::Client client("tcp://127.0.0.1:1", {.interceptors = {std::make_shared<mf::interceptors::Hedging>()}});

  const auto outcome = mf::attempt([&] { return calls::EchoClient(client).again(1, {.deadline = 200ms}); });

  EXPECT_FALSE(outcome.ok());
}

TEST(Recorder, KeepsTheLatest) {
  mf::Light light;
  light.offer(std::make_shared<Echo>());
  const auto recorder = std::make_shared<mf::interceptors::Recorder>(2);
  mf::Client client(light, {.interceptors = {recorder}});
  const calls::EchoClient echo(client);
  (void)echo.twice(1);
  (void)echo.even(1);
  (void)echo.text("x");

  const auto calls = recorder->calls();

  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].method, "even");
  EXPECT_EQ(calls[1].method, "text");
  EXPECT_EQ(recorder->open(), 0U);
}

}  // namespace
}  // namespace mftest::intercepted
