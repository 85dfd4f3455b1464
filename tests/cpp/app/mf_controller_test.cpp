// mf-controller as a process: what it prints, how it ends, and that it does its work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/child.hpp"
#include "mf/controller/controller_registrar.hpp"
#include "mf/controller/controller_resolver.hpp"

namespace mf::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Child controller_at(const std::string& listen) {
  return Child({MF_CONTROLLER, "--listen", listen, "--store", "memory:", "--log-level", "warning"});
}

TEST(MfController, SaysItsVersion) {
  Child child({MF_CONTROLLER, "--version"});
  EXPECT_THAT(child.all_output(), StartsWith("mf-controller "));
  EXPECT_EQ(child.wait(), 0);
}

TEST(MfController, EndsWithTwoAndAUsageLineForAWrongOption) {
  for (const char* wrong : {"--listn", "--log-level=loud", "--max-connections=none"}) {
    Child child({MF_CONTROLLER, wrong});
    EXPECT_THAT(child.all_errors(), HasSubstr("\nusage: mf-controller [OPTIONS]"));
    EXPECT_EQ(child.wait(), 2);
  }
}

TEST(MfController, ServesAtTheAddressThatItPrints) {
  Child child = controller_at("tcp://127.0.0.1:0");
  const Address address = Address::parse(child.line());
  EXPECT_EQ(address.scheme, "mf");
  EXPECT_NE(address.port, 0);

  controller::ControllerRegistrar server({address}, draw_process_identity());
  server.announce({{.service = "Index", .agent = "books"}}, {Address::parse("tcp://127.0.0.1:1")});
  controller::ControllerResolver resolver({address});
  const auto until = std::chrono::steady_clock::now() + Child::kPatience;
  auto offers = resolver.offers("Index");
  while (offers->agents.empty() && std::chrono::steady_clock::now() < until)
    offers = resolver.wait_for_change("Index", offers, until);
  ASSERT_TRUE(offers->agents.contains("books"));

  // It stops although streams of the server and the client are open.
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(MfController, EndsWellByEitherSignal) {
  for (const int number : {SIGTERM, SIGINT}) {
    Child child = controller_at("tcp://127.0.0.1:0");
    EXPECT_THAT(child.line(), StartsWith("mf://127.0.0.1:"));
    child.signal(number);
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(child.all_errors(), "");
  }
}

TEST(MfController, ServesOnAfterSighup) {
  Child child = controller_at("tcp://127.0.0.1:0");
  const Address address = Address::parse(child.line());
  for (int i = 0; i < 3; ++i) child.signal(SIGHUP);
  controller::ControllerRegistrar server({address}, draw_process_identity());
  server.announce({{.service = "Index", .agent = "books"}}, {Address::parse("tcp://127.0.0.1:1")});
  controller::ControllerResolver resolver({address});
  const auto offers = resolver.offers("Index");
  EXPECT_TRUE(resolver.wait_for_change("Index", offers, std::chrono::steady_clock::now() + Child::kPatience)
                  ->answered);
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
}

TEST(MfController, SaysInOneSentenceThatAPortIsTaken) {
  Child first = controller_at("tcp://127.0.0.1:0");
  const std::string address = first.line();
  Child second = controller_at(address);  // mf:// is understood as well
  EXPECT_EQ(second.wait(), 1);
  const std::string errors = second.all_errors();
  EXPECT_THAT(errors, testing::AllOf(StartsWith("mf-controller: "), HasSubstr("taken"),
                                     HasSubstr(address.substr(5))));
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1);
}

TEST(MfController, SaysWhatIsWrongWithAnAddressOrAnOption) {
  Child address = controller_at("nonsense");
  EXPECT_EQ(address.wait(), 1);
  EXPECT_THAT(address.all_errors(), HasSubstr("nonsense"));
  Child option({MF_CONTROLLER, "--lisen", "tcp://127.0.0.1:0"});
  EXPECT_NE(option.wait().value_or(0), 0);
}

TEST(MfController, ServesItsMonitorBeyondThisHostOnlyIfOpened) {
  Child child(
      {MF_CONTROLLER, "--listen", "tcp://127.0.0.1:0", "--store", "memory:", "--monitor", "0.0.0.0:0"});
  EXPECT_EQ(child.wait(), 1);
  EXPECT_THAT(child.all_errors(), HasSubstr("every program that reaches it may read it"));
}

TEST(MfController, WarnsWhoListensToTheWholeNetwork) {
  Child child({MF_CONTROLLER, "--listen", "tcp://0.0.0.0:0", "--open"});
  EXPECT_THAT(child.line(), StartsWith("mf://"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_THAT(child.all_errors(), HasSubstr("open_to_the_network"));
}

}  // namespace
}  // namespace mf::app
