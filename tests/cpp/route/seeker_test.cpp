// The seeker: the finder with sockets, at a server that the test plays.
#include "mf/route/seeker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/fake_resolver.hpp"
#include "route/loop.hpp"
#include "support/peer.hpp"

namespace mf::route {
namespace {

using mftest::answered;
using mftest::eventually;
using mftest::FakeResolver;
using mftest::Peer;
using protocol::EventType;
using test::Looped;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::string_view kMethods[] = {"q"};
constexpr ServiceInfo kService{
    .name = "t.S",
    .per_agent = false,
    .descriptor = "service t.S\n method q\n  params memcpy\n   x u32\n  results memcpy\n   value f32\n",
    .fingerprint = {9},
    .methods = kMethods};

class User final : public SeekerUser {
 public:
  explicit User(std::shared_ptr<Resolver> resolver) : resolver_(std::move(resolver)) {}

  Offered offered() override {
    const auto offers = resolver_->offers("");
    return {
        .answered = offers->answered, .refused = {}, .words = "no server", .instances = offers->any_agent};
  }
  Failure on_refused(const Instance& /*instance*/, const std::shared_ptr<link::ClientLink>& /*link*/,
                     Failure why) override {
    return why;
  }
  void on_route(Found&& route) override {
    if (std::exchange(throws, false)) throw std::bad_alloc();
    const std::scoped_lock lock(mutex);
    routes.push_back(std::move(route));
  }
  void on_remove(Attempt route) override {
    const std::scoped_lock lock(mutex);
    std::erase_if(routes, [&](const Found& each) { return each.id == route; });
  }
  void on_found(WaiterId /*waiter*/) override {
    const std::scoped_lock lock(mutex);
    ++found;
  }
  void on_failed(WaiterId /*waiter*/, const std::shared_ptr<const Failure>& why,
                 Command::Refused /*refused*/) override {
    const std::scoped_lock lock(mutex);
    failure = *why;
  }
  std::optional<Failure> failed() {
    const std::scoped_lock lock(mutex);
    return failure;
  }
  int founds() {
    const std::scoped_lock lock(mutex);
    return found;
  }

  bool throws = false;
  std::mutex mutex;
  std::vector<Found> routes;
  int found = 0;
  std::optional<Failure> failure;

 private:
  const std::shared_ptr<Resolver> resolver_;
};

struct Seeking {
  explicit Seeking(std::chrono::milliseconds connect_timeout = 20s, Rules rules = {.single = true}) {
    auto offers = answered();
    offers.any_agent.push_back({.address = listener.address()});
    resolver->set(offers);
    looped.run([&] {
      seeker = std::make_shared<Seeker>(Sought{.service = kService,
                                               .agent = "",
                                               .what = "t.S",
                                               .rules = rules,
                                               .connect_timeout = connect_timeout},
                                        resolver, looped.pool, looped.loop, user, 1);
    });
  }
  ~Seeking() {
    looped.run([&] { seeker.reset(); });
  }
  void wait(WaiterId id, TimePoint deadline = kNever) {
    looped.run([&] { seeker->wait(id, 0, deadline); });
  }
  std::unique_ptr<Peer> accept() { return test::accept(listener); }

  transport::Listener listener{Address::parse("tcp://127.0.0.1:0")};
  std::shared_ptr<FakeResolver> resolver = std::make_shared<FakeResolver>();
  std::shared_ptr<User> user = std::make_shared<User>(resolver);
  Looped looped;
  std::shared_ptr<Seeker> seeker;
};

TEST(Seeker, MakesARouteThatCallsMayTake) {
  Seeking seeking;
  seeking.wait(1);
  seeking.accept()->accept_bind();
  EXPECT_TRUE(eventually([&] { return seeking.user->founds() == 1; }));
  const std::scoped_lock lock(seeking.user->mutex);
  ASSERT_EQ(seeking.user->routes.size(), 1U);
  EXPECT_NE(seeking.user->routes[0].binding, nullptr);
}

TEST(Seeker, MakesARouteAnewThatItsUserHadNoMemoryFor) {
  Seeking seeking;
  seeking.user->throws = true;
  seeking.wait(1);
  const auto peer = seeking.accept();
  peer->accept_bind();
  EXPECT_TRUE(eventually([&] { return seeking.user->founds() == 1; }));
  seeking.wait(2);
  EXPECT_TRUE(eventually([&] { return seeking.user->founds() == 2; }));
  const std::scoped_lock lock(seeking.user->mutex);
  EXPECT_EQ(seeking.user->routes.size(), 1U);
}

TEST(Seeker, PutsASchemaInWordsThatCannotBeAdaptedTo) {
  Seeking seeking;
  seeking.wait(1);
  const auto peer = seeking.accept();
  const auto bind = peer->next(EventType::bind);
  peer->session.send_bound(bind.header.route, Code::schema_mismatch, "differs");
  peer->flush();
  (void)peer->next(EventType::describe);
  peer->session.send_descriptor({.service = "t.S",
                                 .text = "service t.S\n per pond string\n method q\n  params memcpy\n   x "
                                         "u32\n  results memcpy\n   value f64\n"});
  peer->flush();
  EXPECT_TRUE(eventually([&] { return seeking.user->failed().has_value(); }));
  EXPECT_EQ(seeking.user->failed()->code, Code::schema_mismatch);
  EXPECT_THAT(seeking.user->failed()->message, HasSubstr("S: per nothing here, per pond string there"));
}

TEST(Seeker, GivesAServerUpThatDoesNotSayWhatItsSchemaIs) {
  Seeking seeking(200ms);
  seeking.wait(1);
  const auto peer = seeking.accept();
  const auto bind = peer->next(EventType::bind);
  peer->session.send_bound(bind.header.route, Code::schema_mismatch, "differs");
  peer->flush();
  EXPECT_TRUE(eventually([&] { return seeking.user->failed().has_value(); }));
  EXPECT_EQ(seeking.user->failed()->code, Code::deadline_exceeded);  // it may still have the schema
  EXPECT_EQ(seeking.user->failed()->execution, Execution::not_executed);
}

TEST(Seeker, HearsOfNewsOfTheResolverWhileCallsWaitOnly) {
  Seeking seeking(20s, {});
  seeking.resolver->set(answered());
  EXPECT_EQ(seeking.resolver->listeners(), 0U);
  seeking.wait(1);
  EXPECT_EQ(seeking.resolver->listeners(), 1U);
  auto offers = answered();
  offers.any_agent.push_back({.address = seeking.listener.address()});
  seeking.resolver->set(offers);
  seeking.accept()->accept_bind();
  EXPECT_TRUE(eventually([&] { return seeking.user->founds() == 1; }));
  EXPECT_TRUE(eventually([&] { return seeking.resolver->listeners() == 0; }));
}

TEST(Seeker, EndsACallAtItsDeadlineWhileTheServerIsSilent) {
  Seeking seeking(20s, {});
  seeking.wait(1, mf::now() + 50ms);
  EXPECT_TRUE(eventually([&] { return seeking.user->failed().has_value(); }));
  EXPECT_THAT(seeking.user->failed()->message, HasSubstr("no answer within the deadline"));
}

}  // namespace
}  // namespace mf::route
