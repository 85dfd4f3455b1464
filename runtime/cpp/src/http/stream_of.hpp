// The streams under exchanges: plain sockets, and TLS. All bounds of what a peer may send, and for how long,
// are kept here.
#pragma once

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "http/exchange.hpp"
#include "mf/transport/tls_native.hpp"

namespace mf::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;
using Plain = tcp::socket;
using Tls = asio::ssl::stream<tcp::socket>;

inline constexpr std::uint32_t kMostHeaderBytes = 16U << 10U;
inline constexpr std::size_t kReadAtOnce = std::size_t{16} << 10U;
// So much is read first, and kept while a connection waits for a request.
inline constexpr std::size_t kReadFirst = std::size_t{2} << 10U;
// After an answer that ends the connection, what still comes is read for so long, so that the answer arrives.
inline constexpr auto kLinger = std::chrono::seconds(2);

inline tcp::socket& socket_of(Plain& stream) noexcept {
  return stream;
}
inline tcp::socket& socket_of(Tls& stream) noexcept {
  return stream.next_layer();
}

inline std::string peer_of(const tcp::socket& socket, bool tls) {
  Failed failed;
  const auto from = socket.remote_endpoint(failed);
  if (failed) return tls ? "tls://unknown" : "tcp://unknown";
  const auto host = from.address().to_string();
  return (tls ? "tls://" : "tcp://") + (from.address().is_v6() ? '[' + host + ']' : host) + ':' +
         std::to_string(from.port());
}

inline void end_socket(tcp::socket& socket) {
  Failed ignored;
  socket.shutdown(tcp::socket::shutdown_both, ignored);
  socket.close(ignored);
}

inline bool is_trusted(House& /*house*/, Plain& /*stream*/, std::uint64_t& /*checked*/) {
  return true;
}
/// `checked`: for which reading of the files it was found last.
inline bool is_trusted(House& house, Tls& stream, std::uint64_t& checked) {
  return transport::native_trusted(*house.tls(), stream.native_handle(), checked);
}

/// An exchange over a stream of this type. `Base` is derived from Exchange, and made of the arguments
/// `for_base` and the address of the peer.
template <class Stream, class Base>
class StreamOf : public Base {
  using Request = Exchange::Request;
  using Then = Exchange::Then;
  static constexpr bool kTls = std::is_same_v<Stream, Tls>;
  using Parser = bhttp::request_parser<bhttp::string_body>;

 public:
  template <class ForBase>
  StreamOf(ForBase& for_base, std::string peer, Stream&& stream)
      : Base(for_base, std::move(peer)), stream_(std::move(stream)) {}

  void begin() {
    enter();
    if constexpr (kTls) {
      wait_until(mf::now() + house().options().header_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [this, self = shared_from_this()](Failed failed) {
                                if (failed) return close();
                                ready(transport::native_identity(stream_.native_handle()));
                              });
    } else {
      ready({});
    }
  }

 protected:
  using Base::close;
  using Base::closed;
  using Base::enter;
  using Base::house;
  using Base::on_broken;
  using Base::on_request;
  using Base::ready;
  using Base::wait_until;
  [[nodiscard]] std::shared_ptr<StreamOf> shared_from_this() {
    return std::static_pointer_cast<StreamOf>(Exchange::shared_from_this());
  }
  /// The stream, for another object; nothing: the peer has sent more than its request, and the stream is
  /// closed.
  [[nodiscard]] std::optional<Stream> take_stream() {
    release();
    if (in_.size() == 0) return std::move(stream_);
    end_socket(socket_of(stream_));
    return std::nullopt;
  }

 private:
  void read() override {
    release();
    if (in_.size() == 0 && in_.capacity() > kReadFirst) in_.shrink_to_fit();
    out_ = {};
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(house().options().max_body);
    parser_->eager(true);
    headed_ = false;
    head_ = 0;
    if (in_.size() != 0) {
      wait_until(mf::now() + house().options().header_timeout);
      return parse();
    }
    wait_until(mf::now() + house().options().idle_timeout);
    more();
  }

