// The streams under sessions and conversations: plain sockets, and TLS.
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <cerrno>
#include <deque>
#include <type_traits>
#include <utility>

#include "http/conversation.hpp"
#include "http/session.hpp"
#include "mf/transport/tls_native.hpp"

namespace mf::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
namespace websocket = boost::beast::websocket;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;
using Plain = tcp::socket;
using Tls = asio::ssl::stream<tcp::socket>;

constexpr std::uint32_t kMostHeaderBytes = 16U << 10U;
constexpr std::size_t kReadAtOnce = std::size_t{16} << 10U;
// After an answer that ends the connection, what still comes is read for so long, so that the answer arrives.
constexpr auto kLinger = std::chrono::seconds(2);
// A WebSocket that is silent gets a ping, and is ended when it does not answer.
constexpr auto kSilence = std::chrono::seconds(60);

tcp::socket& socket_of(Plain& stream) noexcept {
  return stream;
}
tcp::socket& socket_of(Tls& stream) noexcept {
  return stream.next_layer();
}

std::string peer_of(const tcp::socket& socket, bool tls) {
  Failed failed;
  const auto from = socket.remote_endpoint(failed);
  if (failed) return tls ? "tls://unknown" : "tcp://unknown";
  const auto host = from.address().to_string();
  return (tls ? "tls://" : "tcp://") + (from.address().is_v6() ? '[' + host + ']' : host) + ':' +
         std::to_string(from.port());
}

void end_socket(tcp::socket& socket) {
  Failed ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.close(ignored);
}

bool is_trusted(Core& /*core*/, Plain& /*stream*/, std::uint64_t& /*checked*/) {
  return true;
}
/// `checked`: for which reading of the files it was found last.
bool is_trusted(Core& core, Tls& stream, std::uint64_t& checked) {
  return transport::native_trusted(*core.tls(), stream.native_handle(), checked);
}

// ---- WebSocket

template <class Stream>
class ConversationOf final : public Conversation {
 public:
  ConversationOf(Core& core, Visitor visitor, Visit visit, Stream&& stream)
      : Conversation(core, std::move(visitor), std::move(visit)), stream_(std::move(stream)) {}

  void accept(Session::Request&& request) {
    websocket::stream_base::timeout times{};
    times.handshake_timeout = core().options().header_timeout;
    times.idle_timeout = kSilence;
    times.keep_alive_pings = true;
    stream_.set_option(times);
    stream_.read_message_max(core().options().max_body);
    stream_.text(true);
    stream_.auto_fragment(false);  // a message is a frame
    request_ = std::move(request);
    stream_.async_accept(request_, [this, self = this->shared_from_this()](Failed failed) {
      request_ = {};
      if (failed) return end_socket(socket_of(stream_.next_layer()));
      ready();
    });
  }

 private:
  void read() override {
    stream_.async_read(in_, [this, self = this->shared_from_this()](Failed failed, std::size_t) {
      if (failed) return on_lost();
      if (!stream_.got_text()) return say_goodbye(websocket::close_code::unknown_data, "messages are text");
      std::string text(static_cast<const char*>(in_.data().data()), in_.data().size());
      in_.consume(in_.size());
      on_text(std::move(text));
    });
  }
  void write(std::string text, Then then) override {
    out_.push_back({std::move(text), std::move(then)});
    if (out_.size() == 1) write_next();
  }
  void write_next() {
    stream_.async_write(asio::buffer(out_.front().text),
                        [this, self = this->shared_from_this()](Failed failed, std::size_t) {
                          if (failed) return on_lost();
                          auto then = std::move(out_.front().then);
                          out_.pop_front();
                          if (!out_.empty()) {
                            write_next();
                          } else if (goodbye_) {
                            close_stream();
                          }
                          if (then) then();
                        });
  }
  void say_goodbye(std::uint16_t code, std::string_view why) override {
    if (goodbye_) return;
    goodbye_.emplace(static_cast<websocket::close_code>(code), beast::string_view(why.data(), why.size()));
    if (out_.empty()) close_stream();
  }
  void close_stream() {
    stream_.async_close(*goodbye_, [this, self = this->shared_from_this()](Failed) { close(); });
  }
  void shut() override { end_socket(socket_of(stream_.next_layer())); }
  bool trusted() override { return is_trusted(core(), stream_.next_layer(), checked_); }

  struct Outgoing {
    std::string text;
    Then then;
  };

  websocket::stream<Stream> stream_;
  Session::Request request_;
  beast::flat_buffer in_;
  std::deque<Outgoing> out_;  // the first one is being written
  std::uint64_t checked_ = 0;
  std::optional<websocket::close_reason> goodbye_;
};

// ---- HTTP

template <class Stream>
class SessionOf final : public Session {
  static constexpr bool kTls = std::is_same_v<Stream, Tls>;
  using Parser = bhttp::request_parser<bhttp::string_body>;

 public:
  SessionOf(Core& core, std::string peer, Stream&& stream)
      : Session(core, std::move(peer)), stream_(std::move(stream)) {}

  void begin() {
    enter();
    if constexpr (kTls) {
      wait_until(mf::now() + core().options().header_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [this, self = shared_from_this()](Failed failed) {
                                if (failed) return close();
                                ready(transport::native_identity(stream_.native_handle()));
                              });
    } else {
      ready({});
    }
  }

 private:
  void read() override {
    release();
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(core().options().max_body);
    parser_->eager(true);
    headed_ = false;
    head_ = 0;
    if (in_.size() != 0) {
      wait_until(mf::now() + core().options().header_timeout);
      return parse();
    }
    wait_until(mf::now() + core().options().idle_timeout);
    more();
  }

