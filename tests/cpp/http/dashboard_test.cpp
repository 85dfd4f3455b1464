// The dashboard of a controller over real sockets: which requests it answers, which it refuses, and what it
// sends.
#include "mf/http/dashboard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "mf/client/client.hpp"
#include "mf/controller.client.hpp"
#include "mf/controller/controller.hpp"
#include "mf/core/error.hpp"
#include "mf/monitor/exposition.hpp"
#include "mf/server/gatekeeper.hpp"
#include "mf/server/server.hpp"
#include "support/folder.hpp"
#include "support/http.hpp"

namespace mf::http {
namespace {

using mftest::asking;
using mftest::connected_to;
using mftest::sent;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A controller with a dashboard, and perhaps an access file.
class DashboardTest : public testing::Test {
 protected:
  void start(const std::string& rules = {}) {
    ServerOptions options;
    options.listen = "tcp://127.0.0.1:0";
    options.log = Log(Level::off);
    controller::ControllerOptions with;
    with.log = Log(Level::off);
    if (!rules.empty()) {
      const auto path = (folder_.path() / "access").string();
      std::ofstream(path) << rules;
      ::chmod(path.c_str(), 0600);
      options.access = path;
      with.access = options.access;
    }
    controller_ = std::make_shared<controller::Controller>(with);
    server_ = std::make_unique<Server>(options);
    server_->offer(controller_, {.where = Where::io_thread});
    server_->start();
    dashboard_ = std::make_unique<Dashboard>(
        DashboardOptions{
            .listen = "127.0.0.1:0", .names = {"desk.example"}, .where = "mf://here", .log = Log(Level::off)},
        controller_, server_->gatekeeper());
  }
  ~DashboardTest() override {
    dashboard_.reset();
    controller_->close();
  }

  std::string asked(const std::string& path, const std::string& rest = "Host: localhost\r\n",
                    const std::string& method = "GET") {
    return sent(dashboard_->address(), asking(path, rest, method));
  }