  void more() {
    stream_.async_read_some(in_.prepare(begun_ || in_.size() != 0 ? kReadAtOnce : kReadFirst),
                            [this, self = shared_from_this()](Failed failed, std::size_t bytes) {
                              if (closed()) return;
                              if (failed) return close();
                              const bool is_first = !headed_ && in_.size() == 0 && !begun_;
                              in_.commit(bytes);
                              if (is_first) wait_until(mf::now() + house().options().header_timeout);
                              begun_ = true;
                              parse();
                            });
  }

  void parse() {
    for (;;) {
      Failed failed;
      if (!parser_->is_header_done() && is_folded()) return broken_fold();
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
        house().release(held_ - kept);
        held_ = kept;
        return on_request(parser_->release());
      }
      // Nor does it take the line before a chunk, or the fields behind the last one, before they have an end.
      if (used == 0 && in_.size() > kMostHeaderBytes) return broken(bhttp::error::header_limit);
      if (failed || in_.size() == 0 || used == 0) return more();
    }
  }

  /// Whether a field goes on in the next line, which no client writes any more, and others read differently.
  [[nodiscard]] bool is_folded() const {
    const std::string_view text(static_cast<const char*>(in_.data().data()), in_.size());
    for (auto at = text.find("\r\n"); at != std::string_view::npos; at = text.find("\r\n", at + 2)) {
      if (at + 2 == text.size() || text[at + 2] == '\r') return false;
      if (text[at + 2] == ' ' || text[at + 2] == '\t') return true;
    }
    return false;
  }
  void broken_fold() { on_broken(400, "a field goes on in the next line, which HTTP has given up"); }

  /// The fields have come, and the body follows.
  bool on_head() {
    if (parser_->is_done()) return true;
    house().reached(*this, Stage::idle);
    wait_until(mf::now() + house().options().body_timeout);
    const auto length = parser_->content_length();
    const auto bytes = length ? static_cast<std::size_t>(*length) : house().options().max_body;
    if (!house().hold(bytes)) {
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

  void release() noexcept { house().release(std::exchange(held_, 0)); }

  void broken(Failed why) {
    if (why == bhttp::error::header_limit)
      return on_broken(431, "the header fields, or those of a chunk, have more than " +
                                std::to_string(kMostHeaderBytes) + " bytes");
    if (why == bhttp::error::body_limit)
      return on_broken(413,
                       "the body has more than " + std::to_string(house().options().max_body) + " bytes");
    on_broken(400, "this is no request of HTTP/1.1: " + why.message());
  }

  void write(std::string bytes, Then then) override {
    out_ = std::move(bytes);
    wait_until(mf::now() + house().options().body_timeout, true);
    asio::async_write(
        stream_, asio::buffer(out_),
        [this, self = shared_from_this(), then = std::move(then)](Failed failed, std::size_t) mutable {
          if (closed()) return;
          if (failed) return close();
          if (then) then();
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

  bool trusted() override { return is_trusted(house(), stream_, checked_); }

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
  std::array<char, 1'024> discarded_{};
};

/// A client whose host has vanished says no end: the system asks it after half a minute of silence.
inline void keep_alive(int socket) noexcept {
  const auto set = [&](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

/// Serves a new connection by `OverPlain` or `OverTls`, which are made of `for_base`, the address of the peer
/// and the stream.
template <class OverPlain, class OverTls, class ForBase>
void serve_by(House& house, ForBase& for_base, tcp::socket socket) {
  Failed ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  keep_alive(socket.native_handle());
  auto peer = peer_of(socket, house.tls() != nullptr);
  if (house.tls() == nullptr)
    return std::make_shared<OverPlain>(for_base, std::move(peer), std::move(socket))->begin();
  auto* const ssl = static_cast<SSL*>(transport::native_connection(*house.tls()));
  std::make_shared<OverTls>(for_base, std::move(peer), Tls(std::move(socket), ssl))->begin();
}

}  // namespace mf::http
