// The service of operators of every server. It mirrors tests/python/server/test_admin.py; the tool's side is
// tested in tests/mf_tools/test_steering.py.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mf/admin.client.hpp"
#include "mf/client/client.hpp"
#include "mf/core/log.hpp"
#include "mf/interceptors/recorder.hpp"
#include "mf/server/server.hpp"
#include "mf/server/taps.hpp"
#include "mftest/calls.client.hpp"
#include "support/echo.hpp"

namespace mftest::admin_test {
namespace {

using mf::Code;
using mf::admin::AdminClient;
using mf::admin::Filter;
using mf::admin::Level;
using mf::admin::Outcome;
using mf::admin::Tapped;

const mf::CallOptions kNoDeadline{.deadline = mf::kInfinite};

mf::ServerOptions quiet(mf::ServerOptions options) {
  options.log = mf::Log(mf::Level::off);
  return options;
}

/// The only field of a request or result.
std::int32_t number_in(const std::optional<mf::Bytes>& encoded) {
  std::int32_t number = 0;
  mf::codec::Reader reader(encoded.value().span());
  EXPECT_TRUE(mf::codec::decode<mf::Tier::memcpy>(reader, number) && reader.finish());
  return number;
}

std::string text_in(const std::optional<mf::Bytes>& encoded) {
  calls::EchoFailRequest request;
  mf::codec::Reader reader(encoded.value().span());
  EXPECT_TRUE(mf::codec::decode<mf::Tier::febird>(reader, request) && reader.finish());
  return request.how;
}

struct Served {
  explicit Served(mf::ServerOptions options = {}) : server(quiet(std::move(options))) {
    server.offer(echo);
    server.offer(std::make_shared<Part>("books"), {.agent = "books"});
    server.offer(std::make_shared<Part>("maps"), {.agent = "maps"});
    server.start();
    client.emplace(server.address().str());
    admin.emplace(*client);
    stub.emplace(*client);
  }

  /// Makes calls until the tap shows one: when it begins is not seen from outside. Returns that one.
  template <class Call>
  Tapped first(mf::StreamReader<Tapped>& tap, Call call) {
    std::atomic<bool> shown{false};
    auto calling = std::async(std::launch::async, [&] {
      do {
        call();
      } while (!shown);
    });
    const struct Ends {
      ~Ends() { shown = true; }
      std::atomic<bool>& shown;
    } ends{shown};
    return tap.next().value();
  }
  /// The next one with this method.
  static Tapped next(mf::StreamReader<Tapped>& tap, std::string_view method) {
    for (;;) {
      auto found = tap.next();
      if (found.value().method == method) return *std::move(found);
    }
  }

