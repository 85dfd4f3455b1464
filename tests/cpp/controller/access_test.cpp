// What a controller lets its peers do, by their identities.
#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <string_view>

#include "controller/controller_fixture.hpp"
#include "mf/access/file.hpp"
#include "support/folder.hpp"

namespace mf::controller {
namespace {

using testing::HasSubstr;

Identity named(std::string name) {
  return {.kind = Identity::Kind::certificate, .name = std::move(name), .issuer = {}};
}

struct AccessTest : ControllerTest {
  static constexpr std::string_view kFile =
      "allow dns:a.example register kv.* per red* at tls://a.example:7000-7010 weight 10\n"
      "allow dns:a.example publish kv.News\n"
      "allow dns:a.example lead kv.Store per red*\n"
      "allow dns:b.example register kv.Store\n"
      "deny  anyone        watch secret.*\n"
      "allow authenticated watch *\n"
      "allow dns:ops       list\n";

  [[nodiscard]] ControllerOptions limited() const {
    const auto file = folder.path() / "access.conf";
    std::ofstream(file) << kFile;
    auto with = options();
    with.access = file.string();
    return with;
  }
  Stream<Standing> registers(const std::string& as, std::vector<Offer> offers, std::uint8_t process = 1) {
    identity = named(as);
    return add_as(limits, process, who(process), std::move(offers));
  }
  Stream<Change> watches(const std::string& as, const std::string& name) {
    identity = as.empty() ? Identity() : named(as);
    return watch_at(limits, filter(name));
  }
  Stream<Lead> leads(const std::string& as, const Key& what, std::uint8_t process = 1) {
    identity = named(as);
    return over<Lead>(process, [&](StreamWriter<Lead> out, Responder<void> responder) {
      limits.lead({who(process), what}, std::move(out), std::move(responder));
    });
  }
  template <class T>
  static void expect_denied(const Stream<T>& stream, std::string_view words) {
    ASSERT_FALSE(stream->open());
    EXPECT_EQ(stream->code(), Code::permission_denied);
    EXPECT_THAT(std::string(stream->ended->failure().reason()), HasSubstr(words));
  }

  const mftest::Folder folder;
  Controller limits{limited()};
};

TEST_F(AccessTest, ARegistrationNeedsALineForNameAgentAddressAndWeight) {
  EXPECT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000")})->open());
  expect_denied(registers("dns:a.example", {offer("other.Store", "red", "tls://a.example:7000")}),
                "dns:a.example may not register other.Store");
  expect_denied(registers("dns:a.example", {offer("kv.Store", "blue", "tls://a.example:7000")}),
                "agent \"blue\"");
  expect_denied(registers("dns:a.example", {offer("kv.Store", "red", "tcp://a.example:7000")}),
                "tcp://a.example");
  expect_denied(registers("dns:a.example", {offer("kv.Store", "red", "tls://evil.example:7000")}),
                "evil.example");
  auto heavy = offer("kv.Store", "red", "tls://a.example:7000");
  heavy.weight = 11;
  expect_denied(registers("dns:a.example", {heavy}), "may not register");
  expect_denied(registers("dns:c.example", {offer("kv.Store", "red", "tls://a.example:7000")}),
                "dns:c.example");
  EXPECT_TRUE(log->has("access_denied"));
  EXPECT_TRUE(log->has("identity=dns:c.example"));
}

TEST_F(AccessTest, WhatIsGrantedIsLoggedOnceForEachLineOfTheFile) {
  auto topic = offer("kv.News", "", "tcp://anywhere:1");
  topic.key.kind = KeyKind::topic;
  ASSERT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000"),
                                          offer("kv.Store", "redder", "tls://a.example:7001"), topic})
                  ->open());
  EXPECT_TRUE(log->has(
      "identity=dns:a.example action=register object=kv.Store agent=red address=tls://a.example:7000 "
      "line=1 more=1"));
  EXPECT_TRUE(log->has("action=publish object=kv.News agent=\"\" address=\"\" line=2 more=0"));
  EXPECT_TRUE(leads("dns:a.example", key("kv.Store", "red"))->open());
  EXPECT_TRUE(log->has("action=lead object=kv.Store agent=red address=\"\" line=3 more=0"));
}

TEST_F(AccessTest, EachAddressOfAnOfferIsAskedAbout) {
  auto two = offer("kv.Store", "red", "tls://a.example:7000");
  two.addresses.push_back("tcp://elsewhere:1");
  expect_denied(registers("dns:a.example", {two}), "tcp://elsewhere:1");
}

TEST_F(AccessTest, OneDeniedOfferRefusesTheRegistration) {
  expect_denied(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000"),
                                            offer("other.Store", "red", "tls://a.example:7000")}),
                "other.Store");
  const auto watching = watches("dns:c.example", "kv.Store");
  ASSERT_TRUE(watching->open());
  for (const auto& change : watching->values) EXPECT_TRUE(change.put.empty());
}

