// Streams, cancellation and metadata, end to end: every case over TCP, over TLS and in light, with a plain
// and an asynchronous servant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <numeric>

#include "mf/client/client.hpp"
#include "mf/core/failure.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "mftest/flow.client.hpp"
#include "support/certificates.hpp"
#include "support/flow.hpp"
#include "support/wait.hpp"

namespace mftest::streams_test {
namespace {

using namespace std::chrono_literals;
using mf::Code;

enum class Way : std::uint8_t { tcp, tls, light };

const char* name(Way way) {
  return way == Way::tcp ? "Tcp" : way == Way::tls ? "Tls" : "Light";
}
enum class Kind : std::uint8_t { plain, async };

template <class Call>
mf::Failure failure_of(Call&& call) {
  try {
    (void)call();
  } catch (...) {
    return mf::Failure::from_current_exception();
  }
  return mf::may_have_run(Code::ok, "");
}

class Streams : public testing::TestWithParam<std::tuple<Way, Kind>> {
 protected:
  Streams() {
    std::shared_ptr<mf::Servant> servant;
    if (std::get<1>(GetParam()) == Kind::plain) {
      const auto made = std::make_shared<PlainFlow>();
      plain = made.get();
      servant = made;
    } else {
      const auto made = std::make_shared<AsyncFlow>();
      plain = &made->plain_;
      servant = made;
    }
    options.forward_metadata = {"tenant"};
    if (const Way way = std::get<0>(GetParam()); way != Way::light) {
      mf::ServerOptions served{.workers = 2};
      if (way == Way::tls) {
        served.listen = "tls://127.0.0.1:0";
        served.tls = authority.emplace().issue();
        options.tls = authority->accepted();
      }
      server.emplace(std::move(served));
      server->offer(servant);
      server->start();
    } else {
      light.offer(servant);
    }
    client.emplace(another_client());
    stub.emplace(*client);
    EXPECT_EQ(stub->stopped(), 0U);  // the deadlines in tests do not include connecting
  }
  // A writer kept by its servant keeps its call, which keeps the servant.
  ~Streams() override { plain->kept.reset(); }

  [[nodiscard]] mf::Client another_client() {
    return server ? mf::Client(server->address().str(), options) : mf::Client(light, options);
  }

  PlainFlow* plain = nullptr;
  std::optional<Authority> authority;
  std::optional<mf::Server> server;
  mf::Light light;
  mf::ClientOptions options;
  std::optional<mf::Client> client;
  std::optional<flow::FlowClient> stub;
};

INSTANTIATE_TEST_SUITE_P(All, Streams,
                         testing::Combine(testing::Values(Way::tcp, Way::tls, Way::light),
                                          testing::Values(Kind::plain, Kind::async)),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) == Kind::plain ? "Plain" : "Async");
                         });

