// A client automatically uses the unix socket of a server on its own host, and of no other server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "client/fake_resolver.hpp"
#include "mf/controller/controller.hpp"
#include "support/joined.hpp"

namespace mftest::nearest_test {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

struct WhoCalls final : Other {
  std::string name() override { return std::string(mf::current_call().peer); }
};

class Nearest : public testing::Test {
 protected:
  ~Nearest() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::string local() const { return "unix:" + path_.string(); }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / ("mf-nearest-" + std::to_string(::getpid()));
};

TEST_F(Nearest, IsTheUnixSocketThatTheServerRegistered) {
  const auto servant = std::make_shared<mf::controller::Controller>(
      mf::controller::ControllerOptions{.log = mf::Log(mf::Level::off)});
  mf::Server controller;
  controller.offer(servant, {.where = mf::Where::io_thread});
  controller.start();
  auto at = controller.address();
  at.scheme = "mf";
  mf::Server server({.listen = "tcp://127.0.0.1:0," + local(), .controller = at.str()});
  server.offer(std::make_shared<WhoCalls>());
  server.start();
  {
    mf::Client client(at.str());
    EXPECT_THAT(calls::OtherClient(client).name({.deadline = 20s}), StartsWith(local()));
  }
  std::filesystem::remove(path_);  // as if the server were on another host
  {
    mf::Client client(at.str());
    EXPECT_THAT(calls::OtherClient(client).name({.deadline = 20s}), StartsWith("tcp://127.0.0.1:"));
  }
  servant->close();
  server.stop();
  controller.stop();
}

TEST_F(Nearest, IsNotWaitedForLongerThanAMoment) {
  const mf::transport::Listener silent(mf::Address::parse(local()));
  mf::Server wanted;
  wanted.offer(std::make_shared<WhoCalls>());
  wanted.start();
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""].push_back({.address = wanted.address(), .local = silent.address(), .nonce = {}});
  resolver->set(offers);
  mf::Client client(resolver, {.connect_timeout = 60s});
  EXPECT_THAT(calls::OtherClient(client).name({.deadline = 20s}), StartsWith("tcp://127.0.0.1:"));
}

TEST_F(Nearest, IsNotTheSocketOfAnotherServerAtThatPath) {
  mf::Server wanted;
  wanted.offer(std::make_shared<WhoCalls>());
  wanted.start();
  const Served another(mf::Where::worker, {.listen = local()});
  const auto resolver = std::make_shared<FakeResolver>();
  auto offers = answered();
  offers.agents[""].push_back({.address = wanted.address(), .local = another.server.address(), .nonce = {}});
  resolver->set(offers);
  mf::Client client(resolver);
  EXPECT_THAT(calls::OtherClient(client).name(), StartsWith("tcp://127.0.0.1:"));
}

}  // namespace
}  // namespace mftest::nearest_test
