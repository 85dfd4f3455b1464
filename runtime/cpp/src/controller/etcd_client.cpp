#include "controller/etcd_client.hpp"

#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "mf/codec/json_text.hpp"
#include "mf/core/clock.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"

namespace mf::controller::etcd {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace json = boost::json;

/// Longer answers are not from etcd, whose values have at most 1.5 MiB.
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;
constexpr std::size_t kShown = 200;  // of an invalid answer

std::string place(const Address& server) {
  return "etcd at " + server.host + ":" + std::to_string(server.port);
}

[[noreturn]] void fail(const Address& server, const boost::system::error_code& error) {
  if (error == beast::error::timeout) throw EtcdError(place(server) + " does not answer");
  throw EtcdError(place(server) + ": " + error.message());
}

/// Throws etcd's refusal, from a failed answer or a stream.
[[noreturn]] void refused(const Address& server, const json::object& answer, std::string_view text) {
  for (const char* name : {"message", "error"})
    if (const auto* const words = answer.if_contains(name); words != nullptr && words->is_string())
      throw EtcdError(place(server) + " refuses: " + std::string(words->as_string()));
  if (const auto* const error = member(answer, "error")) refused(server, *error, text);
  no_answer(text);
}

Channel::Request request_of(const Address& server, std::string_view path, const json::object& question,
                            const std::string& token) {
  http::request<http::string_body> request(http::verb::post, "/v3/" + std::string(path), 11);
  request.set(http::field::host, server.host + ":" + std::to_string(server.port));
  request.set(http::field::content_type, "application/json");
  // Otherwise an etcd server that has lost the others still answers with old data, and a watch stays silent.
  request.set("Grpc-Metadata-hasleader", "true");
  if (!token.empty()) request.set(http::field::authorization, token);
  request.body() = json::serialize(question);
  request.prepare_payload();
  return request;
}

/// Whether a user's token has expired, or is older than a change of users.
bool is_stale(const json::object& answer) {
  const auto* const words = answer.if_contains("message");
  if (words == nullptr || !words->is_string()) return false;
  const std::string_view text(words->as_string().data(), words->as_string().size());
  return text.find("invalid auth token") != std::string_view::npos ||
         text.find("auth store is old") != std::string_view::npos;
}

/// A failure to use a file is an error of the caller.
template <class Use>
void use_file(const char* option, const std::string& path, Use use) {
  boost::system::error_code error;
  use(path, error);
  if (error)
    throw Error(Code::invalid_argument, Execution::not_executed,
                std::string("etcd's ") + option + " " + log_quoted(path, kShown) + ": " + error.message());
}

/// A look-up on another thread, and the timer of the coroutine that waits for it; null once it does not.
struct LookUp {
  std::mutex mutex;
  asio::steady_timer* waits = nullptr;
  std::optional<transport::Names::Found> found;
};

// The thread of this coroutine also ends the lease in time, so it must not wait for the system's resolver.
asio::awaitable<transport::Names::Found> look_up(transport::Names& names, const Address& server) {
  asio::steady_timer timer(co_await asio::this_coro::executor, kAnswerWithin);
  const auto state = std::make_shared<LookUp>();
  state->waits = &timer;
  const auto leave = [state](void* /*unused*/) {
    const std::scoped_lock lock(state->mutex);
    state->waits = nullptr;
  };
  const std::unique_ptr<void, decltype(leave)> leaving(&timer, leave);
  names.find(server, [state](transport::Names::Found found) {
    const std::scoped_lock lock(state->mutex);
    state->found = std::move(found);
    if (state->waits == nullptr) return;
    asio::post(state->waits->get_executor(), [state] {
      const std::scoped_lock here(state->mutex);
      if (state->waits != nullptr) state->waits->cancel();
    });
  });
  const auto found = [&state] {
    const std::scoped_lock lock(state->mutex);
    return state->found;
  };
  if (auto at_once = found()) co_return *std::move(at_once);
  boost::system::error_code woken;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  co_return found().value_or(transport::Names::Found{.addresses = {}, .problem = "no answer in time"});
}

asio::awaitable<void> connect_to(beast::tcp_stream& stream, transport::Names& names, const Address& server) {
  const auto found = co_await look_up(names, server);
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

Access::Access(const EtcdOptions& options, bool with_tls)
    : server_name(options.tls.server_name), user(options.user), password(options.password) {
  if (!with_tls) return;
  tls.emplace(asio::ssl::context::tls_client);
  tls->set_verify_mode(asio::ssl::verify_peer);
  const auto& files = options.tls;
  boost::system::error_code error;
  if (files.ca.empty()) {
    tls->set_default_verify_paths(error);
  } else {
    use_file("authorities", files.ca, [&](const auto& path, auto& why) { tls->load_verify_file(path, why); });
  }
  if (files.certificate.empty()) return;
  use_file("certificate", files.certificate,
           [&](const auto& path, auto& why) { tls->use_certificate_chain_file(path, why); });
  use_file("key", files.key, [&](const auto& path, auto& why) {
    tls->use_private_key_file(path, asio::ssl::context::pem, why);
  });
}

Channel::Channel(asio::any_io_executor executor, Address server, std::shared_ptr<Access> access)
    : executor_(std::move(executor)), server_(std::move(server)), access_(std::move(access)) {}

void Channel::expires_after(std::chrono::seconds time) {
  until_ = std::chrono::steady_clock::now() + time;
  if (plain_) plain_->expires_at(*until_);
  if (tls_) tls_->next_layer().expires_at(*until_);
}

void Channel::expires_never() {
  until_ = std::nullopt;
  if (plain_) plain_->expires_never();
  if (tls_) tls_->next_layer().expires_never();
}

asio::awaitable<void> Channel::connect() {
  if (plain_ || tls_) co_return;
  buffer_.clear();
  beast::tcp_stream stream(executor_);
  if (until_) stream.expires_at(*until_);
  co_await connect_to(stream, access_->names, server_);
  if (!access_->tls) {
    plain_.emplace(std::move(stream));
    co_return;
  }
  tls_.emplace(std::move(stream), *access_->tls);
  co_await secure();
}

asio::awaitable<void> Channel::secure() {
  const std::string& name = access_->server_name.empty() ? server_.host : access_->server_name;
  boost::system::error_code error;
  (void)asio::ip::make_address(name, error);
  if (error) (void)SSL_set_tlsext_host_name(tls_->native_handle(), name.c_str());
  tls_->set_verify_callback(asio::ssl::host_name_verification(name));
  co_await tls_->async_handshake(asio::ssl::stream_base::client,
                                 asio::redirect_error(asio::use_awaitable, error));
  if (!error) co_return;
  close();
  fail(server_, error);
}

void Channel::close() {
  plain_.reset();
  tls_.reset();
}

asio::awaitable<Channel::Error> Channel::write(const Request& request) {
  Error error;
  if (tls_) {
    co_await http::async_write(*tls_, request, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await http::async_write(*plain_, request, asio::redirect_error(asio::use_awaitable, error));
  }
  co_return error;
}

template <class Parser>
asio::awaitable<Channel::Error> Channel::read(Parser& parser) {
  Error error;
  if (tls_) {
    co_await http::async_read(*tls_, buffer_, parser, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await http::async_read(*plain_, buffer_, parser, asio::redirect_error(asio::use_awaitable, error));
  }
  co_return error;
}

template <class Parser>
asio::awaitable<Channel::Error> Channel::read_header(Parser& parser) {
  Error error;
  if (tls_) {
    co_await http::async_read_header(*tls_, buffer_, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await http::async_read_header(*plain_, buffer_, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
  }
  co_return error;
}

template <class Parser>
asio::awaitable<Channel::Error> Channel::read_some(Parser& parser) {
  Error error;
  if (tls_) {
    co_await http::async_read_some(*tls_, buffer_, parser, asio::redirect_error(asio::use_awaitable, error));
  } else {
    co_await http::async_read_some(*plain_, buffer_, parser,
                                   asio::redirect_error(asio::use_awaitable, error));
  }
  co_return error;
}

Connection::Connection(asio::any_io_executor executor, Address server, std::shared_ptr<Access> access)
    : channel_(std::move(executor), std::move(server), std::move(access)) {}

asio::awaitable<Connection::Answer> Connection::exchange(std::string path, json::object question) {
  channel_.expires_after(kAnswerWithin);
  co_await channel_.connect();
  const auto request = request_of(channel_.server(), path, question, token_);
  auto error = co_await channel_.write(request);
  http::response_parser<http::string_body> parser;
  parser.body_limit(kLongestAnswer);
  if (!error) error = co_await channel_.read(parser);
  if (error) {
    channel_.close();
    fail(channel_.server(), error);
  }
  if (!parser.keep_alive()) channel_.close();
  Answer answer;
  answer.text = parser.get().body();
  answer.said = parsed(answer.text);
  answer.ok = parser.get().result() == http::status::ok && !answer.said.contains("error");
  co_return answer;
}

asio::awaitable<void> Connection::log_in() {
  token_.clear();
  const auto& access = channel_.access();
  json::object who{{"name", access.user}, {"password", access.password}};
  const Answer answer = co_await exchange("auth/authenticate", std::move(who));
  const auto* const token = answer.said.if_contains("token");
  if (!answer.ok) refused(channel_.server(), answer.said, answer.text);
  if (token == nullptr || !token->is_string()) no_answer("an answer without a token");
  token_ = std::string(token->as_string());
}

asio::awaitable<json::object> Connection::ask(std::string path, json::object question) {
  const bool as_user = !channel_.access().user.empty();
  if (as_user && token_.empty()) co_await log_in();
  Answer answer = co_await exchange(path, question);
  if (!answer.ok && as_user && is_stale(answer.said)) {
    co_await log_in();
    answer = co_await exchange(std::move(path), std::move(question));
  }
  if (!answer.ok) refused(channel_.server(), answer.said, answer.text);
  co_return std::move(answer.said);
}

Watch::Watch(asio::any_io_executor executor, Address server, std::shared_ptr<Access> access)
    : channel_(std::move(executor), std::move(server), std::move(access)) {
  parser_.body_limit(boost::none);
}

asio::awaitable<void> Watch::begin(std::string prefix, std::int64_t revision, std::string token) {
  channel_.expires_after(kAnswerWithin);
  co_await channel_.connect();
  json::object what{{"key", base64(prefix)},
                    {"range_end", base64(end_of(prefix))},
                    {"start_revision", std::to_string(revision)}};
  json::object question;
  question["create_request"] = std::move(what);
  const auto request = request_of(channel_.server(), "watch", question, token);
  auto error = co_await channel_.write(request);
  if (!error) error = co_await channel_.read_header(parser_);
  if (error) fail(channel_.server(), error);
  if (parser_.get().result() != http::status::ok)
    throw EtcdError(place(channel_.server()) + " refuses a watch: HTTP " +
                    std::to_string(parser_.get().result_int()));
  const json::object answer = co_await next();
  if (!flag(answer, "created")) no_answer(json::serialize(answer));
  channel_.expires_never();
}

asio::awaitable<json::object> Watch::next() {
  std::size_t looked_at = 0;
  for (;;) {
    if (const std::size_t end = text_.find('\n', looked_at); end != std::string::npos) {
      const std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      const json::object answer = parsed(line);
      const json::object* const result = member(answer, "result");
      if (result == nullptr) refused(channel_.server(), answer, line);
      if (flag(*result, "canceled"))
        throw EtcdError(place(channel_.server()) + " has ended the watch: " + line);
      co_return *result;
    }
    looked_at = text_.size();
    if (text_.size() > kLongestAnswer) no_answer(std::string_view(text_).substr(0, kShown));
    if (parser_.is_done()) throw EtcdError(place(channel_.server()) + " has ended the watch");
    std::array<char, 16'384> piece{};
    parser_.get().body().data = piece.data();
    parser_.get().body().size = piece.size();
    const auto error = co_await channel_.read_some(parser_);
    if (error && error != http::error::need_buffer) fail(channel_.server(), error);
    text_.append(piece.data(), piece.size() - parser_.get().body().size);
  }
}

}  // namespace mf::controller::etcd
