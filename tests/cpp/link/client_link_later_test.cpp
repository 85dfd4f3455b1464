// ClientLink without waiting threads: opening, binding, requesting a description, and notification of the
// end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <optional>

#include "link/client_link_fixture.hpp"

namespace mf::link::test {
namespace {

using mftest::eventually;
using testing::HasSubstr;

using Link = std::shared_ptr<ClientLink>;

/// A result that is reported once, on the reactor's thread.
template <class T>
class Told {
 public:
  auto teller() {
    return [this](auto&& what) { promise_.set_value(std::forward<decltype(what)>(what)); };
  }
  T get() { return promise_.get_future().get(); }

 private:
  std::promise<T> promise_;
};

struct Later : testing::Test {
  Later() {
    auto [left, right] = transport::make_inproc_pair();
    peer = std::make_unique<Peer>(protocol::Role::server, std::move(left));
    stream = std::move(right);
  }
  ~Later() override {
    if (link) link->close("the test is over");
    reactor->stop();
  }
  void open(TimePoint until = soon()) {
    link = ClientLink::open(std::move(stream), {}, reactor, until, {}, opened.teller());
  }
  void greeted() {
    open();
    peer->greet();
    ASSERT_TRUE(opened.get().ok());
  }

  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  std::unique_ptr<Peer> peer;
  std::unique_ptr<transport::Stream> stream;
  Link link;
  Told<Outcome<Link>> opened;
  Told<Outcome<std::shared_ptr<Binding>>> bound;
};

TEST_F(Later, ALinkIsOpenWhenTheServerHasAnswered) {
  open();
  peer->greet();
  const auto result = opened.get();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.value(), link);
  EXPECT_TRUE(link->usable());
}

TEST_F(Later, AServerThatDoesNotAnswerIsGivenUpAtTheDeadline) {
  open(mf::now() + std::chrono::milliseconds(20));
  const auto result = opened.get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().code, Code::unavailable);
  EXPECT_EQ(result.failure().execution, Execution::not_executed);
  EXPECT_THAT(result.failure().message, HasSubstr("is it an MF server?"));
  EXPECT_TRUE(link->broken());
}

TEST_F(Later, AServerThatGoesInsteadOfAnsweringIsNamed) {
  open();
  peer->close();
  const auto result = opened.get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().execution, Execution::not_executed);
}

TEST_F(Later, ABindingIsGivenWhenItIsBoundAndAtOnceTheSecondTime) {
  greeted();
  link->bind(kService, "x", soon(), {}, bound.teller());
  const auto asked = peer->next(EventType::bind);
  peer->session.send_bound(asked.header.route);
  peer->flush();
  const auto first = bound.get();
  ASSERT_TRUE(first.ok());
  Told<Outcome<std::shared_ptr<Binding>>> again;
  link->bind(kService, "x", soon(), {}, again.teller());
  const auto second = again.get();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second.value(), first.value());
}

TEST_F(Later, ARefusalIsGivenAsItIs) {
  greeted();
  link->bind(kService, "x", soon(), {}, bound.teller());
  const auto asked = peer->next(EventType::bind);
  peer->session.send_bound(asked.header.route, Code::schema_mismatch, "they differ");
  peer->flush();
  const auto result = bound.get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().code, Code::schema_mismatch);
  EXPECT_THAT(result.failure().message, HasSubstr("they differ"));
}

TEST_F(Later, ABindingThatIsNotAnsweredEndsAtItsDeadlineOrWithTheLink) {
  greeted();
  link->bind(kService, "x", mf::now() + std::chrono::milliseconds(20), {}, bound.teller());
  EXPECT_EQ(bound.get().failure().code, Code::deadline_exceeded);
  Told<Outcome<std::shared_ptr<Binding>>> lost;
  link->bind(kService, "x", soon(), {}, lost.teller());
  peer->close();
  EXPECT_EQ(lost.get().failure().execution, Execution::not_executed);
}

TEST_F(Later, ADescriptionIsGivenOrNothingWithTheLink) {
  greeted();
  Told<std::optional<ClientLink::Described>> described;
  link->describe("t.S", {}, soon(), described.teller());
  (void)peer->next(EventType::describe);
  peer->session.send_descriptor({.service = "t.S", .text = "text", .annex = "annex"});
  peer->flush();
  const auto said = described.get();
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "text");
  EXPECT_EQ(said->annex, "annex");
  Told<std::optional<ClientLink::Described>> lost;
  link->describe("t.Other", {}, soon(), lost.teller());
  peer->close();
  EXPECT_FALSE(lost.get());
}

TEST_F(Later, TheEndOfALinkThatNobodyUsesIsNoticedAtOnce) {
  greeted();
  std::promise<void> ended;
  link->when_ended([&] { ended.set_value(); });
  peer->close();
  ended.get_future().get();
  EXPECT_TRUE(link->broken());
  std::promise<void> known;
  link->when_ended([&] { known.set_value(); });
  known.get_future().get();
}

}  // namespace
}  // namespace mf::link::test
