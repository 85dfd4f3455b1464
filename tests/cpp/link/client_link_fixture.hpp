// The fixture for tests of ClientLink: a link whose server is the test itself, a reactor that can be held,
// and the ends of asynchronous calls.
#pragma once

#include "mf/link/client_link.hpp"
#include "support/connect.hpp"
#include "support/peer.hpp"

namespace mf::link::test {

using mftest::bytes_of;
using mftest::CountedStream;
using mftest::number_in;
using mftest::Peer;
using mftest::soon;
using protocol::EventType;

inline constexpr std::string_view kMethods[] = {"a", "b"};
inline constexpr ServiceInfo kService{.name = "t.S",
                                      .per_agent = false,
                                      .descriptor = "service t.S\n",
                                      .fingerprint = {1},
                                      .methods = kMethods};

/// A client link on one end of a pair, and the test as its server on the other.
struct Joined {
  explicit Joined(protocol::SessionOptions client = {}, protocol::SessionOptions server = {}) {
    auto [left, right] = transport::make_inproc_pair();
    peer = std::make_unique<Peer>(protocol::Role::server, std::move(left), std::move(server));
    std::thread greeting([this] { peer->greet(); });
    link = mftest::open(std::make_unique<CountedStream>(std::move(right), counts), std::move(client), reactor,
                        soon())
               .value();
    greeting.join();
  }
  ~Joined() {
    if (serving.joinable()) serving.join();
    link->close("the test is over");
    reactor->stop();
  }
  /// Answers requests with their own bytes until the link is closed.
  void serve() {
    serving = std::thread([this] {
      try {
        for (;;) {
          const auto seen = peer->next();
          if (seen.type == EventType::request && !seen.header.oneway()) peer->echo(seen);
          if (seen.type == EventType::bind) peer->session.send_bound(seen.header.route);
        }
      } catch (const std::runtime_error&) {
      }
    });
  }
  void stop_serving() {
    link->close("the test is over");
    if (serving.joinable()) serving.join();
  }
  std::uint32_t call(std::uint32_t number, TimePoint deadline = soon()) {
    ReplySlot slot;
    auto payload = bytes_of(number);
    link->call(slot, {}, payload, deadline);
    {
      const std::scoped_lock lock(last_mutex);
      last = std::move(slot.reply.failure);
    }
    if (slot.reply.status != Code::ok) return 0;
    return number_in(slot.reply.payload);
  }

  std::shared_ptr<CountedStream::Counts> counts = std::make_shared<CountedStream::Counts>();
  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  std::unique_ptr<Peer> peer;
  std::shared_ptr<ClientLink> link;
  std::thread serving;
  std::mutex last_mutex;
  Failure last;
};

/// Keeps a reactor from doing anything until it is let go.
class Held {
 public:
  explicit Held(transport::Reactor& reactor) {
    reactor.post([state = state_] {
      state->held.release();
      state->let_go.acquire();
    });
    state_->held.acquire();
  }
  ~Held() { let_go(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void let_go() {
    if (!std::exchange(gone_, true)) state_->let_go.release();
  }

 private:
  struct State {
    std::binary_semaphore held{0};
    std::binary_semaphore let_go{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  bool gone_ = false;
};

/// The ends of asynchronous calls; may be destroyed before they end.
struct Ends {
  Completion one() {
    return [state = state_](Reply&& reply) {
      const std::scoped_lock lock(state->mutex);
      reply.keep();
      state->replies.push_back(std::move(reply));
    };
  }
  std::size_t size() {
    const std::scoped_lock lock(state_->mutex);
    return state_->replies.size();
  }

 private:
  struct State {
    std::mutex mutex;
    std::vector<Reply> replies;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();

 public:
  std::vector<Reply>& replies = state_->replies;
};

}  // namespace mf::link::test
