#include "mf/monitor/door.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "mf/core/error.hpp"

namespace mf::monitor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;
using Response = http::response<http::string_body>;

// One more is closed at once.
constexpr std::size_t kMostConnections = 32;
// From the connection, or the answer before, to the end of the next answer.
constexpr auto kRequestWithin = std::chrono::seconds(5);
constexpr std::uint32_t kMostHeaderBytes = 8 * 1024;
constexpr auto kAcceptAgainAfter = std::chrono::milliseconds(100);

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error(Code::invalid_argument, Execution::not_executed, "monitor '" + where + "' " + why);
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

/// The host of a Host header, without its port.
std::string_view host_of(std::string_view header) {
  const auto colon = header.rfind(':');
  return colon == std::string_view::npos || header.ends_with(']') ? header : header.substr(0, colon);
}

tcp::endpoint endpoint_of(const std::string& where, bool open) {
  const auto colon = where.rfind(':');
  const char* const end = where.data() + where.size();
  std::uint16_t port = 0;
  if (colon == std::string::npos) refuse(where, "is no HOST:PORT");
  if (const auto read = std::from_chars(where.data() + colon + 1, end, port);
      read.ec != std::errc() || read.ptr != end)
    refuse(where, "has no port from 0 to 65535");
  auto host = where.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Failed failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed) refuse(where, "has no IP address as its host");
  if (!address.is_loopback() && !open)
    refuse(where,
           "is beyond this host: every program that reaches it may read it; listen at 127.0.0.1, or open it");
  return {address, port};
}

}  // namespace

class Door::Listener {
 public:
  Listener(const std::string& where, bool open, Source source, Log log)
      : source_(std::move(source)), log_(std::move(log)), acceptor_(context_), again_(context_) {
    const auto at = endpoint_of(where, open);
    loopback_ = at.address().is_loopback();
    try {
      acceptor_.open(at.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(at);
      acceptor_.listen(kMostConnections);
    } catch (const boost::system::system_error& failed) {
      throw Error(Code::unavailable, Execution::not_executed,
                  "monitor '" + where + "': cannot listen there: " + failed.code().message());
    }
    const auto bound = acceptor_.local_endpoint();
    const auto host = bound.address().to_string();
    address_ = (bound.address().is_v6() ? '[' + host + ']' : host) + ':' + std::to_string(bound.port());
    accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Listener() {
    context_.stop();
    thread_.join();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// What is answered to a request.
  [[nodiscard]] Response answer(const http::request<http::empty_body>& request) {
    const auto reply = [&](http::status status, std::string text) {
      Response response(status, request.version());
      response.set(http::field::content_type, "text/plain; charset=utf-8");
      response.set("X-Content-Type-Options", "nosniff");
      response.set(http::field::cache_control, "no-store");
      response.keep_alive(request.keep_alive());
      response.body() = std::move(text);
      response.prepare_payload();
      return response;
    };
    if (loopback_ && !is_loopback_name(host_of(request[http::field::host])))
      return reply(http::status::misdirected_request, "this door answers requests for localhost alone\n");
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      auto refused = reply(http::status::method_not_allowed, "GET alone\n");
      refused.set(http::field::allow, "GET, HEAD");
      return refused;
    }
    const auto path = request.target().substr(0, request.target().find('?'));
    if (path == "/livez") return reply(http::status::ok, "ok\n");
    if (path == "/readyz") {
      auto why = source_.not_ready();
      return why.empty() ? reply(http::status::ok, "ok\n")
                         : reply(http::status::service_unavailable, std::move(why));
    }
    if (path == "/metrics") {
      const auto format =
          request[http::field::accept].find("application/openmetrics-text") != beast::string_view::npos
              ? Format::open_metrics
              : Format::prometheus;
      Exposition out(format);
      source_.expose(out);
      expose_process(out);
      auto response = reply(http::status::ok, std::move(out).text());
      const auto type = Exposition::content_type(format);
      response.set(http::field::content_type, beast::string_view(type.data(), type.size()));
      return response;
    }
    return reply(http::status::not_found, "/metrics, /livez and /readyz are here\n");
  }
  void log_exception() const noexcept { log_escaped_exception(log_, "the monitor's door"); }
  void left() noexcept { --open_; }

 private:
  class Visit;

  void accept();

  const Source source_;
  const Log log_;
  std::string address_;
  bool loopback_ = true;
  std::size_t open_ = 0;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer again_;
  std::thread thread_;
};

/// One connection.
class Door::Listener::Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(Listener& at, tcp::socket socket) : at_(at), stream_(std::move(socket)) {}
  ~Visit() { at_.left(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(0);
    stream_.expires_after(kRequestWithin);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Failed failed, std::size_t) {
      if (!failed) self->write();
    });
  }

 private:
  void write() {
    try {
      response_ = at_.answer(parser_->get());
    } catch (...) {
      at_.log_exception();
      response_ = Response(http::status::internal_server_error, parser_->get().version());
      response_.prepare_payload();
    }
    if (parser_->get().method() == http::verb::head) response_.body().clear();
    http::async_write(stream_, response_, [self = shared_from_this()](Failed failed, std::size_t) {
      if (!failed && self->response_.keep_alive()) return self->read();
      Failed ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  Listener& at_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMostHeaderBytes};
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
};

void Door::Listener::accept() {
  acceptor_.async_accept([this](Failed failed, tcp::socket socket) {
    if (failed) {  // mostly for lack of descriptors
      again_.expires_after(kAcceptAgainAfter);
      again_.async_wait([this](Failed ended) {
        if (!ended) accept();
      });
      return;
    }
    if (open_ < kMostConnections) {
      ++open_;
      std::make_shared<Visit>(*this, std::move(socket))->read();
    }
    accept();
  });
}

Door::Door(const std::string& where, bool open, Source source, Log log)
    : listener_(std::make_unique<Listener>(where, open, std::move(source), std::move(log))) {}

Door::~Door() = default;

const std::string& Door::address() const noexcept {
  return listener_->address();
}

}  // namespace mf::monitor
