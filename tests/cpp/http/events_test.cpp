#include "http/events.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace mftest::events_test {
namespace {

using namespace mf;
using namespace mf::http;
using namespace std::chrono_literals;

controller::Instance instance() {
  controller::Instance made;
  made.offer.key = {controller::KeyKind::topic, "shop.News", "b\"\\\n"};
  made.offer.addresses = {"tcp://h:1", "unix:/x"};
  made.offer.fingerprint.bytes[15] = 0xab;
  made.offer.labels = {{"a\"", "<img src=x onerror=alert(1)>"}};
  made.process = "\xc3\xbc\x01";
  made.identity = "dns:a.example";
  made.verified = true;
  return made;
}

const auto kId = controller::shown_id(Uuid());

TEST(Events, ARowHasAllThatAnOfferIs) {
  EXPECT_EQ(row_of(instance()),
            R"({"id":")" + kId +
                R"(","process":"ü\u0001","identity":"dns:a.example","verified":true,"kind":"topic",)"
                R"("name":"shop.News","agent":"b\"\\\n","addresses":["tcp://h:1","unix:/x"],)"
                R"("schema":"000000000000000000000000000000ab","weight":1,)"
                R"("labels":{"a\"":"<img src=x onerror=alert(1)>"},"alone":false})");
}

TEST(Events, AnEmptyRowHasNoSchema) {
  EXPECT_EQ(row_of({}),
            R"({"id":")" + kId +
                R"(","process":"","identity":"","verified":false,"kind":"service","name":"","agent":"",)"
                R"("addresses":[],"schema":"","weight":1,"labels":{},"alone":false})");
}

TEST(Events, AStepSaysWhatCameOrLeft) {
  const controller::Step step{.revision = 7,
                              .at = controller::WallTime(1500ms),
                              .came = false,
                              .instance = std::make_shared<controller::Instance>(instance())};
  EXPECT_EQ(step_of(step),
            R"({"number":7,"at":1.500,"what":"left","id":")" + kId +
                R"(","process":"ü\u0001","kind":"topic","name":"shop.News","agent":"b\"\\\n"})");
}

TEST(Events, TextThatIsNoUtf8BecomesMarks) {
  const auto json = denial_of(
      {.number = 1, .peer = "tcp://h:1", .identity = "none", .action = "register", .object = "\xff"});
  EXPECT_NE(json.find(R"("object":"\u00ff)"), 0U);
  EXPECT_EQ(json.find('\xff'), std::string::npos);
}

TEST(Events, AnEventIsOneLineOfData) {
  EXPECT_EQ(event_of("all", "{}"), "event: all\ndata: {}\n\n");
  EXPECT_EQ(row_of(instance()).find('\n'), std::string::npos);
  EXPECT_EQ(facts_of({}, "mf://h:1\n").find('\n'), std::string::npos);
}

}  // namespace
}  // namespace mftest::events_test
