// The contract of all stores, over the etcd that the variable MF_ETCD names ("etcd://host:port,host:port"),
// and what this store does beyond it. MF_ETCD_CA, _CERTIFICATE, _KEY, _USER and _PASSWORD are its options.
// pytest starts both (tests/etcd/test_store.py).

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "controller/store_contract.hpp"
#include "mf/controller/etcd_store.hpp"
#include "mf/core/error.hpp"
#include "support/wait.hpp"

namespace mf::controller::store_contract {
namespace {

constexpr std::chrono::seconds kPatience{60};

/// Keys that no test before had.
std::string new_place() {
  static const std::uint64_t run =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  static int count = 0;
  const char* const servers = std::getenv("MF_ETCD");
  if (servers == nullptr) throw std::runtime_error("MF_ETCD names no etcd");
  return std::string(servers) + "/test/" + std::to_string(run) + "/" + std::to_string(++count);
}

EtcdOptions options() {
  const auto told = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  return {.tls = {.ca = told("MF_ETCD_CA"),
                  .certificate = told("MF_ETCD_CERTIFICATE"),
                  .key = told("MF_ETCD_KEY")},
          .user = told("MF_ETCD_USER"),
          .password = told("MF_ETCD_PASSWORD")};
}

struct EtcdKind {
  static constexpr bool kShared = true;
  Store& first() { return open(); }
  Store& next() {
    EXPECT_TRUE(stores.back()->await_written(now() + kPatience));
    return open();
  }
  Store& open() {
    stores.push_back(std::make_unique<EtcdStore>(place, Log(), options()));
    return *stores.back();
  }
  const std::string place = new_place();
  std::deque<std::unique_ptr<EtcdStore>> stores;
};
using Kinds = testing::Types<EtcdKind>;
INSTANTIATE_TYPED_TEST_SUITE_P(Etcd, StoreTest, Kinds);

/// What a store has reported to its listener.
struct Heard final : StoreListener {
  void changed(const std::vector<Uuid>& nonces) override {
    note([&] { changes.insert(nonces.begin(), nonces.end()); });
  }
  void leads_may_be_had() override {
    note([&] { ++vacancies; });
  }
  void leads_lost() override {
    note([&] { ++losses; });
  }
  void cluster_is(const Uuid& /*cluster*/) override {}

  template <class Do>
  void note(Do&& what) {
    const std::scoped_lock lock(mutex);
    what();
    news.notify_all();
  }
  template <class Holds>
  [[nodiscard]] bool await(Holds&& holds) {
    std::unique_lock lock(mutex);
    return news.wait_for(lock, kPatience, holds);
  }

  std::mutex mutex;
  std::condition_variable news;
  std::set<Uuid> changes;
  int vacancies = 0;
  int losses = 0;
};

struct EtcdStoreTest : testing::Test {
  const std::string place = new_place();
  EtcdStore one{place, Log(), options()};
  EtcdStore other{place, Log(), options()};
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  Stored of_one = one.load();
  Stored of_other = load_other();

  Stored load_other() {
    other.listen(heard);
    return other.load();
  }
  [[nodiscard]] bool other_has(std::uint32_t number, const std::optional<stored::Process>& process) {
    return mftest::eventually([&] { return other.elsewhere(nonce(number)) == process; });
  }
};

TEST_F(EtcdStoreTest, ControllersThatShareItAreOneCluster) {
  EXPECT_NE(of_one.cluster, Uuid());
  EXPECT_EQ(of_one.cluster, of_other.cluster);
  EXPECT_NE(EtcdStore(new_place(), {}, options()).load().cluster, of_one.cluster);
}

TEST_F(EtcdStoreTest, WhatOneHasRegisteredTheOtherIsTold) {
  const auto first = process("a", {key_of("demo.Echo", "red")});
  one.put(nonce(1), first);
  EXPECT_TRUE(other_has(1, first));
  EXPECT_TRUE(heard->await([&] { return heard->changes.contains(nonce(1)); }));
  EXPECT_EQ(one.elsewhere(nonce(1)), std::nullopt) << "it is no other one's";
  one.change(nonce(1), process("a", {key_of("demo.Echo", "blue")}).offers, {key_of("demo.Echo", "red")});
  EXPECT_TRUE(other_has(1, process("a", {key_of("demo.Echo", "blue")})));
  one.remove(nonce(1));
  EXPECT_TRUE(other_has(1, std::nullopt));
}

TEST_F(EtcdStoreTest, AProcessIsThereAsLongAsOneOfThemHasIt) {
  EtcdStore third(place, {}, options());
  (void)third.load();
  const auto put = process("a", {key_of("demo.Echo")});
  one.put(nonce(1), put);
  third.put(nonce(1), put);
  ASSERT_TRUE(other_has(1, put));
  ASSERT_TRUE(one.await_written(now() + kPatience) && third.await_written(now() + kPatience));
  one.remove(nonce(1));
  ASSERT_TRUE(one.await_written(now() + kPatience));
  third.put(nonce(2), put);  // so that it is known that the one before has come
  EXPECT_TRUE(other_has(2, put));
  EXPECT_EQ(other.elsewhere(nonce(1)), put);
  third.remove(nonce(1));
  EXPECT_TRUE(other_has(1, std::nullopt));
}

TEST_F(EtcdStoreTest, ALeadIsOneControllersAtATimeAndTheOtherHearsWhenItMayBeHad) {
  const Key key = key_of("demo.Clock", "a/b");
  const auto epoch = lead(one, key, 5);
  ASSERT_TRUE(epoch.has_value());
  EXPECT_EQ(lead(other, key, 5), std::nullopt);
  EXPECT_EQ(lead(other, key_of("demo.Clock", "c"), 5), *epoch + 1);
  one.give_up_lead(key, *epoch + 7);
  ASSERT_TRUE(one.await_written(now() + kPatience));
  EXPECT_EQ(lead(other, key, 5), std::nullopt) << "it was not given up with its own epoch";
  const int before = heard->vacancies;
  one.give_up_lead(key, *epoch);
  EXPECT_TRUE(heard->await([&] { return heard->vacancies > before; }));
  EXPECT_EQ(lead(other, key, 5), *epoch + 2);
}

TEST_F(EtcdStoreTest, ClientIdsOfBothAreDifferent) {
  std::set<std::uint32_t> firsts;
  for (int i = 0; i < 10; ++i)
    for (Store* const store : {static_cast<Store*>(&one), static_cast<Store*>(&other)})
      firsts.insert(*client_ids(*store, 4096));
  EXPECT_EQ(firsts.size(), 20U);
  for (auto at = std::next(firsts.begin()); at != firsts.end(); ++at) EXPECT_GE(*at - *std::prev(at), 4096U);
}

TEST_F(EtcdStoreTest, WhoEndsGivesItsLeadsUpAndLeavesWhatItHasRegistered) {
  const Key key = key_of("demo.Clock");
  const auto put = process("a", {key_of("demo.Echo")});
  {
    EtcdStore third(place, {}, options());
    (void)third.load();
    const auto epoch = lead(third, key, 1);
    ASSERT_TRUE(epoch.has_value());
    third.put(nonce(3), put);
    third.give_up_lead(key, *epoch);
  }
  EXPECT_TRUE(other_has(3, put)) << "until its lease is over, so that its servers can go elsewhere";
  EXPECT_TRUE(lead(other, key, 1).has_value());
  EXPECT_TRUE(other_has(3, std::nullopt)) << "the lease is over";
}

}  // namespace
}  // namespace mf::controller::store_contract
