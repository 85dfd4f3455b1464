// Replicas and clients over real connections, through a controller, in this process.
#include "mf/replicated/replica.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "journal.client.hpp"
#include "mf/core/service_texts.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/replicated/call.hpp"
#include "mf/replication.client.hpp"
#include "replicated/group.hpp"
#include "support/certificates.hpp"
#include "support/running_controller.hpp"
#include "support/wait.hpp"

namespace {

using namespace std::chrono_literals;
using mf::Require;
using mftest::calls;
using mftest::eventually;
using mftest::Group;
using mftest::kAll;
using mftest::kNames;
using mftest::Names;
using mftest::Pages;
using mftest::Result;

mf::Failure failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (...) {
    return mf::Failure::from_current_exception();
  }
  ADD_FAILURE() << "the call ended well";
  return {};
}

TEST(Replicas, AllApplyTheMessagesOfAllPatternsInOneOrder) {
  Group group;
  Names texts;
  std::vector<Result> results;
  for (int round = 0; round < 3; ++round) {
    for (const auto& call : calls()) {
      texts.push_back(std::to_string(texts.size()));
      results.push_back(call(group.journal, texts.back(), kAll));
    }
  }

  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].value, i + 1);
    EXPECT_EQ(results[i].applied, kNames);
    EXPECT_EQ(results[i].version.counter, results[0].version.counter + i);
    EXPECT_EQ(results[i].version.epoch, results[0].version.epoch);
  }
  for (const auto& [name, pages] : group.pages) {
    EXPECT_EQ(pages->state().kept, texts) << name;
    EXPECT_EQ(pages->state().counters.back(), results.back().version.counter);
  }
}

TEST(Replicas, WithoutVersionsEachAppliesAMessageOnce) {
  Group group;
  Names texts;
  for (int i = 0; i < 20; ++i) {
    texts.push_back(std::to_string(i));
    EXPECT_EQ(group.journal.no_versioning(texts.back(), kAll).version, mf::Version{});
  }

  for (const auto& [name, pages] : group.pages) EXPECT_EQ(pages->state().kept, texts) << name;
}

TEST(Replicas, ManyCallersAtOnceSeeOneOrder) {
  Group group;
  std::mutex mutex;
  std::map<mf::Version, std::string> by_version;
  std::vector<std::thread> threads;
  for (int caller = 0; caller < 6; ++caller) {
    threads.emplace_back([&, caller] {
      const auto call = calls()[static_cast<std::size_t>(caller)];
      for (int i = 0; i < 50; ++i) {
        const auto text = std::to_string(caller) + "." + std::to_string(i);
        const auto done = call(group.journal, text, kAll);
        const std::scoped_lock lock(mutex);
        EXPECT_TRUE(by_version.emplace(done.version, text).second) << "two messages have one version";
      }
    });
  }
  for (auto& each : threads) each.join();

  Names in_order;
  for (const auto& [version, text] : by_version) in_order.push_back(text);
  for (const auto& [name, pages] : group.pages) EXPECT_EQ(pages->state().kept, in_order) << name;
}

TEST(Replicas, AsynchronousCallsEndOnceEach) {
  Group group;
  std::atomic<int> well{0};
  std::atomic<int> ended{0};
  for (int i = 0; i < 100; ++i) {
    group.journal.async_chain(std::to_string(i), kAll, [&](mf::Outcome<Result>&& outcome) {
      if (outcome) ++well;
      ++ended;
    });
  }

  EXPECT_TRUE(eventually([&] { return ended == 100; }));
  EXPECT_EQ(well, 100);
  EXPECT_EQ(group.pages["a"]->state().kept.size(), 100U);
}

TEST(Replicas, ADeclaredErrorIsThrownAtTheCallerAndABugOfTheServantIsAFailedHandler) {
  Group group;

  try {
    group.journal.one_hop_ack_client("too much");
    ADD_FAILURE();
  } catch (const journal::Full& full) {
    EXPECT_EQ(full.most, 3U);
  }
  const auto failed = failure_of([&] { group.journal.one_hop("bug"); });
  EXPECT_EQ(failed.code, mf::Code::handler_failed);
  EXPECT_EQ(failed.message.find("a bug of the servant"), std::string::npos) << failed.message;
  const auto at = failed.message.find("reference ");
  ASSERT_NE(at, std::string::npos) << failed.message;
  EXPECT_TRUE(group.log->has("reference=" + failed.message.substr(at + 10) +
                             " calls=1 what=\"a bug of the servant\""));

  EXPECT_EQ(group.journal.one_hop("and on").value, 1U);
}

