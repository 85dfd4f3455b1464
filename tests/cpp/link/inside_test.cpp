// Links over streams that buffer bytes, as TLS does: no descriptor reports these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "link/client_link_fixture.hpp"
#include "mf/link/server_link.hpp"
#include "support/certificates.hpp"
#include "support/connect.hpp"
#include "transport/tls_stream.hpp"

namespace mf::link {
namespace {

using mftest::Authority;
using mftest::CountedStream;
using mftest::eventually;
using protocol::EventType;
using test::bytes_of;
using test::Ends;
using test::kService;
using test::Peer;
using test::soon;

/// Reads everything from the socket and returns a little at a time; buffers what is written until the next
/// write, and returns nothing meanwhile.
class Keeping final : public transport::Stream {
 public:
  explicit Keeping(std::unique_ptr<transport::Stream> inner) : inner_(std::move(inner)) {}

  transport::IoResult read(std::span<std::byte> into, transport::Wait wait) noexcept override {
    if (has_output_) return {.state = transport::IoState::would_block};
    if (in_.empty()) {
      in_.resize(kRoom);
      const auto got = inner_->read(in_.span(), wait);
      in_.resize(got.bytes);
      given_ = 0;
      if (got.state != transport::IoState::ok) return got;
    }
    const auto some = std::min({into.size(), in_.size() - given_, kAtOnce});
    std::memcpy(into.data(), in_.data() + given_, some);
    given_ += some;
    if (given_ == in_.size()) in_.clear();
    has_input_ = !in_.empty();
    return {.bytes = some};
  }
  transport::IoResult write(std::span<const IoSlice> slices) noexcept override {
    while (sent_ < out_.size()) {
      const IoSlice rest{out_.data() + sent_, out_.size() - sent_};
      const auto result = inner_->write(std::span(&rest, 1));
      if (result.state != transport::IoState::ok) return result;
      sent_ += result.bytes;
    }
    out_.clear();
    sent_ = 0;
    for (const auto& slice : slices) out_.append(std::span(slice.data, slice.size));
    has_output_ = !out_.empty();
    if (out_.empty()) return {};
    return {.state = transport::IoState::would_block, .bytes = out_.size()};
  }
  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override {
    if (!(read && has_input())) inner_->wait_ready(read, write, timeout);
  }
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override {
    inner_->set_coarse_timeout(timeout);
  }
  [[nodiscard]] bool has_input() const noexcept override { return has_input_ && !has_output_; }
  [[nodiscard]] bool has_output() const noexcept override { return has_output_; }
  [[nodiscard]] std::size_t unacknowledged() const noexcept override { return 0; }
  [[nodiscard]] bool allow_interrupts() noexcept override { return inner_->allow_interrupts(); }
  void interrupt() noexcept override { inner_->interrupt(); }
  void shutdown() noexcept override { inner_->shutdown(); }
  void close() noexcept override { inner_->close(); }
  [[nodiscard]] int fd() const noexcept override { return inner_->fd(); }
  [[nodiscard]] const std::string& peer() const noexcept override { return inner_->peer(); }

 private:
  static constexpr std::size_t kRoom = 1U << 20U;
  static constexpr std::size_t kAtOnce = 50;

  std::unique_ptr<transport::Stream> inner_;
  Buffer in_;
  std::size_t given_ = 0;
  Buffer out_;
  std::size_t sent_ = 0;
  std::atomic<bool> has_input_{false};
  std::atomic<bool> has_output_{false};
};

/// Answers each request at once, the first with so many bytes; one-way calls end when the test says so.
struct Answering final : ServerLink::Handler {
  Answer on_bind(std::uint16_t, const protocol::Bind&) override { return std::pair(Code::ok, std::string()); }
  std::optional<const ServiceInfo*> on_describe(const protocol::Describe&) override { return nullptr; }
  void on_drain(std::uint32_t) override {}
  void on_request(const protocol::Event& event, TimePoint) override {
    const int number = requests++;
    if (event.header.oneway()) return;
    Gathered payload;
    payload.buffer.resize(number == 0 ? first_size : 8);
    std::memset(payload.buffer.data(), 3, payload.size());
    auto head = protocol::ReplyHead::to(event);
    head.encoding = 1;
    link->send_reply(head, payload, event.payload.size());
  }
  void on_cancel(std::uint32_t) override {}
  void on_stream(const protocol::Event&) override {}
  bool on_unbind(std::uint16_t) override { return true; }
  void on_room() override {}
  void on_turn_end() override {}
  void on_handed_over() noexcept override {}
  void on_greeted() override {}
  void on_overfull() override {}
  void on_closed() override {}

