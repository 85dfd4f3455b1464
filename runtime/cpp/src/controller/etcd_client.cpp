#include "controller/etcd_client.hpp"

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cstring>
#include <utility>

#include "mf/codec/json_text.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/log.hpp"
#include "transport/names.hpp"

namespace mf::controller::etcd {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;

/// Longer ones are not etcd's, which has at most 1.5 MiB in a value.
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;
constexpr std::size_t kShown = 200;  // of what is no answer

std::string place(const Address& server) {
  return "etcd at " + server.host + ":" + std::to_string(server.port);
}

[[noreturn]] void fail(const Address& server, const boost::system::error_code& error) {
  if (error == beast::error::timeout) throw EtcdError(place(server) + " does not answer");
  throw EtcdError(place(server) + ": " + error.message());
}

[[noreturn]] void no_answer(std::string_view text) {
  throw EtcdError("what has come is no answer of etcd: " + log_quoted(text, kShown));
}

json::object parsed(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) no_answer(text);
  return std::move(value.as_object());
}

/// etcd's refusal, as a failed answer or in a stream.
[[noreturn]] void refused(const Address& server, const json::object& answer, std::string_view text) {
  for (const char* name : {"message", "error"})
    if (const auto* const words = answer.if_contains(name); words != nullptr && words->is_string())
      throw EtcdError(place(server) + " refuses: " + std::string(words->as_string()));
  if (const auto* const error = member(answer, "error")) refused(server, *error, text);
  no_answer(text);
}

http::request<http::string_body> request_of(const Address& server, std::string_view path,
                                            const json::object& question) {
  http::request<http::string_body> request(http::verb::post, "/v3/" + std::string(path), 11);
  request.set(http::field::host, server.host + ":" + std::to_string(server.port));
  request.set(http::field::content_type, "application/json");
  // Else a server that has lost the others goes on answering from what it has, and a watch is silent.
  request.set("Grpc-Metadata-hasleader", "true");
  request.body() = json::serialize(question);
  request.prepare_payload();
  return request;
}

asio::awaitable<void> connect_to(beast::tcp_stream& stream, const Address& server) {
  static transport::Names names;
  const auto found = names.find(server, mf::now() + kAnswerWithin, {});
  boost::system::error_code error = asio::error::host_not_found;
  if (found.addresses.empty()) throw EtcdError(place(server) + ": " + found.problem);
  for (const auto& address : found.addresses) {
    asio::ip::tcp::endpoint endpoint;
    if (address.size > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), &address.bytes, address.size);
    endpoint.resize(address.size);
    co_await stream.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
    if (!error) break;
  }
  if (error) fail(server, error);
  stream.socket().set_option(asio::ip::tcp::no_delay(true), error);
}

const json::value* find(const json::object& of, std::string_view name) {
  return of.if_contains(json::string_view(name.data(), name.size()));
}

Bytes bytes_of(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  if (value == nullptr) return {};
  if (!value->is_string()) no_answer(name);
  const std::string_view text(value->as_string().data(), value->as_string().size());
  std::vector<std::byte> bytes(codec::json_text::base64_size(text));
  if (!codec::json_text::read_base64(text, bytes)) no_answer(text);
  return Bytes(bytes);
}

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  std::string text;
  codec::json_text::append_base64(text, bytes);
  return text;
}

std::string base64(std::string_view text) {
  return base64(std::as_bytes(std::span(text)));
}

std::string end_of(std::string prefix) {
  ++prefix.back();
  return prefix;
}

std::int64_t number(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->as_int64();
  if (!value->is_string()) no_answer(name);
  const json::string& text = value->as_string();
  std::int64_t read = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, read).ptr != end || text.empty())
    no_answer(std::string_view(text.data(), text.size()));
  return read;
}

bool flag(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value != nullptr && value->is_bool() && value->as_bool();
}