TEST(Replicas, OneThatComesBackCatchesUpAndTheCallsGoOnMeanwhile) {
  Group group;
  Names texts;
  const auto write = [&](int count, const mf::ReplicatedOptions& options) {
    std::vector<Result> results;
    for (int i = 0; i < count; ++i) {
      texts.push_back(std::to_string(texts.size()));
      results.push_back(group.journal.one_hop_ack_client(texts.back(), options));
    }
    return results;
  };
  const auto before = write(10, kAll);
  const auto gone = group.another();
  group.stop(gone);

  const auto meanwhile = write(10, {});
  group.start(gone);
  ASSERT_TRUE(group.replicas[gone]->until_serving(mftest::kLong));
  const auto after = write(1, kAll);

  for (const auto& each : meanwhile) EXPECT_EQ(std::count(each.applied.begin(), each.applied.end(), gone), 0);
  EXPECT_EQ(after.front().version.counter, before.front().version.counter + 20);
  EXPECT_EQ(group.pages[gone]->state().kept, texts);
}

TEST(Replicas, AnotherGivesOutTheVersionsWhenTheFirstHasStopped) {
  Group group;
  const auto first = group.journal.one_hop("first");
  group.stop(group.leader());

  const auto second = group.journal.one_hop("second");  // both of those that are left are a majority

  EXPECT_GT(second.version.epoch, first.version.epoch);
  EXPECT_EQ(second.version.counter, first.version.counter + 1);
  for (const auto& [name, replica] : group.replicas)
    EXPECT_EQ(group.pages[name]->state().kept, (Names{"first", "second"})) << name;
}

TEST(Replicas, WhatTheLogsNoLongerKeepComesAsASnapshotOfTheServant) {
  mf::ReplicaSettings small;
  small.most_entries = 5;
  Group group(small);
  const auto gone = group.another();
  group.stop(gone);
  Names texts;
  for (int i = 0; i < 30; ++i) {
    texts.push_back(std::to_string(i));
    group.journal.one_hop(texts.back());
  }

  group.start(gone);

  EXPECT_TRUE(group.replicas[gone]->until_serving(mftest::kLong));
  EXPECT_EQ(group.pages[gone]->state().kept, texts);
}

TEST(Replicas, AStateAbove16MiBComesInParts) {
  mf::ReplicaSettings small;
  small.most_entries = 2;
  Group group(small);
  const auto gone = group.another();
  group.stop(gone);
  Names texts;
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    texts.emplace_back(std::size_t{3} << 20U, letter);
    group.journal.one_hop(texts.back());
  }

  group.start(gone);

  EXPECT_TRUE(group.replicas[gone]->until_serving(mftest::kLong));
  EXPECT_TRUE(group.pages[gone]->state().kept == texts);
}

TEST(Replicas, AReplicaThatStopsWithinItsOwnOnApplyIsToldSoAndGoesOn) {
  Group group;
  std::atomic<int> told{0};
  for (const auto& [name, replica] : group.replicas) {
    group.pages[name]->on_text = [&told, stops = replica.get()](const std::string& text) {
      if (text != "stop") return;
      const auto failed = failure_of([&] { stops->stop(); });
      EXPECT_EQ(failed.code, mf::Code::invalid_argument);
      EXPECT_EQ(failed.message,
                "a replica cannot stop within its on_apply, for whose end it waits: stop it from elsewhere");
      ++told;
    };
  }

  EXPECT_EQ(group.journal.one_hop("stop", kAll).applied, kNames);
  EXPECT_EQ(group.journal.one_hop("on", kAll).applied, kNames);

  EXPECT_EQ(told, 3);
}

TEST(Replicas, ACallThatNotEnoughCanApplyEndsAtItsDeadlineAndSaysHowManyHave) {
  Group group;
  EXPECT_EQ(group.journal.one_hop("all are connected", kAll).applied, kNames);
  group.stop(group.another());

  const auto failed =
      failure_of([&] { group.journal.one_hop_ack_client("x", {.deadline = 1s, .require = Require::all}); });

  EXPECT_EQ(failed.code, mf::Code::deadline_exceeded);
  EXPECT_EQ(failed.execution, mf::Execution::unknown);
  EXPECT_NE(failed.message.find("replicas are known to have applied it, 3 must"), std::string::npos)
      << failed.message;
}

TEST(Replicas, ACallThatIsStoppedEndsAsCancelled) {
  Group group;
  group.stop(group.another());
  std::stop_source stop;
  std::atomic<bool> ended{false};
  mf::Outcome<Result> outcome;
  group.journal.async_one_hop("x", {.require = Require::all, .stop = stop.get_token()},
                              [&](mf::Outcome<Result>&& how) {
                                outcome = std::move(how);
                                ended = true;
                              });
  stop.request_stop();

  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(outcome.failure().code, mf::Code::cancelled);
}

