// Metrics as text, and the HTTP door that serves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/monitor/door.hpp"
#include "support/http.hpp"

namespace mf::monitor {
namespace {

using mftest::asking;
using mftest::connected_to;
using mftest::sent;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Exposition, WritesFamiliesAsPrometheusReadsThem) {
  Exposition out(Format::prometheus);
  out.gauge("a_bytes", "One\nof \"two\" \\.", 1.5);
  out.family("b", Kind::counter, "Calls.");
  out.sample({{"name", "x\"\\\ny"}, {"code", "OK"}}, 7);
  EXPECT_EQ(std::move(out).text(),
            "# HELP a_bytes One\\nof \"two\" \\\\.\n# TYPE a_bytes gauge\na_bytes 1.5\n"
            "# HELP b_total Calls.\n# TYPE b_total counter\n"
            "b_total{name=\"x\\\"\\\\\\ny\",code=\"OK\"} 7\n");
}

TEST(Exposition, WritesFamiliesAsOpenMetricsNamesThem) {
  Exposition out(Format::open_metrics);
  out.counter("b", "Calls \"now\".", 7);
  EXPECT_EQ(std::move(out).text(), "# HELP b Calls \\\"now\\\".\n# TYPE b counter\nb_total 7\n# EOF\n");
}

TEST(Exposition, WritesHistogramsWithTheirBounds) {
  Exposition out(Format::prometheus);
  out.family("t_seconds", Kind::histogram, "Times.");
  const std::vector<Exposition::Bucket> buckets{{0.001, 2}, {0.25, 3}};
  out.sample({{"m", "f"}}, buckets, 4, 12.5);
  EXPECT_THAT(std::move(out).text(),
              HasSubstr("t_seconds_bucket{m=\"f\",le=\"0.001\"} 2\nt_seconds_bucket{m=\"f\",le=\"0.25\"} 3\n"
                        "t_seconds_bucket{m=\"f\",le=\"+Inf\"} 4\nt_seconds_sum{m=\"f\"} 12.5\n"
                        "t_seconds_count{m=\"f\"} 4\n"));
}

class DoorTest : public testing::Test {
 protected:
  std::string asked(const std::string& path, const std::string& rest = "Host: localhost\r\n",
                    const std::string& method = "GET") {
    return sent(door.address(), asking(path, rest, method));
  }

  std::string why;
  Door door{
      "127.0.0.1:0",
      false,
      {.expose = [](Exposition& out) { out.gauge("mine", "Mine.", 3); }, .not_ready = [this] { return why; }},
      Log(Level::off)};
};

TEST_F(DoorTest, ServesMetricsAndHealth) {
  EXPECT_THAT(asked("/livez"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked("/readyz"), StartsWith("HTTP/1.1 200 "));
  why = "it stops\n";
  const auto busy = asked("/readyz");
  EXPECT_THAT(busy, StartsWith("HTTP/1.1 503 "));
  EXPECT_TRUE(busy.ends_with("\r\n\r\nit stops\n")) << busy;
  EXPECT_THAT(asked("/livez"), StartsWith("HTTP/1.1 200 "));
  const auto metrics = asked("/metrics");
  EXPECT_THAT(metrics, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(metrics, HasSubstr("\r\n\r\n# HELP mine Mine.\n# TYPE mine gauge\nmine 3\n"));
  EXPECT_THAT(metrics, HasSubstr("\nprocess_resident_memory_bytes "));
  EXPECT_THAT(metrics, HasSubstr("\nprocess_cpu_seconds_total "));
  const auto open =
      asked("/metrics?x", "Host: 127.0.0.1:80\r\nAccept: application/openmetrics-text; version=1.0.0\r\n");
  EXPECT_THAT(open, HasSubstr("Content-Type: application/openmetrics-text"));
  EXPECT_TRUE(open.ends_with("# EOF\n"));
}

TEST_F(DoorTest, AnswersOnlyWhatItHas) {
  EXPECT_THAT(asked("/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(asked("/metrics/../../etc/passwd"), StartsWith("HTTP/1.1 404 "));
  const auto posted = asked("/metrics", "Host: localhost\r\n", "POST");
  EXPECT_THAT(posted, StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(posted, HasSubstr("Allow: GET, HEAD"));
  const auto head = asked("/metrics", "Host: localhost\r\n", "HEAD");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

// A page of a browser may name any host of its own that leads here.
TEST_F(DoorTest, AnswersOnlyRequestsForALoopbackHost) {
  for (const auto* const host :
       {"Host: evil.example\r\n", "Host: localhost.evil.example\r\n", "", "Host: \r\n"})
    EXPECT_THAT(asked("/metrics", host), StartsWith("HTTP/1.1 421 ")) << host;
  EXPECT_THAT(asked("/livez", "Host: [::1]:9464\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(DoorTest, EndsWhatIsNoRequestAndGoesOn) {
  const std::string long_header = "X: " + std::string(20'000, 'x') + "\r\n";
  EXPECT_THAT(asked("/metrics", long_header), Not(HasSubstr(" 200 ")));
  EXPECT_EQ(sent(door.address(), std::string(1'000, '\0')), "");
  EXPECT_EQ(sent(door.address(), "GET\r\n\r\n"), "");
  EXPECT_EQ(sent(door.address(),
                 "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"),
            "");
  EXPECT_THAT(asked("/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(DoorTest, KeepsAConnectionForTheNextRequest) {
  const std::string one = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto both = sent(door.address(), one + asking("/readyz"));
  EXPECT_EQ(both.find("HTTP/1.1 200 "), 0U);
  EXPECT_NE(both.find("HTTP/1.1 200 ", 1), std::string::npos);
}

TEST_F(DoorTest, HasFewConnectionsAtOnce) {
  std::vector<int> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connected_to(door.address()));
  char byte = 0;
  EXPECT_EQ(::recv(idle.back(), &byte, 1, 0), 0) << "it is closed";
  for (const int fd : idle) ::close(fd);
}

TEST(MonitorAddress, MustBeOfThisHostUnlessOpened) {
  const Source source{.expose = [](Exposition&) {}, .not_ready = [] { return std::string(); }};
  const auto why = [&](const std::string& where, bool open = false) {
    try {
      const Door door(where, open, source, Log(Level::off));
      return std::string("it listens");
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(why("0.0.0.0:0"),
            "monitor '0.0.0.0:0' is beyond this host: every program that reaches it may read it; listen at "
            "127.0.0.1, or open it");
  EXPECT_EQ(why("0.0.0.0:0", true), "it listens");
  EXPECT_EQ(why("[::1]:0"), "it listens");
  EXPECT_EQ(why("localhost:0"), "it listens");
  EXPECT_EQ(why("9464"), "monitor '9464' is no HOST:PORT");
  EXPECT_EQ(why("127.0.0.1:70000"), "monitor '127.0.0.1:70000' has no port from 0 to 65535");
  EXPECT_EQ(why("127.0.0.1:"), "monitor '127.0.0.1:' has no port from 0 to 65535");
  EXPECT_EQ(why("example.org:1"), "monitor 'example.org:1' has no IP address as its host");
  const Door door("127.0.0.1:0", false, source, Log(Level::off));
  EXPECT_THAT(why(door.address()), HasSubstr("cannot listen there: Address already in use"));
}

}  // namespace
}  // namespace mf::monitor
