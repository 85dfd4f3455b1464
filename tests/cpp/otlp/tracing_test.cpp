// Spans of calls, as a collector gets them by OTLP over HTTP.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/light/light.hpp"
#include "mf/otlp/exporter.hpp"
#include "mf/otlp/tracing.hpp"
#include "mf/server/server.hpp"
#include "mftest/calls.client.hpp"
#include "otlp/context.hpp"
#include "support/echo.hpp"
#include "support/forked.hpp"

namespace mftest::otlp_test {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

struct Seen {
  std::string name;
  std::string trace;
  std::string id;
  std::string parent;
  std::string state;
  std::int64_t kind = 0;
  bool failed = false;
  json::object attributes;
};

std::string text(const json::value& of) {
  return std::string(of.as_string().data(), of.as_string().size());
}

/// Takes spans at a port of this host, or takes connections and never answers.
class Collector {
 public:
  enum class Does { answers, keeps_silent, refuses };

  explicit Collector(Does does = Does::answers)
      : does_(does), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    socklen_t size = sizeof at;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    EXPECT_EQ(::listen(fd_, 16), 0);
    if (does != Does::keeps_silent) thread_ = std::thread([this] { serve(); });
  }
  ~Collector() {
    ::shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    ::close(fd_);
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  [[nodiscard]] std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::vector<Seen> spans() {
    const std::scoped_lock lock(mutex_);
    return spans_;
  }
  [[nodiscard]] std::string head() {
    const std::scoped_lock lock(mutex_);
    return head_;
  }

 private:
  void serve() {
    for (int client = 0; (client = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0; ::close(client)) {
      std::string got;
      std::size_t end = std::string::npos;
      char part[65536];
      for (ssize_t n = 0; (n = ::recv(client, part, sizeof part, 0)) > 0;) {
        got.append(part, static_cast<std::size_t>(n));
        end = got.find("\r\n\r\n");
        if (end == std::string::npos) continue;
        const auto length = got.find("Content-Length: ");
        if (got.size() >= end + 4 + std::stoul(got.substr(length + 16))) break;
      }
      if (end == std::string::npos) continue;
      take(got.substr(0, end), got.substr(end + 4));
      const std::string answer = std::string(does_ == Does::answers ? "HTTP/1.1 200 OK" : "HTTP/1.1 503 No") +
                                 "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
      (void)!::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }
  void take(const std::string& head, const std::string& body) {
    const std::scoped_lock lock(mutex_);
    head_ = head;
    const auto parsed = json::parse(body);
    for (const auto& resource : parsed.at("resourceSpans").as_array()) {
      EXPECT_EQ(text(resource.at("resource").at("attributes").at(0).at("value").at("stringValue")), "shop");
      for (const auto& scope : resource.at("scopeSpans").as_array())
        for (const auto& span : scope.at("spans").as_array()) spans_.push_back(seen(span.as_object()));
    }
  }
  static Seen seen(const json::object& span) {
    const auto optional = [&](const char* key) {
      return span.contains(key) ? text(span.at(key)) : std::string();
    };
    Seen made{.name = text(span.at("name")),
              .trace = text(span.at("traceId")),
              .id = text(span.at("spanId")),
              .parent = optional("parentSpanId"),
              .state = optional("traceState"),
              .kind = span.at("kind").as_int64(),
              .failed = span.contains("status"),
              .attributes = {}};
    for (const auto& each : span.at("attributes").as_array())
      made.attributes[each.at("key").as_string()] = each.at("value").as_object().begin()->value();
    EXPECT_LE(std::stoull(text(span.at("startTimeUnixNano"))), std::stoull(text(span.at("endTimeUnixNano"))));
    return made;
  }

  const Does does_;
  const int fd_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::string head_;
  std::vector<Seen> spans_;
  std::thread thread_;
};

std::shared_ptr<mf::otlp::Exporter> exporter_to(const std::string& endpoint, std::size_t most = 4096) {
  return std::make_shared<mf::otlp::Exporter>(mf::otlp::ExporterOptions{.endpoint = endpoint,
                                                                        .service = "shop",
                                                                        .most_queued = most,
                                                                        .every = 50ms,
                                                                        .timeout = 500ms,
                                                                        .log = mf::Log(mf::Level::off)});
}

/// Calls the other service while it runs.
struct Around final : Part {
  explicit Around(calls::OtherClient to) : Part("a"), inner(std::move(to)) {}
  std::string name() override { return inner->name(); }
  std::optional<calls::OtherClient> inner;
};

const Seen& of(const std::vector<Seen>& spans, std::string_view name, std::int64_t kind) {
  for (const auto& each : spans)
    if (each.name == name && each.kind == kind) return each;
  ADD_FAILURE() << "no span " << name << " of kind " << kind;
  return spans.front();
}

/// A tree of four spans: of the caller, of the handler that it calls, of that one's call, and of its handler.
void expect_tree(const std::vector<Seen>& spans) {
  ASSERT_EQ(spans.size(), 4U);
  const auto& outer_client = of(spans, "mftest.calls.Part/name", 3);
  const auto& outer_server = of(spans, "mftest.calls.Part/name", 2);
  const auto& inner_client = of(spans, "mftest.calls.Other/name", 3);
  const auto& inner_server = of(spans, "mftest.calls.Other/name", 2);
  EXPECT_EQ(outer_client.parent, "");
  EXPECT_EQ(outer_server.parent, outer_client.id);
  EXPECT_EQ(inner_client.parent, outer_server.id);
  EXPECT_EQ(inner_server.parent, inner_client.id);
  for (const auto& each : spans) EXPECT_EQ(each.trace, outer_client.trace);
}

TEST(Tracing, NestedCallsAreATreeOfSpans) {
  Collector collector;
  const auto exporter = exporter_to(collector.endpoint());
  const auto tracing = std::make_shared<mf::otlp::Tracing>(exporter);
  mf::Server inner({.interceptors = {tracing}});
  inner.offer(std::make_shared<Other>("inner"));
  inner.start();
  mf::Client nested(inner.address().str(), {.interceptors = {tracing}});
  mf::Server outer({.interceptors = {tracing}});
  outer.offer(std::make_shared<Around>(calls::OtherClient(nested)), {.agent = "a"});
  outer.start();
  mf::Client client(outer.address().str(), {.interceptors = {tracing}});

  EXPECT_EQ(calls::PartClient(client).at("a").name(), "inner");
  outer.stop();
  inner.stop();
  exporter->flush();

  const auto spans = collector.spans();
  expect_tree(spans);
  const auto& served = of(spans, "mftest.calls.Part/name", 2);
  EXPECT_EQ(text(served.attributes.at("rpc.system.name")), "mf");
  EXPECT_EQ(text(served.attributes.at("rpc.method")), "mftest.calls.Part/name");
  EXPECT_EQ(text(served.attributes.at("rpc.response.status_code")), "OK");
  EXPECT_EQ(text(served.attributes.at("mf.agent")), "a");
  const auto& called = of(spans, "mftest.calls.Part/name", 3);
  EXPECT_EQ(text(called.attributes.at("network.peer.address")), outer.address().str());
  EXPECT_EQ(text(called.attributes.at("mf.attempts")), "1");
  EXPECT_TRUE(collector.head().starts_with("POST /v1/traces HTTP/1.1")) << collector.head();
  EXPECT_EQ(exporter->sent(), 4U);
  EXPECT_EQ(exporter->dropped(), 0U);
}

TEST(Tracing, NestedCallsInLightAreATreeToo) {
  Collector collector;
  const auto exporter = exporter_to(collector.endpoint());
  const auto tracing = std::make_shared<mf::otlp::Tracing>(exporter);
  mf::Light light(mf::Log(), {tracing});
  mf::Client client(light, {.interceptors = {tracing}});
  light.offer(std::make_shared<Other>("inner"));
  const auto around = std::make_shared<Around>(calls::OtherClient(client));
  light.offer(around, {.agent = "a"});

  EXPECT_EQ(calls::PartClient(client).at("a").name(), "inner");
  around->inner.reset();  // it keeps the light, which keeps the servant
  exporter->flush();

  expect_tree(collector.spans());
}

TEST(Tracing, AContextThatCameIsContinued) {
  Collector collector;
  const auto exporter = exporter_to(collector.endpoint());
  mf::Light light(mf::Log(),
                  {std::make_shared<mf::otlp::Tracing>(exporter, mf::otlp::TracingOptions{.sampled = 0})});
  light.offer(std::make_shared<Echo>());
  mf::Client client(light);
  const calls::EchoClient echo(client);
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";

  (void)echo.twice(
      1, {.metadata = {{"traceparent", "00-" + trace + "-b7ad6b7169203331-01"}, {"tracestate", "a=b"}}});
  (void)echo.twice(2, {.metadata = {{"traceparent", "00-" + trace + "-b7ad6b7169203331-00"}}});
  (void)echo.twice(3);
  exporter->flush();

  const auto spans = collector.spans();
  ASSERT_EQ(spans.size(), 1U);  // of what says that it is sampled
  EXPECT_EQ(spans[0].trace, trace);
  EXPECT_EQ(spans[0].parent, "b7ad6b7169203331");
  EXPECT_EQ(spans[0].state, "a=b");
}

TEST(Tracing, AFailureMarksItsSpan) {
  Collector collector;
  const auto exporter = exporter_to(collector.endpoint());
  mf::Light light{mf::Log(mf::Level::off)};
  light.offer(std::make_shared<Echo>());
  mf::Client client(light, {.interceptors = {std::make_shared<mf::otlp::Tracing>(exporter)}});
  const calls::EchoClient echo(client);

  EXPECT_FALSE(mf::attempt([&] { return echo.fail("std"); }).ok());
  EXPECT_FALSE(mf::attempt([&] { return echo.fail("nope"); }).ok());
  exporter->flush();

  const auto spans = collector.spans();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_TRUE(spans[0].failed);
  EXPECT_EQ(text(spans[0].attributes.at("error.type")), "HANDLER_FAILED");
  EXPECT_FALSE(spans[1].failed);  // a declared error is an answer
  EXPECT_EQ(text(spans[1].attributes.at("rpc.response.status_code")), "DECLARED");
}

mf::otlp::Span a_span() {
  return {
      .trace_id = mf::otlp::random_id(32), .span_id = mf::otlp::random_id(16), .parent_id = "", .name = "x"};
}

TEST(Exporter, WhatFindsNoRoomIsDroppedAndCounted) {
  Collector silent(Collector::Does::keeps_silent);
  const auto exporter = exporter_to(silent.endpoint(), 2);

  EXPECT_TRUE(exporter->add(a_span()));
  for (int i = 0; i < 10; ++i) (void)exporter->add(a_span());

  EXPECT_GE(exporter->dropped(), 7U);
  exporter->flush();
  EXPECT_EQ(exporter->sent(), 0U);
}

TEST(Exporter, ACollectorThatRefusesOrIsNotThereCostsSpansAlone) {
  Collector refusing(Collector::Does::refuses);
  for (const auto& endpoint : {refusing.endpoint(), std::string("http://127.0.0.1:1/v1/traces")}) {
    const auto exporter = exporter_to(endpoint);
    EXPECT_TRUE(exporter->add(a_span()));
    exporter->flush();
    EXPECT_EQ(exporter->sent(), 0U);
    EXPECT_EQ(exporter->dropped(), 1U);
  }
}

TEST(Exporter, AForkedChildDropsSpansUnlessItMakesItsOwn) {
  Collector refusing(Collector::Does::refuses);
  auto exporter = exporter_to(refusing.endpoint());
  EXPECT_TRUE(exporter->add(a_span()));

  EXPECT_TRUE(holds_in_a_child([&] {
    const bool taken = exporter->add(a_span());
    exporter->flush();
    const bool dropped = exporter->dropped() != 0 && exporter->sent() == 0;
    exporter.reset();
    Collector collector;
    const auto own = exporter_to(collector.endpoint());
    const bool own_taken = own->add(a_span());
    own->flush();
    return !taken && dropped && own_taken && own->sent() == 1;
  }));

  exporter->flush();
  EXPECT_EQ(exporter->dropped(), 1U);  // that of the parent
}

TEST(Exporter, EndpointsThatAreNoneAreRefused) {
  for (const char* endpoint :
       {"", "127.0.0.1:4318", "https://collector", "http://", "http://host:0", "http://host:x"})
    EXPECT_THROW(mf::otlp::Exporter({.endpoint = endpoint}), mf::Error) << endpoint;
  EXPECT_THROW(mf::otlp::Tracing(nullptr), mf::Error);
}

TEST(TraceContext, OnlyAValidOneIsRead) {
  const std::string valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  ASSERT_TRUE(mf::otlp::read_traceparent(valid));
  EXPECT_EQ(mf::otlp::traceparent_of(*mf::otlp::read_traceparent(valid)), valid);
  EXPECT_TRUE(mf::otlp::read_traceparent("01" + valid.substr(2) + "-more"));
  const std::vector<std::string> all{"",
                                     "ff" + valid.substr(2),
                                     valid + "-more",
                                     "01" + valid.substr(2) + "more",
                                     "00-" + std::string(32, '0') + valid.substr(35),
                                     valid.substr(0, 36) + std::string(16, '0') + "-01",
                                     "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"};
  for (const auto& wrong : all) EXPECT_FALSE(mf::otlp::read_traceparent(wrong)) << wrong;
}

}  // namespace
}  // namespace mftest::otlp_test