TEST(Replicas, CallsOfAClientThatIsClosedEndAsCancelled) {
  Group group;
  group.stop(group.another());
  std::atomic<bool> ended{false};
  mf::Outcome<Result> outcome;
  {
    mf::Client client(group.where());
    const auto there = journal::JournalClient(client).at("s");
    there.one_hop("x");
    there.async_one_hop("y", kAll, [&](mf::Outcome<Result>&& how) {
      outcome = std::move(how);
      ended = true;
    });
  }

  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  EXPECT_EQ(outcome.failure().code, mf::Code::cancelled);
}

TEST(Replicas, AReplicatedCallNeedsAnAgentAndAController) {
  mf::Client direct("tcp://127.0.0.1:1");
  const auto refused = failure_of([&] { journal::JournalClient(direct).at("s").one_hop("x"); });
  EXPECT_EQ(refused.message,
            "journal.Journal.one_hop is replicated: call it through the controller that its replicas are "
            "registered "
            "with");
  EXPECT_EQ(refused.execution, mf::Execution::not_executed);

  mf::Client client("mf://127.0.0.1:1");
  const auto nobody = failure_of([&] { journal::JournalClient(client).any().one_hop("x"); });
  EXPECT_EQ(nobody.message, "a replicated call of Journal is for one shelf: name it by at()");
}

TEST(Replicas, AnOrdinaryServerServesWhatIsNotReplicatedAndRefusesWhatIs) {
  Group group;
  group.journal.one_hop("text", kAll);
  mf::Server server({.controller = group.where(), .log = mf::Log(mf::Level::off)});
  server.offer(group.pages["a"], {.agent = "s"});
  server.start();

  EXPECT_EQ(group.journal.texts(), Names{"text"});
}

/// Answers from another thread, each time.
class Later final : public journal::JournalAsyncServant {
 public:
  ~Later() override {
    for (auto& each : threads_) each.join();
  }
  void on_apply_no_versioning(const mf::Version& /*version*/, journal::JournalNoVersioningRequest request,
                              mf::Responder<std::uint64_t> responder) override {
    keep(std::move(request.text), std::move(responder));
  }
  void on_apply_version_request(const mf::Version& /*version*/, journal::JournalVersionRequestRequest request,
                                mf::Responder<std::uint64_t> responder) override {
    keep(std::move(request.text), std::move(responder));
  }
  void on_apply_message_returns_version(const mf::Version& /*version*/,
                                        journal::JournalMessageReturnsVersionRequest request,
                                        mf::Responder<std::uint64_t> responder) override {
    keep(std::move(request.text), std::move(responder));
  }
  void on_apply_one_hop(const mf::Version& /*version*/, journal::JournalOneHopRequest request,
                        mf::Responder<std::uint64_t> responder) override {
    keep(std::move(request.text), std::move(responder));
  }
  void on_apply_one_hop_ack_client(const mf::Version& /*version*/,
                                   journal::JournalOneHopAckClientRequest /*request*/,
                                   mf::Responder<std::uint64_t> /*responder*/) override {}  // given up
  void on_apply_wait_for_version(const mf::Version& /*version*/,
                                 journal::JournalWaitForVersionRequest /*request*/,
                                 mf::Responder<std::uint64_t> /*responder*/) override {
    throw journal::Full(1);  // which this method does not declare
  }
  void on_apply_chain(const mf::Version& /*version*/, journal::JournalChainRequest request,
                      mf::Responder<std::uint64_t> responder) override {
    keep(std::move(request.text), std::move(responder));
  }
  void texts(journal::JournalTextsRequest /*request*/, mf::Responder<Names> responder) override {
    responder.respond(kept());
  }
  [[nodiscard]] Names kept() {
    const std::scoped_lock lock(mutex_);
    return kept_;
  }

 private:
  void keep(std::string text, mf::Responder<std::uint64_t> responder) {
    threads_.emplace_back([this, text = std::move(text), responder = std::move(responder)]() mutable {
      std::uint64_t count = 0;
      {
        const std::scoped_lock lock(mutex_);
        kept_.push_back(std::move(text));
        count = kept_.size();
      }
      responder.respond(count);
    });
  }

  std::vector<std::thread> threads_;  // of the replica's thread
  std::mutex mutex_;
  Names kept_;
};