  mftest::Folder folder_;
  std::shared_ptr<controller::Controller> controller_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Dashboard> dashboard_;
};

/// What comes of the events until this text is there.
class Reader {
 public:
  explicit Reader(const std::string& address) : fd_(connected_to(address)) {
    const auto request = asking("/events");
    (void)::send(fd_, request.data(), request.size(), MSG_NOSIGNAL);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { ::close(fd_); }

  std::string until(const std::string& text) {
    char part[4096];
    for (std::size_t from = 0; all_.find(text, from) == std::string::npos;) {
      from = all_.size() - std::min(all_.size(), text.size());
      const auto got = ::recv(fd_, part, sizeof part, 0);
      if (got <= 0) return all_ + " and then its end";
      all_.append(part, static_cast<std::size_t>(got));
    }
    return all_;
  }

 private:
  int fd_;
  std::string all_;
};

TEST_F(DashboardTest, ThePageNeedsNoRightAndItsEventsDo) {
  start("allow dns:ops.example list\n");
  EXPECT_THAT(asked("/"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked("/model.js"), HasSubstr("class Model"));
  const auto refused = asked("/events");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(refused, HasSubstr("a client without an identity may not list what is registered"));
  EXPECT_THAT(asked("/events", "Host: localhost\r\nAuthorization: Bearer v4.public.x\r\n"),
              StartsWith("HTTP/1.1 401 "));
}

TEST_F(DashboardTest, OtherHostsOriginsMethodsAndPathsAreRefused) {
  start();
  EXPECT_THAT(asked("/", "Host: desk.example:80\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked("/", "Host: evil.example\r\n"), StartsWith("HTTP/1.1 421 "));
  EXPECT_THAT(asked("/events", "Host: evil.example\r\n"), HasSubstr("--dashboard-name"));
  EXPECT_THAT(asked("/events", "Host: localhost\r\nOrigin: https://evil.example\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(asked("/events", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"),
              StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(asked("/", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(asked("/events", "Host: localhost\r\n", "POST"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(asked("/openapi.json"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(asked("/"), HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'"));
}

TEST_F(DashboardTest, APageGetsEverythingAndThenWhatChanges) {
  start();
  Reader page(dashboard_->address());
  const auto all = page.until("event: all\n");
  EXPECT_THAT(all, HasSubstr("Content-Type: text/event-stream"));
  EXPECT_THAT(page.until("\"where\":\"mf://here\""), HasSubstr("\"rows\":[]"));
  ServerOptions options;
  options.listen = "tcp://127.0.0.1:0";
  options.log = Log(Level::off);
  options.controller = "mf://127.0.0.1:" + std::to_string(server_->address().port);
  auto other = std::make_unique<Server>(options);
  other->offer(std::make_shared<controller::Controller>(
      controller::ControllerOptions{.own_thread = false, .log = Log(Level::off)}));
  other->start();
  EXPECT_THAT(page.until("\"what\":\"came\""), HasSubstr("event: change\n"));
  EXPECT_THAT(page.until("\"name\":\"mf.controller.Controller\""), Not(HasSubstr("its end")));
  other.reset();
  EXPECT_THAT(page.until("\"what\":\"left\""), HasSubstr("\"gone\":["));
}

/// Longer in JSON than 16 MiB.
TEST_F(DashboardTest, RowsWithLongLabelsAreCountedAndNotSent) {
  constexpr std::size_t kOffers = 240;
  start();
  Client client(server_->address().str());
  controller::ControllerClient stub(client);
  const controller::Credential who{.nonce = Uuid{.bytes = {1}}, .secret = Uuid{.bytes = {2}}};
  std::vector<controller::Offer> offers(kOffers);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    offers[i].key = {.kind = controller::KeyKind::service, .name = "Long", .agent = std::to_string(i)};
    offers[i].addresses = {"tcp://127.0.0.1:1"};
    for (int label = 0; label < 16; ++label)
      offers[i].labels.emplace(std::to_string(label), std::string(1'024, '\1'));
  }
  auto stands = stub.register_(who, "p", offers, CallOptions{.deadline = kInfinite});
  ASSERT_TRUE(stands.next());
  Reader page(dashboard_->address());
  const auto all = page.until("\"monitors\":");
  const auto marked = all.find("\"left_out\":");
  ASSERT_NE(marked, std::string::npos);
  const auto left_out = std::stoul(all.substr(marked + 11));
  std::size_t sent_rows = 0;
  const std::string row = "\"process\":\"p\"";
  for (auto at = all.find(row); at < marked; at = all.find(row, at + 1)) ++sent_rows;
  EXPECT_GT(left_out, 0U);
  EXPECT_LT(all.size(), std::size_t{18} << 20U);
  EXPECT_EQ(sent_rows + left_out, kOffers + 0U);
}

TEST_F(DashboardTest, SixteenPagesFollowAndOneMoreIsRefused) {
  start();
  std::vector<std::unique_ptr<Reader>> pages;
  for (int i = 0; i < 16; ++i) {
    pages.push_back(std::make_unique<Reader>(dashboard_->address()));
    EXPECT_THAT(pages.back()->until("event: all\n"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_THAT(asked("/events"), StartsWith("HTTP/1.1 503 "));
  monitor::Exposition out(monitor::Format::prometheus);
  dashboard_->expose(out);
  EXPECT_THAT(std::move(out).text(), HasSubstr("\nmf_controller_dashboard_pages 16\n"));
}

TEST(Dashboard, IsNotServedBeyondItsHostToThoseItDoesNotKnow) {
  const auto refusal = [](DashboardOptions options) -> std::string {
    try {
      check(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      return error.message();
    }
    return {};
  };
  EXPECT_EQ(refusal({.listen = "127.0.0.1:0"}), "");
  EXPECT_EQ(refusal({.listen = "localhost:0"}), "");
  EXPECT_EQ(refusal({.listen = "[::1]:0"}), "");
  EXPECT_THAT(refusal({.listen = "0.0.0.0:0"}), HasSubstr("to every program that reaches it"));
  EXPECT_THAT(refusal({.listen = "http://0.0.0.0:0", .knows_clients = true}),
              HasSubstr("to every program that reaches it"));
  EXPECT_THAT(refusal({.listen = "0.0.0.0:0", .knows_clients = true}),
              HasSubstr("needs --certificate and --key"));
  EXPECT_THAT(refusal({.listen = "127.0.0.1"}), HasSubstr("has no port"));
  EXPECT_THAT(refusal({.listen = "127.0.0.1:0", .names = {"a:80"}}),
              HasSubstr("neither a port nor a scheme"));
  EXPECT_TRUE(is_over_tls({.listen = "10.0.0.1:7480"}));
  EXPECT_FALSE(is_over_tls({.listen = "127.0.0.1:7480"}));
}

}  // namespace
}  // namespace mf::http
