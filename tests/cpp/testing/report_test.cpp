// The test of docs/testing.md, "A report of a fault becomes a test". tests/mf_tools/test_report_page.py
// compares it with that page, where REPORT is "report.rec".
#define REPORT MF_SOURCE_DIR "/tests/vectors/recordings/calls.rec"

// What follows is on the page, but for the namespace.
#include <gtest/gtest.h>
#include "mf/testing/channel.hpp"
#include "mf/testing/recorded.hpp"
#include "my_shop.hpp"
#include "shop.client.hpp"

namespace mftest::report_test {
namespace {

using namespace shop::methods;

TEST(Shop, AnswersAsInTheReport) {
  mf::testing::Channel channel(my_shop(), {.offer = {.agent = "maps"}});
  const auto client = shop::ShopClient(channel.client()).at("maps");
  mf::testing::RecordedCalls calls(REPORT, {kShopService});
  while (const auto call = calls.next()) {
    if (call->is<ShopFind>()) {
      const auto request = call->request<ShopFind>().value();
      EXPECT_EQ(client.find(request.word, request.most), call->result<ShopFind>());
    } else if (call->is<ShopItem>()) {
      const auto request = call->request<ShopItem>().value();
      EXPECT_EQ(call->code, mf::Code::declared);
      EXPECT_THROW(client.item(request.title), shop::NotFound);
    }
  }
}

}  // namespace
}  // namespace mftest::report_test