  ServerLink* link = nullptr;
  std::size_t first_size = 8;
  std::atomic<int> requests{0};
};

struct Serving {
  explicit Serving(std::size_t first_size, ServerLink::Options options = {}) {
    auto [left, right] = transport::make_inproc_pair();
    options.log = Log(Level::off);
    link = std::make_shared<ServerLink>(std::make_unique<Keeping>(std::move(left)), options, reactor);
    handler->link = link.get();
    handler->first_size = first_size;
    peer = std::make_unique<Peer>(protocol::Role::client, std::move(right));
  }
  ~Serving() {
    link->close("");
    reactor->stop();
  }
  /// Ensures that all requests are in the socket before the link reads.
  void send(int requests, std::uint8_t flags = 0) {
    peer->session.send_hello();
    protocol::RequestHead head;
    head.flags = flags;
    for (int i = 0; i < requests; ++i)
      peer->session.send_request(head, std::span<const std::byte>(bytes_of(1).span()));
    peer->flush();
    link->open(handler);
  }
  int replies(int wanted) {
    int got = 0;
    while (got < wanted) {
      (void)peer->next(EventType::reply);
      ++got;
    }
    return got;
  }

  std::shared_ptr<transport::Reactor> reactor = std::make_shared<transport::Reactor>();
  std::shared_ptr<Answering> handler = std::make_shared<Answering>();
  std::shared_ptr<ServerLink> link;
  std::unique_ptr<Peer> peer;
};

TEST(Inside, AServerReadsOnWhatItsStreamHolds) {
  Serving serving(8);
  serving.send(500);
  EXPECT_EQ(serving.replies(500), 500);
  EXPECT_TRUE(eventually([&] { return serving.link->idle(); }));
}

TEST(Inside, AServerThatHasPausedReadsOnWhatItsStreamHolds) {
  ServerLink::Options options;
  options.max_output = 1 << 20;
  Serving serving(8 << 20, options);
  serving.send(500);
  ASSERT_TRUE(eventually([&] { return serving.handler->requests > 0; }));
  EXPECT_EQ(serving.replies(500), 500);
}

TEST(Inside, AServerThatWasCrowdedReadsOnWhatItsStreamHolds) {
  ServerLink::Options options;
  options.session.limits.max_in_flight = 4;
  Serving serving(8, options);
  serving.send(50, protocol::kOneway);
  int ended = 0;
  EXPECT_TRUE(eventually([&] {
    for (; ended < serving.handler->requests; ++ended) serving.link->end_request(sizeof(std::uint32_t));
    return ended == 50;
  }));
}

TEST(Inside, AHandshakeGoesOnWhenTheSocketHasRoomAgain) {
  Authority authority;
  auto [left, right] = transport::make_inproc_pair();
  const auto counts = std::make_shared<CountedStream::Counts>();
  counts->refuse_writes = true;
  const auto reactor = std::make_shared<transport::Reactor>();
  ServerLink::Options options;
  options.handshake_timeout = 2 * mftest::kLong;  // its end would write buffered bytes, too
  const auto link = std::make_shared<ServerLink>(
      std::make_unique<transport::TlsStream>(std::make_unique<CountedStream>(std::move(left), counts),
                                             transport::make_tls_server(authority.issue()), Address()),
      std::move(options), reactor);
  const auto handler = std::make_shared<Answering>();
  handler->link = link.get();
  link->open(handler);
  auto client = std::make_unique<transport::TlsStream>(std::move(right),
                                                       transport::make_tls_client(authority.accepted()),
                                                       Address::parse("tls://localhost:1"));
  auto shaking = std::async(std::launch::async, [&] { return mftest::shake_hands(*client); });
  EXPECT_TRUE(eventually([&] { return counts->refused > 0; }));
  counts->refuse_writes = false;
  EXPECT_FALSE(shaking.get());
  link->close("");
  reactor->stop();
}

TEST(Inside, AClientReadsOnWhatItsStreamHolds) {
  auto [left, right] = transport::make_inproc_pair();
  const auto reactor = std::make_shared<transport::Reactor>();
  Peer peer(protocol::Role::server, std::move(left));
  std::thread greeting([&] { peer.greet(); });
  const auto link = mftest::open(std::make_unique<Keeping>(std::move(right)), {}, reactor, soon()).value();
  greeting.join();
  constexpr std::size_t kCalls = 500;
  Ends ends;
  auto payload = bytes_of(7);
  for (std::size_t i = 0; i < kCalls; ++i) link->start({}, payload, soon(), ends.one());
  std::vector<Peer::Seen> requests;
  while (requests.size() < kCalls) requests.push_back(peer.next(EventType::request));
  for (const auto& request : requests) peer.echo(request);
  peer.flush();
  EXPECT_TRUE(eventually([&] { return ends.size() == kCalls; }));
  link->close("the test is over");
  reactor->stop();
}

}  // namespace
}  // namespace mf::link
