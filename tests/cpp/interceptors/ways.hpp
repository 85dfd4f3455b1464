// The ways in which an interceptor is around a call: over a connection or in light, at a plain or an
// asynchronous servant, of a caller that blocks or completes.
#pragma once

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/interceptors/recorder.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "mftest/calls.client.hpp"
#include "mftest/flow.client.hpp"
#include "support/echo.hpp"
#include "support/flow.hpp"

namespace mftest::intercepted {

struct Way {
  const char* name;
  bool in_light;
  bool later;   // the servant answers later, from another thread
  bool awaits;  // the caller blocks; else it uses a callback
};

inline constexpr Way kWays[] = {
    {"BlockingAtPlain", false, false, true},      {"CallbackAtPlain", false, false, false},
    {"BlockingAtAsync", false, true, true},       {"CallbackAtAsync", false, true, false},
    {"BlockingInLight", true, false, true},       {"CallbackInLight", true, false, false},
    {"BlockingAtAsyncInLight", true, true, true}, {"CallbackAtAsyncInLight", true, true, false},
};

/// The servant of calls.Echo that answers from a thread of its own.
class LaterEcho final : public calls::EchoAsyncServant {
 public:
  explicit LaterEcho(std::shared_ptr<Echo> plain) : plain_(std::move(plain)) {}
  ~LaterEcho() override {
    for (auto& thread : threads_) {
      if (thread.get_id() == std::this_thread::get_id()) {
        thread.detach();  // the last answer has freed the servant
      } else {
        thread.join();
      }
    }
  }

  void twice(calls::EchoTwiceRequest request, mf::Responder<std::int32_t> responder) override {
    later([this, request] { return plain_->twice(request.x); }, std::move(responder));
  }
  void text(calls::EchoTextRequest request, mf::Responder<std::string> responder) override {
    later([this, request] { return plain_->text(request.value); }, std::move(responder));
  }
  void blob(calls::EchoBlobRequest request, mf::Responder<mf::Bytes> responder) override {
    later([this, request] { return plain_->blob(request.data); }, std::move(responder));
  }
  void fail(calls::EchoFailRequest request, mf::Responder<std::int32_t> responder) override {
    later([this, request] { return plain_->fail(request.how); }, std::move(responder));
  }
  void wait(calls::EchoWaitRequest request, mf::Responder<void> responder) override {
    later([this, request] { plain_->wait(request.ms); }, std::move(responder));
  }
  void again(calls::EchoAgainRequest request, mf::Responder<std::int32_t> responder) override {
    later([this, request] { return plain_->again(request.x); }, std::move(responder));
  }
  void even(calls::EchoEvenRequest request, mf::Responder<bool> responder) override {
    later([this, request] { return plain_->even(request.x); }, std::move(responder));
  }
  void both(calls::EchoBothRequest request, mf::Responder<calls::EchoBothResult> responder) override {
    later([this, request] { return plain_->both(request.x); }, std::move(responder));
  }
  void note(calls::EchoNoteRequest request) override { plain_->note(request.x); }
  void note_wait(calls::EchoNoteWaitRequest request) override { plain_->note_wait(request.x, request.ms); }

 private:
  template <class Work, class T>
  void later(Work work, mf::Responder<T> responder) {
    const std::scoped_lock lock(mutex_);
    threads_.emplace_back([work = std::move(work), responder = std::move(responder)]() mutable {
      responder.respond(mf::outcome_of(work));
    });
  }

  const std::shared_ptr<Echo> plain_;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

/// A client and what it calls, with interceptors at both ends; the outermost of each end is a Recorder.
class Ends {
 public:
  explicit Ends(const Way& way, mf::Interceptors at_client = {}, mf::Interceptors at_server = {})
      : way_(way) {
    at_client.insert(at_client.begin(), before);
    at_server.insert(at_server.begin(), behind);
    const auto offer_all = [&](auto& to) {
      if (way.later) {
        to.offer(std::make_shared<LaterEcho>(echo));
        to.offer(std::make_shared<AsyncFlow>());
      } else {
        to.offer(echo);
        to.offer(std::make_shared<PlainFlow>());
      }
      to.offer(std::make_shared<Part>("books"), {.agent = "books"});
    };
    mf::ClientOptions options{.wait_for_server = std::chrono::milliseconds(200)};
    options.interceptors = std::move(at_client);
    if (way.in_light) {
      mf::Light light(mf::Log(mf::Level::off), std::move(at_server));
      offer_all(light);
      client.emplace(light, std::move(options));
    } else {
      mf::ServerOptions served;
      served.interceptors = std::move(at_server);
      served.log = mf::Log(mf::Level::off);
      server.emplace(std::move(served));
      offer_all(*server);
      server->start();
      client.emplace(server->address().str(), std::move(options));
    }
    stub.emplace(*client);
    flow.emplace(*client);
  }

  mf::Outcome<std::int32_t> twice(std::int32_t x, const mf::CallOptions& options = {}) {
    if (way_.awaits) return mf::attempt([&] { return stub->twice(x, options); });
    std::promise<mf::Outcome<std::int32_t>> ended;
    stub->async_twice(x, options,
                      [&](mf::Outcome<std::int32_t> outcome) { ended.set_value(std::move(outcome)); });
    return ended.get_future().get();
  }
  mf::Outcome<std::int32_t> again(std::int32_t x, const mf::CallOptions& options = {}) {
    if (way_.awaits) return mf::attempt([&] { return stub->again(x, options); });
    std::promise<mf::Outcome<std::int32_t>> ended;
    stub->async_again(x, options,
                      [&](mf::Outcome<std::int32_t> outcome) { ended.set_value(std::move(outcome)); });
    return ended.get_future().get();
  }
  mf::Outcome<std::int32_t> fail(const std::string& how) {
    if (way_.awaits) return mf::attempt([&] { return stub->fail(how); });
    std::promise<mf::Outcome<std::int32_t>> ended;
    stub->async_fail(how, [&](mf::Outcome<std::int32_t> outcome) { ended.set_value(std::move(outcome)); });
    return ended.get_future().get();
  }

  /// The only call that has ended at one end.
  static mf::interceptors::Recorded the_call(mf::interceptors::Recorder& recorder) {
    auto calls = recorder.wait_for(1);
    EXPECT_EQ(calls.size(), 1U);
    return calls.front();
  }

  const Way way_;
  const std::shared_ptr<mf::interceptors::Recorder> before = std::make_shared<mf::interceptors::Recorder>();
  const std::shared_ptr<mf::interceptors::Recorder> behind = std::make_shared<mf::interceptors::Recorder>();
  const std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  std::optional<mf::Server> server;
  std::optional<mf::Client> client;
  std::optional<calls::EchoClient> stub;
  std::optional<flow::FlowClient> flow;
};

}  // namespace mftest::intercepted