  void more() {
    stream_.async_read_some(in_.prepare(kReadAtOnce),
                            [this, self = shared_from_this()](Failed failed, std::size_t bytes) {
                              if (closed()) return;
                              if (failed) return close();
                              const bool is_first = !headed_ && in_.size() == 0 && !begun_;
                              in_.commit(bytes);
                              if (is_first) wait_until(mf::now() + core().options().header_timeout);
                              begun_ = true;
                              parse();
                            });
  }

  void parse() {
    for (;;) {
      Failed failed;
      const auto used = parser_->put(in_.data(), failed);
      in_.consume(used);
      if (failed && failed != bhttp::error::need_more) return broken(failed);
      // The parser bounds what it has not taken yet, and takes one field after another.
      if (!parser_->is_header_done() && (head_ += used) + in_.size() > kMostHeaderBytes)
        return broken(bhttp::error::header_limit);
      if (parser_->is_header_done() && !std::exchange(headed_, true) && !on_head()) return;
      if (parser_->is_done()) {
        begun_ = false;
        const auto kept = std::min(held_, parser_->get().body().size());  // what was not sent is free again
        core().release(held_ - kept);
        held_ = kept;
        return on_request(parser_->release());
      }
      if (failed || in_.size() == 0 || used == 0) return more();
    }
  }

  /// The fields have come, and the body follows.
  bool on_head() {
    if (parser_->is_done()) return true;
    wait_until(mf::now() + core().options().body_timeout);
    const auto length = parser_->content_length();
    const auto bytes = length ? static_cast<std::size_t>(*length) : core().options().max_body;
    if (!core().hold(bytes)) {
      on_broken(503, "bodies that are being read hold all the memory that they may; try again later");
      return false;
    }
    held_ = bytes;
    const auto expected = parser_->get()[bhttp::field::expect];
    if (expected.empty()) return true;
    if (!beast::iequals(expected, "100-continue")) {
      on_broken(417, "an expectation that is not known");
      return false;
    }
    continue_ = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(continue_),
                      [this, self = shared_from_this()](Failed failed, std::size_t) {
                        if (failed && !closed()) return close();
                        if (!closed()) more();
                      });
    return false;
  }

  void release() noexcept { core().release(std::exchange(held_, 0)); }

  void broken(Failed why) {
    if (why == bhttp::error::header_limit)
      return on_broken(431,
                       "the header fields have more than " + std::to_string(kMostHeaderBytes) + " bytes");
    if (why == bhttp::error::body_limit)
      return on_broken(413, "the body has more than " + std::to_string(core().options().max_body) + " bytes");
    on_broken(400, "this is no request of HTTP/1.1: " + why.message());
  }

  void write(std::string bytes, Then then) override {
    out_ = std::move(bytes);
    then_ = std::move(then);
    wait_until(mf::now() + core().options().body_timeout);
    asio::async_write(stream_, asio::buffer(out_),
                      [this, self = shared_from_this()](Failed failed, std::size_t) {
                        auto next = std::move(then_);
                        if (closed()) return;
                        if (failed) return close();
                        if (next) next();
                      });
  }

  void linger() override {
    wait_until(mf::now() + kLinger);
    Failed ignored;
    if constexpr (kTls) {
      stream_.async_shutdown([this, self = shared_from_this()](Failed) { close(); });
    } else {
      stream_.shutdown(tcp::socket::shutdown_send, ignored);
      discard();
    }
  }
  void discard() {
    stream_.async_read_some(asio::buffer(discarded_),
                            [this, self = shared_from_this()](Failed failed, std::size_t) {
                              if (closed()) return;
                              if (failed) return close();
                              discard();
                            });
  }

  void shut() override {
    release();
    end_socket(socket_of(stream_));
  }

  /// Whether the client has closed its end, also where bytes of it wait: a close_notify, or more requests.
  bool gone() override {
    constexpr short kGone = POLLRDHUP | POLLHUP | POLLERR | POLLNVAL;
    pollfd end{.fd = socket_of(stream_).native_handle(), .events = POLLRDHUP, .revents = 0};
    return ::poll(&end, 1, 0) > 0 && (end.revents & kGone) != 0;
  }

  bool trusted() override { return is_trusted(core(), stream_, checked_); }

  void upgrade(Request&& request, Visit visit, Visitor visitor) override {
    release();
    if (in_.size() != 0) return shut();  // frames before there is a WebSocket
    std::make_shared<ConversationOf<Stream>>(core(), std::move(visitor), std::move(visit), std::move(stream_))
        ->accept(std::move(request));
  }

  Stream stream_;
  beast::flat_buffer in_;
  std::optional<Parser> parser_;
  bool begun_ = false;    // a byte of the request has come
  bool headed_ = false;   // its header fields have
  std::size_t head_ = 0;  // bytes of header fields that the parser has taken
  std::size_t held_ = 0;
  std::uint64_t checked_ = 0;
  std::string continue_;
  std::string out_;
  Then then_;
  std::array<char, 1'024> discarded_{};
};

}  // namespace

namespace {

/// A client whose host has vanished says no end: the system asks it after half a minute of silence.
void keep_alive(int socket) noexcept {
  const auto set = [&](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

void welcome(Core& core, tcp::socket socket) {
  Failed ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  keep_alive(socket.native_handle());
  auto peer = peer_of(socket, core.tls() != nullptr);
  if (core.tls() == nullptr)
    return std::make_shared<SessionOf<Plain>>(core, std::move(peer), std::move(socket))->begin();
  auto* const ssl = static_cast<SSL*>(transport::native_connection(*core.tls()));
  std::make_shared<SessionOf<Tls>>(core, std::move(peer), Tls(std::move(socket), ssl))->begin();
}

}  // namespace mf::http
