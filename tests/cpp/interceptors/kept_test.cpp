// An interceptor in light that keeps `proceed` while its caller, the client and the light go away: the
// handler runs all the same, and its servant is there.
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "interceptors/ways.hpp"

namespace mftest::intercepted {
namespace {

using namespace std::chrono_literals;

/// Keeps one call instead of going on.
class Keeping final : public mf::AroundInterceptor {
 public:
  struct Kept {
    mf::Proceed proceed;
    mf::AnswerDone done;
  };

  mf::Answer call(mf::InterceptedCall& /*call*/, const mf::Proceed& proceed) override { return proceed(); }
  void call_async(mf::InterceptedCall& /*call*/, mf::Proceed proceed, mf::AnswerDone done) override {
    kept_.set_value({std::move(proceed), std::move(done)});
  }
  Kept wait() { return kept_.get_future().get(); }

 private:
  std::promise<Kept> kept_;
};

/// A light with an asynchronous servant and Keeping around it.
template <class Servant>
struct Kept {
  explicit Kept(std::shared_ptr<Servant> given) : servant(given) {
    mf::Light light(mf::Log(mf::Level::off), {keeping});
    light.offer(std::move(given));
    client.emplace(light);
  }

  const std::shared_ptr<Keeping> keeping = std::make_shared<Keeping>();
  const std::weak_ptr<Servant> servant;
  std::optional<mf::Client> client;
};

mf::Answer go_on(Keeping::Kept&& kept) {
  std::promise<mf::Answer> answer;
  kept.proceed.start(mf::AnswerDone([&](mf::Answer&& found) { answer.set_value(std::move(found)); }));
  return answer.get_future().get();
}

TEST(KeptProceed, TheServantOfACallOutlivesClientAndLight) {
  const auto plain = std::make_shared<Echo>();
  Kept light(std::make_shared<LaterEcho>(plain));
  std::stop_source stop;
  auto call = std::async(std::launch::async, [&light, &stop] {
    return mf::attempt(
        [&] { return calls::EchoClient(*light.client).twice(21, {.stop = stop.get_token()}); });
  });
  auto kept = std::make_optional(light.keeping->wait());
  stop.request_stop();
  EXPECT_EQ(call.get().failure().code, mf::Code::cancelled);

  light.client.reset();

  ASSERT_FALSE(light.servant.expired());
  EXPECT_EQ(*go_on(std::move(*kept)).value<std::int32_t>(), 42);
  EXPECT_EQ(plain->ran, 1);
}

TEST(KeptProceed, TheServantOfABulkOutlivesClientAndLight) {
  const auto plain = std::make_shared<Echo>();
  Kept light(std::make_shared<LaterEcho>(plain));
  std::stop_source stop;
  auto call = std::async(std::launch::async, [&light, &stop] {
    const std::vector<calls::EchoTwiceRequest> requests{{.x = 1}, {.x = 2}};
    return mf::attempt(
        [&] { return calls::EchoClient(*light.client).twice_bulk(requests, {.stop = stop.get_token()}); });
  });
  auto kept = std::make_optional(light.keeping->wait());
  stop.request_stop();
  (void)call.get();

  light.client.reset();

  ASSERT_FALSE(light.servant.expired());
  EXPECT_TRUE(go_on(std::move(*kept)).ok());
  EXPECT_EQ(plain->ran, 2);
}

TEST(KeptProceed, TheServantOfAStreamOutlivesClientAndLight) {
  Kept light(std::make_shared<AsyncFlow>());
  std::optional reader(flow::FlowClient(*light.client).count(3));
  auto kept = std::make_optional(light.keeping->wait());
  reader.reset();

  light.client.reset();

  ASSERT_FALSE(light.servant.expired());
  (void)go_on(std::move(*kept));  // the handler runs; its call was given up
}

TEST(KeptProceed, TheServantIsFreedWithTheLastCopy) {
  Kept light(std::make_shared<LaterEcho>(std::make_shared<Echo>()));
  std::stop_source stop;
  auto call = std::async(std::launch::async, [&light, &stop] {
    return mf::attempt(
        [&] { return calls::EchoClient(*light.client).twice(21, {.stop = stop.get_token()}); });
  });
  auto kept = std::make_optional(light.keeping->wait());
  stop.request_stop();
  (void)call.get();
  light.client.reset();

  kept.reset();

  EXPECT_TRUE(light.servant.expired());
}

}  // namespace
}  // namespace mftest::intercepted