TEST(Replicas, AServantMayAnswerLaterAndIsAskedOneAfterTheOther) {
  const mftest::RunningController controller;
  const auto later = std::make_shared<Later>();
  mf::ReplicaOptions options;
  options.controller = controller.address().str();
  options.member = "a";
  options.members = {"a"};
  options.agent = "s";
  options.log = mf::Log(mf::Level::off);
  mf::Replica replica(later, options);
  replica.start();
  mf::Client client(controller.address().str());
  const auto there = journal::JournalClient(client).at("s");
  std::atomic<int> ended{0};
  Names texts;
  for (int i = 0; i < 50; ++i) {
    texts.push_back(std::to_string(i));
    there.async_one_hop(texts.back(), [&](auto&& outcome) { ended += outcome.ok() ? 1 : 1'000; });
  }

  EXPECT_TRUE(eventually([&] { return ended >= 50; }));
  EXPECT_EQ(ended, 50);
  EXPECT_EQ(later->kept(), texts);
  const auto given_up = failure_of([&] { there.one_hop_ack_client("x"); });
  EXPECT_EQ(given_up.code, mf::Code::handler_failed);
  EXPECT_EQ(given_up.message, "the handler gave up the call without answering it");
  EXPECT_EQ(failure_of([&] { there.wait_for_version("x"); }).code, mf::Code::handler_failed);
  replica.stop();
}

TEST(Replicas, SpeakTlsWithEachOtherAndWithClients) {
  const mftest::RunningController controller;
  mftest::Authority authority;
  auto own = authority.issue();
  own.ca = authority.file();
  std::vector<std::unique_ptr<mf::Replica>> replicas;
  for (const auto& name : kNames) {
    mf::ReplicaOptions options;
    options.controller = controller.address().str();
    options.member = name;
    options.members = kNames;
    options.agent = "s";
    options.listen = "tls://127.0.0.1:0";
    options.tls = own;
    options.log = mf::Log(mf::Level::off);
    replicas.push_back(std::make_unique<mf::Replica>(std::make_shared<Pages>(), options));
    replicas.back()->start();
  }
  mf::ClientOptions options;
  options.tls = own;
  mf::Client client(controller.address().str(), options);

  EXPECT_EQ(journal::JournalClient(client).at("s").one_hop("secret", kAll).applied, kNames);
}

TEST(Replicas, ALinkThatSaysNeitherAMemberNorAClientIsRefused) {
  Group group;
  mf::replication::Peer nobody;
  nobody.member = "nobody";
  mf::replication::Peer both;
  both.member = "a";
  both.client = mf::Uuid{};
  for (const auto& peer : {mf::replication::Peer{}, nobody, both}) {
    auto link = mf::replication::ReplicaClient(group.client).at("journal.Journal|s|").link(peer);
    EXPECT_EQ(failure_of([&] { (void)link.next(); }).code, mf::Code::invalid_argument);
  }
}

TEST(Replicas, MembersThatDoNotFitAreRefused) {
  const auto refusal = [](const std::string& member, Names members) {
    return failure_of([&] {
             mf::ReplicaOptions options;
             options.controller = "mf://127.0.0.1:1";
             options.member = member;
             options.members = std::move(members);
             options.agent = "s";
             const mf::Replica replica(std::make_shared<Pages>(), options);
           })
        .message;
  };

  EXPECT_EQ(refusal("d", kNames), "'d' is none of the members a, b, c");
  EXPECT_EQ(refusal("a", {"a", "a"}), "a group has up to 15 members, each with a name of its own");
}

/// The service as a later program has it: all results are narrower, an error is wider, and `chain` is for
/// numbers.
class LaterJournal {
 public:
  LaterJournal() : descriptor_(mf::descriptor_of(kOneHop.service)) {
    change("   value u64\n", "   value u32\n");
    change(" most u32\n", " most u64\n");
    const auto chain = descriptor_.find(" method chain\n");
    descriptor_.replace(descriptor_.find("text string", chain), 11, "text u32");
    info_.descriptor = descriptor_;
    info_.texts = nullptr;
    info_.fingerprint = mf::link::fingerprint_of(descriptor_);
  }
  LaterJournal(const LaterJournal&) = delete;
  LaterJournal& operator=(const LaterJournal&) = delete;

  /// The payload of what `method` gives for this text.
  [[nodiscard]] mf::Outcome<mf::replicated::Finished> call(const mf::client::Target& target,
                                                           const mf::link::Method& method,
                                                           mf::replication::Pattern pattern,
                                                           std::string_view text) const {
    const mf::link::Method later{.service = info_,
                                 .info = method.info,
                                 .result_tier = method.result_tier,
                                 .errors = method.errors,
                                 .result_violation = method.result_violation};
    std::vector<std::byte> payload{static_cast<std::byte>(text.size())};
    for (const char letter : text) payload.push_back(static_cast<std::byte>(letter));
    return mf::replicated::call(target, later, pattern, kAll, mf::Bytes(std::move(payload)));
  }

  static constexpr const mf::link::Method& kOneHop = mf::link::kMethod<journal::methods::JournalOneHop>;
  static constexpr const mf::link::Method& kThrowing =
      mf::link::kMethod<journal::methods::JournalOneHopAckClient>;
  static constexpr const mf::link::Method& kChain = mf::link::kMethod<journal::methods::JournalChain>;

 private:
  void change(std::string_view before, std::string_view after) {
    for (auto at = descriptor_.find(before); at != std::string::npos; at = descriptor_.find(before, at))
      descriptor_.replace(at, before.size(), after);
  }

  mf::ServiceInfo info_ = kOneHop.service;
  std::string descriptor_;
};

TEST(Replicas, ServeAClientOfAnotherSchemaWhichSendsAndReadsWhatTheyHave) {
  const Group group;
  mf::Client client(group.where());
  const auto target = mf::client::Target(client, LaterJournal::kOneHop.service).at("s");
  const LaterJournal later;

  const auto made = later.call(target, LaterJournal::kOneHop, mf::replication::Pattern::one_hop, "x");
  EXPECT_EQ(made.value().outcome.payload,
            mf::Bytes(std::vector{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}}));
  EXPECT_EQ(made.value().applied, kNames);

  const auto full =
      later.call(target, LaterJournal::kThrowing, mf::replication::Pattern::one_hop_ack_client, "too much");
  EXPECT_EQ(full.value().outcome.status, 1);
  EXPECT_EQ(full.value().outcome.error, 0);

  const auto refused = later.call(target, LaterJournal::kChain, mf::replication::Pattern::chain, "x");
  EXPECT_EQ(refused.failure().code, mf::Code::schema_mismatch);
  EXPECT_EQ(refused.failure().execution, mf::Execution::not_executed);
  EXPECT_EQ(refused.failure().message,
            "the replicas of journal.Journal: Journal.chain: parameter text: u32 here, string there");
  for (const auto& [name, pages] : group.pages) EXPECT_EQ(pages->texts().size(), 1U) << name;
}

/// A servant that says that its service has another schema, in which texts are of another type.
class OtherPages final : public Pages {
 public:
  explicit OtherPages(std::string_view type) : descriptor_(mf::descriptor_of(Pages::service())) {
    const std::string_view before = "   text string\n";
    const auto after = "   text " + std::string(type) + "\n";
    for (auto at = descriptor_.find(before); at != std::string::npos; at = descriptor_.find(before, at))
      descriptor_.replace(at, before.size(), after);
    info_ = Pages::service();
    info_.descriptor = descriptor_;
    info_.texts = nullptr;
    info_.fingerprint = mf::link::fingerprint_of(descriptor_);
  }
  [[nodiscard]] const mf::ServiceInfo& service() const noexcept override { return info_; }

 private:
  std::string descriptor_;
  mf::ServiceInfo info_;
};

TEST(Replicas, AreReplacedOneByOneByThoseOfAnotherSchemaWhileClientsCall) {
  Group group;
  group.journal.one_hop("before", kAll);
  group.make = [] { return std::make_shared<OtherPages>("bytes"); };
  std::vector<std::string> expected{"before"};
  for (const auto& name : kNames) {
    group.stop(name);
    group.start(name);
    ASSERT_TRUE(group.replicas.at(name)->until_serving(mftest::kLong)) << name;
    expected.push_back("with another " + name);
    const auto made = group.journal.one_hop(expected.back(), kAll);
    EXPECT_EQ(made.value, expected.size());
    EXPECT_EQ(made.applied, kNames);
  }
  for (const auto& [name, pages] : group.pages) EXPECT_EQ(pages->texts(), expected) << name;
}

TEST(Replicas, TakePartNoMoreIfTheyCannotApplyWhatOthersHaveApplied) {
  Group group;
  group.journal.one_hop("no number", kAll);
  group.stop("c");
  group.make = [] { return std::make_shared<OtherPages>("u32"); };
  group.start("c");
  EXPECT_TRUE(eventually([&] { return !group.replicas.at("c")->stuck().empty(); }));
  EXPECT_EQ(group.replicas.at("c")->stuck(),
            "message 1 of its group: Journal.one_hop: parameter text: string here, u32 there");
  EXPECT_EQ(group.journal.one_hop("and on").value, 2U);
}

}  // namespace