TEST_P(Streams, AResultStreamIsARange) {
  std::uint32_t expected = 0;
  for (const auto value : stub->count(20'000)) ASSERT_EQ(value, expected++);
  EXPECT_EQ(expected, 20'000U);
  std::vector<std::uint32_t> none;
  for (const auto value : stub->count(0)) none.push_back(value);
  EXPECT_THAT(none, testing::IsEmpty());
}

TEST_P(Streams, ValuesMayBeAsSmallAsABool) {
  std::uint32_t count = 0;
  for (const bool value : stub->flags(1000)) ASSERT_EQ(value, count++ % 2 == 0);
  EXPECT_EQ(count, 1000U);
  std::promise<bool> first;
  auto reader = stub->flags(1);
  reader.async_next([&](mf::Outcome<std::optional<bool>> next) { first.set_value(next.value().value()); });
  EXPECT_TRUE(first.get_future().get());
}

TEST_P(Streams, ADeclaredErrorEndsAStreamBehindItsValues) {
  auto reader = stub->count(1000, 700);
  std::uint32_t got = 0;
  try {
    for (const auto value : reader) ASSERT_EQ(value, got++);
    FAIL() << "it ended well";
  } catch (const flow::Broke& error) {
    EXPECT_EQ(error.at, 700U);
  }
  EXPECT_EQ(got, 700U);
}

TEST_P(Streams, AParameterStreamEndsInAResult) {
  auto stream = stub->sum(5);
  for (std::uint32_t i = 0; i < 20'000; ++i) ASSERT_TRUE(stream.write(i));
  EXPECT_EQ(stream.finish(), 5U + 19'999U * 20'000U / 2);
  EXPECT_EQ(stub->sum(7).finish(), 7U);
}

TEST_P(Streams, ADeclaredErrorOfAParameterStreamIsThrownByFinish) {
  auto stream = stub->sum(0);
  EXPECT_THROW(
      {
        stream.write(999'999'999);
        for (int i = 0; i < 1'000'000 && stream.write(1); ++i) {
        }
        (void)stream.finish();
      },
      flow::Broke);
}

TEST_P(Streams, BothDirectionsGoOnAtOnceAndValuesMaySpanFrames) {
  auto both = stub->echo();
  std::vector<mf::Bytes> sent;
  for (const std::size_t size : {0U, 1U, 100U, 70'000U, 300'000U, 5U})
    sent.emplace_back(size, static_cast<std::byte>(size));
  for (const auto& value : sent) {
    ASSERT_TRUE(both.write(value));
    both.flush();
    ASSERT_EQ(both.next(), value);
  }
  both.done_writing();
  EXPECT_EQ(both.next(), std::nullopt);
}

TEST_P(Streams, ValuesBeforeAFailureCanBeReadAfterAWriteHasThrownIt) {
  if (std::get<0>(GetParam()) == Way::light) return;  // no stream ends with its client there
  const mf::Bytes last{std::byte{3}};
  bool all_had_arrived = false;
  EXPECT_TRUE(eventually([&] {  // the last value may not have arrived yet when the client is closed
    std::optional closed = another_client();
    auto both = flow::FlowClient(*closed).echo();
    for (unsigned char i = 1; i <= 3; ++i) both.write(mf::Bytes{std::byte{i}});
    both.flush();
    EXPECT_EQ(both.next(), mf::Bytes{std::byte{1}});
    closed.reset();
    EXPECT_EQ(failure_of([&] { return both.write(mf::Bytes(1)); }).code, Code::cancelled);
    std::optional<mf::Bytes> value;
    const auto failure = failure_of([&] {
      while (auto next = both.next()) value = std::move(next);
      return value;
    });
    EXPECT_EQ(failure.code, Code::cancelled);
    EXPECT_EQ(failure_of([&] { return both.next(); }).code, Code::cancelled);
    all_had_arrived = value == last;
    return all_had_arrived || HasFailure();
  }));
}

TEST_P(Streams, WritingAfterTheEndIsAMistakeOfTheWriterAndTheCallGoesOn) {
  auto both = stub->echo();
  ASSERT_TRUE(both.write(mf::Bytes(1)));
  both.done_writing();
  both.done_writing();
  const auto failure = failure_of([&] { return both.write(mf::Bytes(2)); });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_EQ(failure.execution, mf::Execution::not_executed);
  EXPECT_THAT(failure.message, testing::HasSubstr("mftest.flow.Flow.echo: this side has ended its stream"));
  std::promise<mf::Outcome<bool>> later;
  both.async_write(mf::Bytes(3), [&](mf::Outcome<bool> more) { later.set_value(std::move(more)); });
  EXPECT_EQ(later.get_future().get().failure().code, Code::invalid_argument);
  EXPECT_EQ(both.next(), mf::Bytes(1));
  EXPECT_EQ(both.next(), std::nullopt);
  EXPECT_EQ(failure_of([&] { return both.write(mf::Bytes(2)); }).code, Code::invalid_argument);
}

TEST_P(Streams, FinishGivesItsResultOnce) {
  auto stream = stub->sum(1);
  ASSERT_TRUE(stream.write(2));
  EXPECT_EQ(stream.finish(), 3U);
  EXPECT_EQ(failure_of([&] { return stream.write(2); }).code, Code::invalid_argument);
  EXPECT_EQ(failure_of([&] { return stream.finish(); }).code, Code::invalid_argument);
  std::promise<mf::Outcome<std::uint64_t>> again;
  stream.async_finish([&](mf::Outcome<std::uint64_t> sum) { again.set_value(std::move(sum)); });
  EXPECT_EQ(again.get_future().get().failure().code, Code::invalid_argument);
}

TEST_P(Streams, AHandlerThatHasAnsweredWritesNoMore) {
  auto reader = stub->metadata_stream("x");
  EXPECT_EQ(reader.next(), "");
  ASSERT_EQ(reader.next(), std::nullopt);
  const auto failure = failure_of([&] { return plain->kept->write("more"); });
  EXPECT_EQ(failure.code, Code::invalid_argument);
  EXPECT_THAT(failure.message, testing::HasSubstr("mftest.flow.Flow.metadata_stream: "));
}

TEST_P(Streams, AfterACancelNothingThatHadComeIsHandedOut) {
  auto endless = stub->endless();
  ASSERT_EQ(endless.next(), 0U);
  endless.cancel();
  EXPECT_EQ(failure_of([&] { return endless.next(); }).code, Code::cancelled);
  std::promise<Code> code;
  endless.async_next(
      [&](mf::Outcome<std::optional<std::uint32_t>> next) { code.set_value(next.failure().code); });
  EXPECT_EQ(code.get_future().get(), Code::cancelled);

  auto ended = stub->count(10);
  ASSERT_EQ(ended.next(), 0U);
  ended.cancel();
  EXPECT_EQ(failure_of([&] { return ended.next(); }).code, Code::cancelled);

  auto whole = stub->count(1);
  EXPECT_EQ(whole.next(), 0U);
  EXPECT_EQ(whole.next(), std::nullopt);
  whole.cancel();
  EXPECT_EQ(whole.next(), std::nullopt) << "the end was seen before";
}

TEST_P(Streams, AHandlerThatCancelsItsReaderReadsNoMore) {
  auto stream = stub->first(7'777);
  while (stream.write(1)) {
  }
  EXPECT_EQ(stream.finish(), static_cast<std::uint32_t>(Code::cancelled));
}

TEST_P(Streams, AHandlerThatReadsNoMoreEndsTheWriting) {
  auto stream = stub->first(3);
  std::uint32_t written = 0;
  while (written < 10'000'000 && stream.write(7)) ++written;
  EXPECT_LT(written, 10'000'000U);
  EXPECT_EQ(stream.finish(), 21U);
}

TEST_P(Streams, AReaderThatIsDroppedCancelsTheCallAndTheHandlerKnows) {
  {
    auto reader = stub->endless();
    for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(reader.next(), i);
  }
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
  EXPECT_EQ(stub->stopped(), 1U) << "and other calls go on";
}

TEST_P(Streams, AStreamThatNobodyReadsEndsAtItsDeadlineAndHoldsNobodyUp) {
  auto reader = stub->endless({.deadline = 300ms});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(stub->metadata("x"), "");
  EXPECT_TRUE(eventually([&] {
    try {
      while (reader.next()) {
      }
    } catch (const mf::Error& error) {
      return error.code() == Code::deadline_exceeded;
    }
    return false;
  }));
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
}

TEST_P(Streams, NothingForTheIdleTimeEndsTheWait) {
  auto both = stub->echo({.idle = 60ms});
  EXPECT_EQ(failure_of([&] { return both.next(); }).code, Code::deadline_exceeded);
}

TEST_P(Streams, AStopTokenEndsACallAndTheHandlerSeesIt) {
  // In light a plain handler runs on its caller's thread, and must check the token itself, which it does.
  std::stop_source source;
  auto ended = std::async(std::launch::async, [&] {
    return failure_of([&] { return stub->linger({.stop = source.get_token()}); }).code;
  });
  ASSERT_TRUE(eventually([&] { return plain->lingering == 1U; }));
  source.request_stop();
  const auto code = ended.get();
  // In-process the handler may answer before its caller has seen the token; a plain one always does.
  if (std::get<0>(GetParam()) != Way::light) {
    EXPECT_EQ(code, Code::cancelled);
  } else {
    EXPECT_THAT(code, testing::AnyOf(Code::ok, Code::cancelled));
  }
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
}

TEST_P(Streams, ADeadlineAsksTheHandlerOfACallToStop) {
  const auto code = failure_of([&] { return stub->linger({.deadline = 200ms}); }).code;
  // In-process a plain handler occupies its caller's thread, so that the caller gets its answer.
  EXPECT_EQ(code, GetParam() == std::tuple(Way::light, Kind::plain) ? Code::ok : Code::deadline_exceeded);
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
}

TEST_P(Streams, ADeadlineAsksAHandlerToStopThatNobodyReadsFrom) {
  auto both = stub->endless({.deadline = 200ms});
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
}

TEST_P(Streams, TheDeadlineOfABatchIsThatOfTheWhole) {
  if (std::get<0>(GetParam()) == Way::light) return;  // all items are one message there
  const std::vector<flow::FlowLingerRequest> requests(3);
  auto batch = stub->linger_batch(requests, {.deadline = 200ms, .size = 1, .window = 1});
  for (const auto& outcome : batch.results()) EXPECT_EQ(outcome.failure().code, Code::deadline_exceeded);
  EXPECT_EQ(plain->lingering, 1U) << "the time of the first message was that of all";
}

// Servers refuse windows that are too large together; so do clients.
TEST(StreamsOfAClient, ThoseThatItReadsHoldNoMoreThanAConnectionMayInAll) {
  const auto servant = std::make_shared<PlainFlow>();
  mf::Server server({.workers = 2});
  server.offer(servant);
  server.start();
  mf::Client client(server.address().str(), {.stream_window = 2U << 20U});
  const flow::FlowClient stub(client);
  std::vector<mf::StreamReader<std::uint32_t>> open;
  for (int i = 0; i < 4; ++i) open.push_back(stub.count(1U << 20U));
  for (auto& reader : open) EXPECT_EQ(reader.next(), 0U);
  const auto refused = failure_of([&] { return stub.count(1).next(); });
  EXPECT_EQ(refused.code, Code::overloaded);
  EXPECT_EQ(refused.execution, mf::Execution::not_executed);
  EXPECT_EQ(refused.message,
            "4 streams of " + server.address().str() +
                " are open, as many as a connection takes with a stream window of 2097152 bytes");
  EXPECT_EQ(stub.sum(3).finish(), 3U) << "it writes, and reads nothing";
  open.pop_back();
  EXPECT_TRUE(eventually([&] { return failure_of([&] { return stub.count(1).next(); }).code == Code::ok; }));
}

TEST_P(Streams, AStopTokenEndsAStreamThatIsWaitedFor) {
  std::stop_source source;
  auto both = stub->echo({.stop = source.get_token()});
  std::thread stopper([&] {
    std::this_thread::sleep_for(20ms);
    source.request_stop();
  });
  EXPECT_EQ(failure_of([&] { return both.next(); }).code, Code::cancelled);
  stopper.join();
}

TEST_P(Streams, AWaitingThreadHearsOfACancelByAnotherAtOnce) {
  // A wait that ended only by a timeout would take seconds each time.
  auto all = std::async(std::launch::async, [&] {
    for (int i = 0; i < 12; ++i) {
      auto both = stub->echo({.deadline = mf::kInfinite});
      both.write(mf::Bytes(1));
      both.next();
      auto waiting = std::async(std::launch::async, [&] { return failure_of([&] { return both.next(); }); });
      std::this_thread::sleep_for(2ms);
      both.cancel();
      EXPECT_EQ(waiting.get().code, Code::cancelled);
    }
  });
  EXPECT_EQ(all.wait_for(kLong), std::future_status::ready);
}

TEST_P(Streams, AnIdleLimitEndsAWaitAtOnce) {
  auto all = std::async(std::launch::async, [&] {
    for (int i = 0; i < 12; ++i) {
      auto both = stub->echo({.deadline = mf::kInfinite, .idle = 5ms});
      EXPECT_EQ(failure_of([&] { return both.next(); }).code, Code::deadline_exceeded);
    }
  });
  EXPECT_EQ(all.wait_for(kLong), std::future_status::ready);
}

TEST_P(Streams, MetadataGoesBothWays) {
  mf::Metadata reply;
  EXPECT_EQ(stub->metadata("tenant", {.metadata = {{"tenant", "acme"}}, .reply_metadata = &reply}), "acme");
  ASSERT_NE(reply.find("echo"), nullptr);
  EXPECT_EQ(*reply.find("echo"), "acme");
  mf::Metadata of_stream;
  auto reader = stub->metadata_stream("k", {.metadata = {{"k", "v"}}, .reply_metadata = &of_stream});
  EXPECT_EQ(reader.next(), "v");
  EXPECT_EQ(reader.next(), std::nullopt);
  ASSERT_NE(of_stream.find("echo"), nullptr);
  EXPECT_EQ(*of_stream.find("echo"), "v");
}

TEST_P(Streams, AsynchronousReadsAndWritesCompleteInOrder) {
  auto both = stub->echo();
  std::promise<std::vector<std::size_t>> promise;
  std::vector<std::size_t> sizes;
  std::function<void()> read = [&] {
    both.async_next([&](mf::Outcome<std::optional<mf::Bytes>> next) {
      if (!next || !next.value()) return promise.set_value(sizes);
      sizes.push_back(next.value()->size());
      read();
    });
  };
  read();
  for (std::size_t i = 0; i < 500; ++i) ASSERT_TRUE(both.write(mf::Bytes(i)));
  both.done_writing();
  std::vector<std::size_t> wanted(500);
  std::iota(wanted.begin(), wanted.end(), std::size_t{0});
  EXPECT_EQ(promise.get_future().get(), wanted);
}

TEST_P(Streams, AsynchronousWritesAreHeldBackAndFinishCompletes) {
  auto stream = stub->sum(0);
  std::promise<std::uint64_t> promise;
  std::uint32_t at = 0;
  std::function<void()> write = [&] {
    if (at == 3000) {
      return stream.async_finish([&](mf::Outcome<std::uint64_t> sum) { promise.set_value(sum.value()); });
    }
    stream.async_write(at++, [&](mf::Outcome<bool> more) {
      if (more && more.value()) write();
    });
  };
  write();
  EXPECT_EQ(promise.get_future().get(), 2999U * 3000U / 2);
}

TEST_P(Streams, AValueThatTheSchemaDoesNotAllowIsRefusedWhereItIsWritten) {
  auto reader = stub->notes(3, std::string(65, 'x'));
  EXPECT_EQ(failure_of([&] {
              while (reader.next()) {
              }
            }).code,
            std::get<1>(GetParam()) == Kind::plain ? Code::handler_failed : Code::internal);
  std::uint32_t count = 0;
  for (const auto& note : stub->notes(3, "ok")) EXPECT_EQ(note.of, count++);
  EXPECT_EQ(count, 3U);
}

TEST_P(Streams, AFullStreamBesideManyCallsStallsNobody) {
  auto unread = stub->endless();
  std::vector<mf::StreamReader<std::uint32_t>> more;
  for (int i = 0; i < 8; ++i) more.push_back(stub->endless());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(stub->stopped(), 0U);
  for (auto& reader : more) EXPECT_EQ(reader.next(), 0U);
}

TEST_P(Streams, AClientThatIsClosedEndsItsStreams) {
  if (std::get<0>(GetParam()) == Way::light) return;  // nothing is between the two sides
  auto reader = stub->endless();
  ASSERT_EQ(reader.next(), 0U);
  client.reset();
  EXPECT_NE(failure_of([&] {
              while (reader.next()) {
              }
            }).code,
            Code::ok);
  EXPECT_TRUE(eventually([&] { return plain->stops == 1U; }));
}

TEST_P(Streams, AServerThatStopsEndsItsStreams) {
  if (std::get<0>(GetParam()) == Way::light) return;
  mf::Server other({.drain_timeout = 50ms});
  other.offer(std::make_shared<PlainFlow>());
  other.start();
  mf::Client to(other.address().str());
  auto reader = flow::FlowClient(to).endless();
  ASSERT_EQ(reader.next(), 0U);
  std::thread stopping([&] { other.stop(); });
  EXPECT_NE(failure_of([&] {
              while (reader.next()) {
              }
            }).code,
            Code::ok);
  stopping.join();
}

}  // namespace
}  // namespace mftest::streams_test
