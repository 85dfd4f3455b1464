// Streams of servers that stop before they have accepted them: which are started elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <future>
#include <optional>

#include "mf/client/client.hpp"
#include "mf/core/failure.hpp"
#include "mf/server/server.hpp"
#include "mf/transport/socket.hpp"
#include "mftest/flow.client.hpp"
#include "support/flow.hpp"
#include "support/peer.hpp"

namespace mftest::stopping_test {
namespace {

using mf::Code;
using mf::Execution;
using mf::protocol::EventType;
using namespace std::chrono_literals;

enum class Way : std::uint8_t { goaway, reply, goaway_after_a_value };

/// A server that stops when a request arrives, says that it has accepted none, and accepts no more
/// connections.
class Stopping {
 public:
  explicit Stopping(Way way) : way_(way), thread_([this](std::stop_token stop) { serve(stop); }) {}

  [[nodiscard]] std::string url() const { return url_; }
  std::atomic<int> requests{0};

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested() && requests == 0) {
      std::unique_ptr<mf::transport::Stream> stream;
      if (listener_->accept(stream) != mf::transport::Listener::Accept::accepted) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      Peer peer(mf::protocol::Role::server, std::move(stream));
      try {
        peer.greet();
        peer.accept_bind();
        const auto request = peer.next(EventType::request).header;
        listener_.reset();
        refuse(peer, request);
        ++requests;
        if (way_ == Way::reply) (void)peer.until_end();  // the client closes: it has begun nothing else
      } catch (const std::runtime_error&) {
      }
      peer.close();
    }
  }
  void refuse(Peer& peer, const mf::protocol::Header& request) {
    if (way_ == Way::goaway_after_a_value)
      peer.session.send_data({.id = request.id, .count = 1}, bytes_of(0));
    if (way_ == Way::reply) {
      peer.session.send_goaway(Code::shutting_down, "stopping");
      peer.session.send_failure({.route = request.route, .id = request.id, .count = 1}, Code::shutting_down,
                                Execution::not_executed, "this server is stopping");
    }
    peer.flush();
    if (way_ == Way::reply) return;
    std::array<std::uint8_t, 24> goaway{18, 0, 0, 0, 10};  // of no request, with an empty reason
    const auto status = static_cast<std::uint16_t>(Code::shutting_down);
    std::memcpy(&goaway[12], &status, sizeof status);
    peer.send_raw(std::as_bytes(std::span(goaway)));
  }

  const Way way_;
  std::optional<mf::transport::Listener> listener_{mf::Address::parse("tcp://127.0.0.1:0")};
  const std::string url_ = listener_->address().str();
  std::jthread thread_;
};

/// A client of a stopping server and a serving one; it chooses either.
struct Both {
  explicit Both(Way way) : stopping(way) {
    serving.offer(servant);
    serving.start();
    client.emplace(stopping.url() + "," + serving.address().str());
  }
  /// Makes calls until one has reached the stopping server.
  template <class Call>
  void until_met(Call call) {
    const auto before = stopping.requests.load();
    EXPECT_TRUE(eventually([&] {
      call();
      return stopping.requests.load() > before;
    }));
  }

  Stopping stopping;
  std::shared_ptr<PlainFlow> servant = std::make_shared<PlainFlow>();
  mf::Server serving;
  std::optional<mf::Client> client;
};

template <class Call>
mf::Failure failure_of(Call&& call) {
  try {
    (void)call();
  } catch (...) {
    return mf::Failure::from_current_exception();
  }
  return mf::may_have_run(Code::ok, "");
}

std::vector<std::uint32_t> read_all(mf::StreamReader<std::uint32_t> reader) {
  std::vector<std::uint32_t> all;
  while (const auto value = reader.next()) all.push_back(*value);
  return all;
}

TEST(StreamOfAServerThatStops, IsReadFromAnotherServer) {
  for (const auto way : {Way::goaway, Way::reply}) {
    SCOPED_TRACE(way == Way::goaway ? "GOAWAY" : "REPLY");
    Both both(way);
    both.until_met([&] {
      EXPECT_EQ(read_all(flow::FlowClient(*both.client).count(3, UINT32_MAX, {.deadline = kLong})),
                (std::vector<std::uint32_t>{0, 1, 2}));
    });
  }
}

TEST(StreamOfAServerThatStops, IsReadFromAnotherServerByCallbacks) {
  Both both(Way::goaway);
  both.until_met([&] {
    auto reader = std::make_shared<mf::StreamReader<std::uint32_t>>(
        flow::FlowClient(*both.client).count(1, UINT32_MAX, {.deadline = kLong}));
    std::promise<mf::Outcome<std::optional<std::uint32_t>>> first;
    reader->async_next([&](auto next) { first.set_value(std::move(next)); });
    const auto value = first.get_future().get();
    ASSERT_TRUE(value.ok()) << value.failure().message;
    EXPECT_EQ(value.value(), 0U);
  });
}

TEST(StreamOfAServerThatStops, IsNotBegunAnewWhenAValueHasCome) {
  Both both(Way::goaway_after_a_value);
  both.until_met([&] {
    const mf::Failure failure = failure_of(
        [&] { return read_all(flow::FlowClient(*both.client).count(3, UINT32_MAX, {.deadline = kLong})); });
    EXPECT_TRUE(failure.code == Code::ok || failure.code == Code::shutting_down) << failure.message;
    if (both.stopping.requests > 0) {
      EXPECT_EQ(failure.code, Code::shutting_down);
    }
  });
}

TEST(StreamOfAServerThatStops, IsNotWrittenAnewToAnotherServer) {
  Both both(Way::goaway);
  both.until_met([&] {
    const mf::Failure failure = failure_of([&] {
      auto sum = flow::FlowClient(*both.client).sum(0, {.deadline = kLong});
      (void)sum.write(1);
      return sum.finish();
    });
    EXPECT_TRUE(failure.code == Code::ok || failure.execution == Execution::not_executed) << failure.message;
    if (both.stopping.requests > 0) {
      EXPECT_EQ(failure.code, Code::shutting_down);
    }
  });
}

}  // namespace
}  // namespace mftest::stopping_test