TEST_F(AccessTest, AnUpdateIsAskedAboutAsARegistrationIs) {
  ASSERT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000")})->open());
  CallInfo info;
  info.of_peer = &identity;
  const CallScope scope(info);
  Answer<void> answer;
  limits.update({who(1), {offer("other.Store", "red", "tls://a.example:7000")}, {}}, answer.responder());
  EXPECT_EQ(answer.failure().code, Code::permission_denied);
}

TEST_F(AccessTest, ATopicIsPublished) {
  auto topic = offer("kv.News", "", "tcp://anywhere:1");
  topic.key.kind = KeyKind::topic;
  EXPECT_TRUE(registers("dns:a.example", {topic})->open());
  expect_denied(registers("dns:b.example", {topic}), "may not publish kv.News");
}

TEST_F(AccessTest, ALeadNeedsALine) {
  ASSERT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000")})->open());
  EXPECT_TRUE(leads("dns:a.example", key("kv.Store", "red"))->open());
  ASSERT_TRUE(registers("dns:b.example", {offer("kv.Store", "x")}, 2)->open());
  expect_denied(leads("dns:b.example", key("kv.Store", "x"), 2), "dns:b.example may not lead kv.Store");
}

TEST_F(AccessTest, ALeadNeedsALineForItsAgent) {
  ASSERT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000")})->open());
  expect_denied(leads("dns:a.example", key("kv.Store", "blue")),
                "dns:a.example may not lead kv.Store for agent \"blue\"");
  expect_denied(leads("dns:a.example", key("kv.Store")), "dns:a.example may not lead kv.Store");
}

TEST_F(AccessTest, TheLinesAreAskedAboutAddressesInTheirOneForm) {
  EXPECT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:07000")})->open());
  EXPECT_TRUE(log->has("address=tls://a.example:7000"));
}

TEST_F(AccessTest, AWatchIsDeniedIfAnyOfItsNamesIs) {
  EXPECT_TRUE(watches("dns:c.example", "kv.*")->open());
  expect_denied(watches("dns:c.example", "*"), "may not watch *");
  expect_denied(watches("dns:c.example", "secret.Store"), "may not watch secret.Store");
  expect_denied(watches("", "kv.*"), "none may not watch kv.*");
}

TEST_F(AccessTest, AListNeedsALine) {
  const auto lists = [&](const std::string& as) {
    identity = named(as);
    return over<Entry>(7, [&](StreamWriter<Entry> out, Responder<void> responder) {
      limits.list({}, std::move(out), std::move(responder));
    });
  };
  expect_denied(lists("dns:c.example"), "may not list");
  EXPECT_TRUE(lists("dns:ops")->ended->ok());
}

TEST_F(AccessTest, AClosedOneLetsPeersLookAndNotRegister) {
  auto with = options();
  with.closed = true;
  Controller closed(with);
  identity = named("dns:a.example");
  expect_denied(add_as(closed, 1, who(1), {offer("kv.Store")}), "may not register kv.Store");
  EXPECT_TRUE(watch_at(closed, filter("*"))->open());
  EXPECT_TRUE(log->has("access_denied"));
}

TEST_F(AccessTest, AnInstanceHasTheIdentityThatItRegisteredBy) {
  const auto watching = watches("dns:c.example", "kv.Store");
  ASSERT_TRUE(registers("dns:a.example", {offer("kv.Store", "red", "tls://a.example:7000")})->open());
  ASSERT_FALSE(watching->values.empty());
  ASSERT_FALSE(watching->values.back().put.empty());
  EXPECT_EQ(watching->values.back().put.front().identity, "dns:a.example");
}

TEST_F(ControllerTest, AKnownNonceIsTakenOnlyFromTheIdentityOfTheFirst) {
  identity = named("dns:a.example");
  const auto first = add(1, 1, {offer("kv.Store")});
  ASSERT_TRUE(first->open());
  identity = named("dns:b.example");
  const auto other = add(2, 1, {offer("kv.Store", "", "tcp://evil:1")});  // it has the secret, too
  ASSERT_FALSE(other->open());
  EXPECT_TRUE(log->has("owner_identity=dns:a.example"));
  EXPECT_TRUE(first->open());
  first->leave();
  EXPECT_FALSE(add(3, 1, {offer("kv.Store")})->open()) << "also after the first has gone";
  identity = named("dns:a.example");
  EXPECT_TRUE(add(4, 1, {offer("kv.Store")})->open());
}

TEST_F(ControllerTest, WhoProvesItsNonceTakesItBackFromAnotherIdentity) {
  Credential own;
  own.secret.bytes[0] = 42;
  own.nonce = nonce_of(own.secret);
  Credential squatter{.nonce = own.nonce, .secret = nonce(7)};
  identity = named("dns:evil.example");
  ASSERT_TRUE(add_as(controller, 1, squatter, {offer("kv.Store")})->open());
  identity = named("dns:a.example");
  EXPECT_TRUE(add_as(controller, 2, own, {offer("kv.Store")})->open());
  identity = named("dns:evil.example");
  EXPECT_FALSE(add_as(controller, 3, squatter, {offer("kv.Store")})->open());
}

}  // namespace
}  // namespace mf::controller
