#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mf/testing/channel.hpp"
#include "mf/testing/clock.hpp"
#include "mf/testing/controller.hpp"
#include "mf/testing/script.hpp"
#include "till.hpp"

namespace {

using namespace std::chrono_literals;
using mf::testing::Channel;
using mf::testing::Operation;
using shop::methods::PricesPrice;
using testing::ElementsAre;

/// Tea costs 3, cake costs 5, and nothing else is sold.
std::shared_ptr<mf::Servant> prices(mf::testing::Recorder* recorder = nullptr) {
  auto script = std::make_shared<mf::testing::Script<shop::methods::PricesMethod>>(recorder);
  script->on<PricesPrice>([](const shop::PricesPriceRequest& request) -> std::uint32_t {
    if (request.item == "tea") return 3;
    if (request.item == "cake") return 5;
    throw shop::NotSold(request.item);
  });
  return script;
}

TEST(Till, AsksForEachPriceInOrder) {
  mf::testing::Recorder recorder;
  Channel known(prices(&recorder));
  Channel till(std::make_shared<Till>(known.client()));
  EXPECT_EQ(shop::TillClient(till.client()).total({"tea", "cake", "tea"}), 11U);
  std::vector<std::string> asked;
  for (const auto& call : recorder.calls()) asked.push_back(call.request<PricesPrice>().item);
  EXPECT_THAT(asked, ElementsAre("tea", "cake", "tea"));
}

TEST(Till, SaysWhatIsNotSold) {
  Channel known(prices());
  Channel till(std::make_shared<Till>(known.client()));
  EXPECT_THROW(shop::TillClient(till.client()).total({"tea", "ship"}), shop::NotSold);
}

TEST(Till, TakesTheLastPriceWhenAReplyIsLost) {
  mf::testing::FakeClock clock;  // first: everything below lives by it
  Channel known(prices());
  Channel till(std::make_shared<Till>(known.client()));
  const shop::TillClient client(till.client());
  EXPECT_EQ(client.total({"tea"}), 3U);
  known.faults().drop(Operation::reply, 1, 2s);  // and two seconds pass
  EXPECT_EQ(client.total({"tea"}), 3U);
  EXPECT_EQ(known.faults().seen(Operation::reply), 2U);
}

TEST(Till, GoesOnWithAnotherServerOfPrices) {
  mf::testing::FakeController controller;
  auto client = controller.client();
  Channel till(std::make_shared<Till>(client));
  const shop::TillClient customer(till.client());
  const auto first = controller.serve(prices());
  EXPECT_EQ(customer.total({"tea"}), 3U);
  controller.stop(first);
  controller.serve(prices());
  EXPECT_EQ(customer.total({"cake"}), 5U);
}

}  // namespace
