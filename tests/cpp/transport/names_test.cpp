// A name whose look-up never ends delays neither other names nor callers without time.
#include "mf/transport/names.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "support/wait.hpp"

namespace mf::transport {
namespace {

using namespace std::chrono_literals;

std::promise<void> answer;
std::shared_future<void> answered = answer.get_future();
std::atomic<int> asked{0};

AddrInfoList resolve(const Address& address, int flags, std::string& problem) {
  if (address.host != "silent.test") return look_up(address, flags, problem);
  ++asked;
  answered.wait();
  return look_up(Address::parse("tcp://127.0.0.1:1"), flags, problem);
}

TimePoint in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(Names, ASilentNameServerDelaysNobodyWhoHasSomethingElseToDo) {
  Names names(resolve);
  const auto silent = Address::parse("tcp://silent.test:80");
  EXPECT_EQ(names.find(silent, in(10ms), {}).problem, "no answer in time");
  std::stop_source source;
  auto waiting =
      std::async(std::launch::async, [&] { return names.find(silent, in(60s), source.get_token()).problem; });
  EXPECT_EQ(names.find(Address::parse("tcp://127.0.0.1:80"), in(60s), {}).addresses.size(), 1U);
  EXPECT_GE(names.find(Address::parse("tcp://localhost:80"), in(60s), {}).addresses.size(), 1U);
  source.request_stop();
  EXPECT_EQ(waiting.get(), "the client was closed");
  EXPECT_EQ(asked, 1) << "those who ask for the same name wait for the same answer";
  auto patient = std::async(std::launch::async, [&] { return names.find(silent, in(60s), {}); });
  answer.set_value();
  EXPECT_EQ(patient.get().addresses.size(), 1U);
}

TEST(Names, SaysWhyANameHasNoAddress) {
  Names names;
  EXPECT_NE(names.find(Address::parse("tcp://nobody.invalid:80"), in(60s), {}).problem, "");
}

}  // namespace
}  // namespace mf::transport
