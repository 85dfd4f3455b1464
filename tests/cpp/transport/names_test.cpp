// A name whose look-up never ends delays no other name.
#include "mf/transport/names.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <utility>

#include "support/wait.hpp"

namespace mf::transport {
namespace {

std::promise<void> answer;
std::shared_future<void> answered = answer.get_future();
std::atomic<int> asked{0};

AddrInfoList resolve(const Address& address, int flags, std::string& problem) {
  if (address.host != "silent.test") return look_up(address, flags, problem);
  ++asked;
  answered.wait();
  return look_up(Address::parse("tcp://127.0.0.1:1"), flags, problem);
}

std::future<Names::Found> find(Names& names, const Address& address) {
  auto promise = std::make_shared<std::promise<Names::Found>>();
  auto found = promise->get_future();
  names.find(address, [promise](Names::Found result) { promise->set_value(std::move(result)); });
  return found;
}

TEST(Names, ASilentNameServerDelaysNoOtherName) {
  Names names(resolve);
  const auto silent = Address::parse("tcp://silent.test:80");
  auto first = find(names, silent);
  EXPECT_EQ(find(names, Address::parse("tcp://127.0.0.1:80")).get().addresses.size(), 1U);
  EXPECT_GE(find(names, Address::parse("tcp://localhost:80")).get().addresses.size(), 1U);
  auto second = find(names, silent);
  EXPECT_TRUE(mftest::eventually([] { return asked == 1; }));
  answer.set_value();
  EXPECT_EQ(first.get().addresses.size(), 1U);
  EXPECT_EQ(second.get().addresses.size(), 1U);
  EXPECT_EQ(asked, 1) << "callers for one name wait for the same answer";
}

TEST(Names, SaysWhyANameHasNoAddress) {
  Names names;
  EXPECT_NE(find(names, Address::parse("tcp://nobody.invalid:80")).get().problem, "");
}

}  // namespace
}  // namespace mf::transport
