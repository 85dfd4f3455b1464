// The part of etcd's API that a controller's store uses: the JSON gateway of API v3 (POST /v3/kv/txn and so
// on), over HTTP/1.1. Keys and values are base64 there, numbers of 64 bits are strings, and values that are
// zero or false are omitted.
//
// It uses TLS, and authenticates a user, if Access says so: then a connection first requests a token, which
// is part of each later request.
//
// Everything runs on one thread's io_context. Failures throw EtcdError: no answer in time, an answer that is
// not from etcd, or etcd's own refusal with its message.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controller/etcd_json.hpp"
#include "mf/controller/etcd_store.hpp"
#include "mf/core/types.hpp"
#include "mf/transport/address.hpp"
#include "mf/transport/names.hpp"

namespace mf::controller {

namespace etcd {

/// The time limit for a request and its answer, including connecting.
inline constexpr std::chrono::seconds kAnswerWithin{3};

[[nodiscard]] std::string base64(std::string_view text);
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);
/// The key after all that begin with `prefix`, with which etcd describes ranges.
[[nodiscard]] std::string end_of(std::string prefix);

/// The state that all connections of a store share.
struct Access {
  /// Throws Error(INVALID_ARGUMENT), which names the unusable file.
  Access(const EtcdOptions& options, bool with_tls);

  std::optional<boost::asio::ssl::context> tls;
  const std::string server_name;  // the name that certificates must be for; empty: the host of the address
  const std::string user;         // empty: etcd does not require one
  const std::string password;
  transport::Names names;
};

/// A connection, plain or over TLS, that may be closed and opened again.
class Channel {
 public:
  using Error = boost::system::error_code;
  using Request = boost::beast::http::request<boost::beast::http::string_body>;

  Channel(boost::asio::any_io_executor executor, Address server, std::shared_ptr<Access> access);

  /// Sets the time limit for all later operations.
  void expires_after(std::chrono::seconds time);
  void expires_never();
  /// Does nothing if it is connected.
  boost::asio::awaitable<void> connect();
  void close();
  boost::asio::awaitable<Error> write(const Request& request);
  template <class Parser>
  boost::asio::awaitable<Error> read(Parser& parser);
  template <class Parser>
  boost::asio::awaitable<Error> read_header(Parser& parser);
  template <class Parser>
  boost::asio::awaitable<Error> read_some(Parser& parser);

  [[nodiscard]] const Address& server() const noexcept { return server_; }
  [[nodiscard]] const Access& access() const noexcept { return *access_; }

 private:
  boost::asio::awaitable<void> secure();

  const boost::asio::any_io_executor executor_;
  const Address server_;
  const std::shared_ptr<Access> access_;
  std::optional<boost::beast::tcp_stream> plain_;  // or
  std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream>> tls_;
  std::optional<std::chrono::steady_clock::time_point> until_;
  boost::beast::flat_buffer buffer_;
};

/// Sends one request at a time, over a persistent connection.
class Connection {
 public:
  Connection(boost::asio::any_io_executor executor, Address server, std::shared_ptr<Access> access);

  boost::asio::awaitable<boost::json::object> ask(std::string path, boost::json::object question);
  /// The token of the user, available after the first request; empty without a user.
  [[nodiscard]] const std::string& token() const noexcept { return token_; }

 private:
  struct Answer {
    bool ok = false;
    boost::json::object said;
    std::string text;
  };
  boost::asio::awaitable<Answer> exchange(std::string path, boost::json::object question);
  boost::asio::awaitable<void> log_in();

  Channel channel_;
  std::string token_;
};

/// The changes of keys with a prefix, from a revision on. etcd ends the watch when it has no leader.
class Watch {
 public:
  Watch(boost::asio::any_io_executor executor, Address server, std::shared_ptr<Access> access);

  /// `token`: that of a connection to the same server.
  boost::asio::awaitable<void> begin(std::string prefix, std::int64_t revision, std::string token);
  /// The next message, with or without events.
  boost::asio::awaitable<boost::json::object> next();

 private:
  using Parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  Channel channel_;
  Parser parser_;
  std::string text_;  // received text of incomplete messages
};

}  // namespace etcd
}  // namespace mf::controller