const json::object* member(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* list(const json::object& of, std::string_view name) {
  const json::value* const value = find(of, name);
  return value == nullptr ? nullptr : value->if_array();
}

const json::object& object_in(const json::value& of) {
  if (!of.is_object()) no_answer(json::serialize(of));
  return of.as_object();
}

std::int64_t revision_of(const json::object& answer) {
  const json::object* const header = member(answer, "header");
  if (header == nullptr) no_answer(json::serialize(answer));
  return number(*header, "revision");
}

KeyValue key_value(const json::object& from) {
  KeyValue read;
  const Bytes key = bytes_of(from, "key");
  read.key = key.text();
  read.value = bytes_of(from, "value");
  read.revision = number(from, "mod_revision");
  return read;
}

std::optional<KeyValue> first_of(const json::object& range) {
  const json::array* const found = list(range, "kvs");
  if (found == nullptr || found->empty()) return std::nullopt;
  return key_value(object_in(found->front()));
}

Connection::Connection(asio::any_io_executor executor, Address server)
    : server_(std::move(server)), stream_(std::move(executor)) {}

asio::awaitable<void> Connection::connect() {
  if (connected_) co_return;
  buffer_.clear();
  co_await connect_to(stream_, server_);
  connected_ = true;
}

asio::awaitable<json::object> Connection::ask(std::string path, json::object question) {
  stream_.expires_after(kAnswerWithin);
  co_await connect();
  const auto request = request_of(server_, path, question);
  boost::system::error_code error;
  co_await http::async_write(stream_, request, asio::redirect_error(asio::use_awaitable, error));
  http::response_parser<http::string_body> parser;
  parser.body_limit(kLongestAnswer);
  if (!error)
    co_await http::async_read(stream_, buffer_, parser, asio::redirect_error(asio::use_awaitable, error));
  if (error) {
    connected_ = false;
    stream_.close();
    fail(server_, error);
  }
  if (!parser.keep_alive()) {
    connected_ = false;
    stream_.close();
  }
  const std::string& text = parser.get().body();
  json::object answer = parsed(text);
  if (parser.get().result() != http::status::ok || answer.contains("error")) refused(server_, answer, text);
  co_return answer;
}

Watch::Watch(asio::any_io_executor executor, Address server)
    : server_(std::move(server)), stream_(std::move(executor)) {
  parser_.body_limit(boost::none);
}

asio::awaitable<void> Watch::begin(std::string prefix, std::int64_t revision) {
  stream_.expires_after(kAnswerWithin);
  co_await connect_to(stream_, server_);
  json::object what{{"key", base64(prefix)},
                    {"range_end", base64(end_of(prefix))},
                    {"start_revision", std::to_string(revision)}};
  json::object question;
  question["create_request"] = std::move(what);
  const auto request = request_of(server_, "watch", question);
  boost::system::error_code error;
  co_await http::async_write(stream_, request, asio::redirect_error(asio::use_awaitable, error));
  if (!error)
    co_await http::async_read_header(stream_, buffer_, parser_,
                                     asio::redirect_error(asio::use_awaitable, error));
  if (error) fail(server_, error);
  if (parser_.get().result() != http::status::ok)
    throw EtcdError(place(server_) + " refuses a watch: HTTP " + std::to_string(parser_.get().result_int()));
  const json::object answer = co_await next();
  if (!flag(answer, "created")) no_answer(json::serialize(answer));
  stream_.expires_never();
}

asio::awaitable<json::object> Watch::next() {
  std::size_t looked_at = 0;
  for (;;) {
    if (const std::size_t end = text_.find('\n', looked_at); end != std::string::npos) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      const json::object answer = parsed(line);
      const json::object* const result = member(answer, "result");
      if (result == nullptr) refused(server_, answer, line);
      if (flag(*result, "canceled")) throw EtcdError(place(server_) + " has ended the watch: " + line);
      co_return *result;
    }
    looked_at = text_.size();
    if (text_.size() > kLongestAnswer) no_answer(std::string_view(text_).substr(0, kShown));
    if (parser_.is_done()) throw EtcdError(place(server_) + " has ended the watch");
    std::array<char, 16'384> piece{};
    parser_.get().body().data = piece.data();
    parser_.get().body().size = piece.size();
    boost::system::error_code error;
    co_await http::async_read_some(stream_, buffer_, parser_,
                                   asio::redirect_error(asio::use_awaitable, error));
    if (error && error != http::error::need_buffer) fail(server_, error);
    text_.append(piece.data(), piece.size() - parser_.get().body().size);
  }
}

}  // namespace mf::controller::etcd