  const std::shared_ptr<Echo> echo = std::make_shared<Echo>();
  mf::Server server;
  std::optional<mf::Client> client;
  std::optional<AdminClient> admin;
  std::optional<calls::EchoClient> stub;
};

TEST(Admin, ATapShowsACallWithItsBytes) {
  Served served;
  auto tap = served.admin->tap({}, kNoDeadline);

  const auto shown = served.first(tap, [&] { served.stub->twice(21); });

  EXPECT_EQ(shown.service, "mftest.calls.Echo");
  EXPECT_EQ(shown.method, "twice");
  EXPECT_EQ(shown.agent, "");
  EXPECT_TRUE(shown.peer.starts_with("tcp://127.0.0.1:")) << shown.peer;
  EXPECT_EQ(shown.identity, "");
  EXPECT_FALSE(shown.is_stream);
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.error, "");
  EXPECT_EQ(shown.dropped, 0U);
  ASSERT_TRUE(shown.request && shown.result);
  mf::codec::Reader given(shown.request->span());
  calls::EchoTwiceRequest request;
  ASSERT_TRUE(mf::codec::decode<mf::Tier::memcpy>(given, request));
  EXPECT_EQ(request.x, 21);
  mf::codec::Reader gave(shown.result->span());
  std::int32_t result = 0;
  ASSERT_TRUE(mf::codec::decode<mf::Tier::memcpy>(gave, result));
  EXPECT_EQ(result, 42);
}

TEST(Admin, ErrorsAreInWordsAndBulksItemByItem) {
  Served served;
  auto tap = served.admin->tap({}, kNoDeadline);
  served.first(tap, [&] { served.stub->twice(1); });

  EXPECT_THROW(served.stub->fail("nope"), calls::Nope);
  EXPECT_THROW(served.stub->fail("std"), mf::Error);
  const std::vector<calls::EchoAgainRequest> requests{{.x = 1}, {.x = 2}};
  EXPECT_EQ(served.stub->again_bulk(requests).size(), 2U);

  const auto declared = Served::next(tap, "fail");
  EXPECT_EQ(declared.code, static_cast<std::uint8_t>(Code::declared));
  EXPECT_TRUE(declared.error.find("Nope") != std::string::npos) << declared.error;
  EXPECT_FALSE(declared.result);
  const auto failed = Served::next(tap, "fail");
  EXPECT_EQ(failed.code, static_cast<std::uint8_t>(Code::handler_failed));
  EXPECT_TRUE(failed.error.find("boom") != std::string::npos) << failed.error;
  for (const std::int32_t x : {1, 2}) {
    const auto item = Served::next(tap, "again");
    EXPECT_EQ(item.code, 0);
    EXPECT_EQ(number_in(item.request), x);
    EXPECT_EQ(number_in(item.result), x);
  }
}

TEST(Admin, AnItemOfABulkHasItsOwnValues) {
  Served served;
  auto tap = served.admin->tap({.method = "fail"}, kNoDeadline);
  served.first(tap, [&] { (void)mf::attempt([&] { served.stub->fail("many"); }); });

  const std::vector<calls::EchoFailRequest> requests{{.how = "one"}, {.how = "nope"}, {.how = "three"}};
  EXPECT_EQ(served.stub->fail_bulk(requests).size(), 3U);

  std::vector<Tapped> items;
  while (items.size() != 3) {
    auto item = Served::next(tap, "fail");
    if (!items.empty() || text_in(item.request) == "one") items.push_back(std::move(item));
  }
  EXPECT_EQ(number_in(items[0].result), 1);
  EXPECT_EQ(text_in(items[1].request), "nope");
  EXPECT_EQ(items[1].code, static_cast<std::uint8_t>(Code::declared));
  EXPECT_FALSE(items[1].result);
  EXPECT_EQ(text_in(items[2].request), "three");
  EXPECT_EQ(number_in(items[2].result), 1);
}

TEST(Admin, ATapThatIsReadTooSlowlySaysHowManyCallsItLacks) {
  Served served;
  auto tap = served.admin->tap({.method = "again"}, kNoDeadline);
  std::int32_t made = 0;
  auto last = number_in(served.first(tap, [&] { served.stub->again(made++); }).request);
  for (int bulk = 0; bulk < 50; ++bulk) {
    std::vector<calls::EchoAgainRequest> requests(1'000);
    for (auto& request : requests) request.x = made++;
    EXPECT_EQ(served.stub->again_bulk(requests).size(), requests.size());
  }

  std::atomic<bool> enough{false};
  auto calling = std::async(std::launch::async, [&] {
    while (!enough) served.stub->again(made++);
  });
  std::uint64_t dropped = 0;
  while (dropped == 0) {
    const auto shown = tap.next().value();
    dropped = shown.dropped;
    const auto number = number_in(shown.request);
    EXPECT_EQ(number, last + 1 + static_cast<std::int32_t>(dropped));
    last = number;
  }
  enough = true;
}

TEST(Admin, ATapOfAShareIsShownAboutThatShare) {
  Served served;
  auto all = served.admin->tap({.method = "again"}, kNoDeadline);
  served.first(all, [&] { served.stub->again(0); });
  auto few = served.admin->tap({.method = "again", .sample = 0.01}, kNoDeadline);
  auto reading = std::async(std::launch::async, [&] {
    while (all.next()) {
    }
  });
  served.first(few, [&] { served.stub->again(0); });

  std::atomic<std::uint32_t> made{0};
  std::atomic<bool> enough{false};
  auto calling = std::async(std::launch::async, [&] {
    for (; !enough; ++made) served.stub->again(1);
  });
  for (int shown = 0; shown < 100; ++shown) (void)few.next().value();
  enough = true;
  calling.get();

  // Far from what another share would show: a hundred of ten thousand have a deviation of ten.
  EXPECT_GT(made, 5'000U);
  EXPECT_LT(made, 20'000U);
  all.cancel();
  EXPECT_THROW(reading.get(), mf::Error);
}

TEST(Admin, AFilterChoosesCalls) {
  Served served;
  const calls::PartClient part(*served.client);
  auto tap = served.admin->tap(
      {.service = "mftest.calls.*", .method = "name", .agent = "books", .values = false}, kNoDeadline);

  const auto shown = served.first(tap, [&] {
    served.stub->twice(1);
    part.at("maps").name();
    part.at("books").name();
  });

  EXPECT_EQ(shown.service, "mftest.calls.Part");
  EXPECT_EQ(shown.agent, "books");
  EXPECT_FALSE(shown.request || shown.result);

  auto failed = served.admin->tap({.peer = "tcp://127.*", .outcome = Outcome::failed}, kNoDeadline);
  const auto one = served.first(failed, [&] {
    served.stub->twice(1);
    (void)mf::attempt([&] { served.stub->fail("std"); });
  });
  EXPECT_EQ(one.method, "fail");
}

TEST(Admin, InterceptorsOfTheServerRunInsideOfATap) {
  const auto recorder = std::make_shared<mf::interceptors::Recorder>();
  Served served({.interceptors = {recorder}});
  auto tap = served.admin->tap({}, kNoDeadline);

  served.first(tap, [&] { served.stub->twice(1); });

  EXPECT_EQ(recorder->wait_for(1).front().code, Code::ok);
  EXPECT_EQ(recorder->open(), 0U);
}

TEST(Admin, ATapThatIsLeftIsTakenOff) {
  Served served;
  {
    auto tap = served.admin->tap({}, kNoDeadline);
    served.first(tap, [&] { served.stub->twice(1); });
  }
  std::vector<mf::StreamReader<Tapped>> taps;
  // Eight have room again, though the server may not have heard of the end of the first one yet.
  while (taps.size() < mf::server::Taps::kMost) {
    auto tap = served.admin->tap({}, kNoDeadline);
    if (mf::attempt([&] { served.first(tap, [&] { served.stub->twice(1); }); }).ok())
      taps.push_back(std::move(tap));
  }
  auto one_more = served.admin->tap({}, kNoDeadline);
  const auto refused = mf::attempt([&] { one_more.next(); });
  EXPECT_EQ(refused.failure().code, Code::overloaded);
}

TEST(Admin, TheLevelOfTheLogIsThatOfTheProcess) {
  Served served;
  EXPECT_EQ(served.admin->log_level(), Level::off);

  served.admin->set_log_level(Level::error);

  EXPECT_EQ(served.admin->log_level(), Level::error);
  EXPECT_EQ(mf::Log(mf::Level::debug).level(), mf::Level::error);
  EXPECT_EQ(mf::attempt([&] { served.admin->set_log_level(static_cast<Level>(9)); }).failure().code,
            Code::invalid_argument);
  mf::set_log_level(std::nullopt);
  EXPECT_EQ(served.admin->log_level(), Level::off);
}

TEST(Admin, DrainEndsTapsAndTheServer) {
  Served served;
  auto tap = served.admin->tap({}, kNoDeadline);
  served.first(tap, [&] { served.stub->twice(1); });

  served.admin->drain();

  while (tap.next()) {
  }
  EXPECT_TRUE(served.server.stop());  // waits for the end of what drain() has begun
  const mf::CallOptions soon{.deadline = std::chrono::milliseconds(100)};
  EXPECT_FALSE(mf::attempt([&] { served.stub->twice(1, soon); }).ok());
}

TEST(Admin, DrainEndsRun) {
  mf::Server server(quiet({}));
  server.start();
  auto running = std::async(std::launch::async, [&] { return server.run(); });
  mf::Client client(server.address().str());

  AdminClient(client).drain();

  EXPECT_TRUE(running.get());
}

TEST(Admin, AServerWhoseUserDecidesAsksForEachMethod) {
  std::atomic<bool> may{false};
  Served served({.authorize = [&](const mf::Identity&, std::string_view service, std::string_view,
                                  std::string_view) { return service != mf::server::kAdmin || may; }});

  EXPECT_EQ(mf::attempt([&] { served.admin->log_level(); }).failure().code, Code::permission_denied);
  EXPECT_EQ(served.stub->twice(1), 2);
  may = true;
  mf::Client other(served.server.address().str());
  EXPECT_TRUE(mf::attempt([&] { AdminClient(other).log_level(); }).ok());
}

}  // namespace
}  // namespace mftest::admin_test
