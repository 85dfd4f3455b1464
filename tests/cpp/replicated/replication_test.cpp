// The calls of a client at a group over real connections: many at once, and what becomes of them whatever is
// thrown on the way.
#include "replicated/replication.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>

#include "mf/link/adaptation.hpp"
#include "replicated/group.hpp"

namespace mf::replicated::testing {
namespace {

using mftest::Group;
using mftest::kNames;
using mftest::Names;
using mftest::Result;
using OnResult = std::function<void(mf::Outcome<Result>&&)>;

const ReplicatedOptions kPatient{.deadline = kInfinite, .require = Require::all};

/// Calls by all patterns in turn, whose ends are counted.
class Calls {
 public:
  explicit Calls(const journal::JournalClient& journal) : journal_(journal) {}

  void begin(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) begin_one();
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == texts_.size(); });
  }
  [[nodiscard]] const Names& wrong() const { return wrong_; }
  [[nodiscard]] const std::multiset<std::string>& texts() const { return texts_; }

 private:
  void begin_one() {
    const auto text = std::to_string(texts_.size());
    texts_.insert(text);
    OnResult done = [this](mf::Outcome<Result>&& outcome) {
      const std::scoped_lock lock(mutex_);
      if (!outcome) wrong_.push_back(outcome.failure().message);
      ++ended_;
      changed_.notify_all();
    };
    switch (texts_.size() % 7) {
      case 0:
        return journal_.async_no_versioning(text, kPatient, std::move(done));
      case 1:
        return journal_.async_version_request(text, kPatient, std::move(done));
      case 2:
        return journal_.async_message_returns_version(text, kPatient, std::move(done));
      case 3:
        return journal_.async_one_hop(text, kPatient, std::move(done));
      case 4:
        return journal_.async_one_hop_ack_client(text, kPatient, std::move(done));
      case 5:
        return journal_.async_wait_for_version(text, kPatient, std::move(done));
      default:
        return journal_.async_chain(text, kPatient, std::move(done));
    }
  }

  const journal::JournalClient& journal_;
  std::multiset<std::string> texts_;  // of the thread that begins calls
  std::mutex mutex_;                  // all below
  std::condition_variable changed_;
  std::size_t ended_ = 0;
  Names wrong_;
};

void check_that_all_have(Group& group, const std::multiset<std::string>& texts) {
  for (const auto& [name, pages] : group.pages) {
    const auto kept = pages->state().kept;
    EXPECT_EQ(std::multiset<std::string>(kept.begin(), kept.end()), texts) << name;
  }
}

class ManyAtOnce : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ManyAtOnce, AllEndWell) {
  Group group;
  Calls calls(group.journal);
  calls.begin(GetParam());
  calls.wait_for_all();

  EXPECT_EQ(calls.wrong(), Names{});
  check_that_all_have(group, calls.texts());
}

INSTANTIATE_TEST_SUITE_P(Replication, ManyAtOnce, ::testing::Values(1'100, 5'000));

TEST(Replication, AllThatBeganWhileTheLeaderStoodStillEndWell) {
  Group group;
  std::mutex gate;
  group.pages[group.leader()]->on_text = [&](const std::string&) { const std::scoped_lock lock(gate); };
  Calls calls(group.journal);
  {
    const std::scoped_lock lock(gate);
    calls.begin(3'000);
  }
  calls.begin(100);
  calls.wait_for_all();

  EXPECT_EQ(calls.wrong(), Names{});
  check_that_all_have(group, calls.texts());
}

/// A client's calls of `one_hop`, made without the functions that users call.
class CallsOfAGroup : public ::testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<Replication> replication() const {
    return std::make_shared<Replication>(group.client.core(), journal::methods::kJournalService, "s");
  }
  [[nodiscard]] static Replication::Request request() {
    return {.method = "one_hop",
            .index = journal::methods::JournalOneHop::kInfo.index,
            .pattern = Pattern::one_hop,
            .require = Require::all,
            .deadline = kNever,
            .payload = detail::encode_arguments<journal::methods::JournalOneHop>(std::string("x"))};
  }
  static mf::Outcome<Finished> call(const std::shared_ptr<Replication>& of) {
    std::promise<mf::Outcome<Finished>> promise;
    of->start(request(), {}, [&](mf::Outcome<Finished>&& outcome) { promise.set_value(std::move(outcome)); });
    return promise.get_future().get();
  }

  Group group;
};

TEST_F(CallsOfAGroup, ACallbackThatThrowsHoldsUpNoOtherCall) {
  const auto calls = replication();
  EXPECT_TRUE(call(calls));

  std::promise<void> thrown;
  calls->start(request(), {}, [&](mf::Outcome<Finished>&&) {
    thrown.set_value();
    throw std::runtime_error("a bug of the callback");
  });
  thrown.get_future().get();

  EXPECT_TRUE(call(calls));
  EXPECT_TRUE(call(calls));
  calls->on_close();
}

TEST_F(CallsOfAGroup, AreHeldByTheirClientAloneOnceTheyHaveEnded) {
  auto calls = replication();
  EXPECT_TRUE(call(calls));
  const std::weak_ptr<Replication> held = calls;

  calls.reset();

  EXPECT_TRUE(mftest::eventually([&] { return held.expired(); }));
}

TEST_F(CallsOfAGroup, EndWellThoughTheClientForgetsThemMeanwhile) {
  std::mutex gate;
  std::promise<mf::Outcome<Finished>> promise;
  std::weak_ptr<Replication> held;
  group.pages[group.leader()]->on_text = [&](const std::string&) { const std::scoped_lock lock(gate); };
  {
    const std::scoped_lock lock(gate);
    auto calls = replication();
    held = calls;
    calls->start(request(), {},
                 [&](mf::Outcome<Finished>&& outcome) { promise.set_value(std::move(outcome)); });
    calls.reset();
    EXPECT_FALSE(held.expired());
  }

  EXPECT_TRUE(promise.get_future().get());
  EXPECT_TRUE(mftest::eventually([&] { return held.expired(); }));
}

}  // namespace
}  // namespace mf::replicated::testing
