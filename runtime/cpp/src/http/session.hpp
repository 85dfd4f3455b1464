// One connection that speaks HTTP/1.1: one request after another. What a request wants is decided here; the
// stream under it, which may be of TLS, is that of session_of.hpp.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/calls.hpp"
#include "http/core.hpp"
#include "http/feed.hpp"
#include "http/problem.hpp"
#include "http/visit.hpp"
#include "http/visitor.hpp"

namespace mf::http {

/// Serves a new connection for as long as it lasts.
void welcome(Core& core, boost::asio::ip::tcp::socket socket);

class Session : public Guest, public std::enable_shared_from_this<Session> {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;
  using Then = UniqueFunction<void()>;

  Session(Core& core, std::string peer) : core_(core), peer_(std::move(peer)) {}

  void look(TimePoint now) override;
  void drain() override;
  void close() override;

 protected:
  // ---- of the stream

  /// Reads the next request, with which on_request() or on_broken() is called.
  virtual void read() = 0;
  /// `then` is called when all is written, and never if that fails.
  virtual void write(std::string bytes, Then then) = 0;
  virtual void shut() = 0;
  /// Closes once the peer has what was written.
  virtual void linger() = 0;
  /// Whether the peer has ended the connection, while nothing is read.
  [[nodiscard]] virtual bool gone() = 0;
  /// Hands the stream over to a WebSocket.
  virtual void upgrade(Request&& request, Visit visit, Visitor visitor) = 0;
  /// Whether the certificate of the peer, if there is one, is still accepted.
  [[nodiscard]] virtual bool trusted() = 0;

  // ---- for the stream

  /// The door looks after it from now on.
  void enter();
  /// The connection is ready for requests.
  void ready(Identity certified);
  void on_request(Request&& request);
  /// What came is no request, or one beyond a limit.
  void on_broken(unsigned status, const std::string& why);
  /// Ends when this time has passed.
  void wait_until(TimePoint until) noexcept { until_ = until; }
  [[nodiscard]] Core& core() noexcept { return core_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// The connection is served by another object from now on.
  void leave();

 private:
  void next();
  void route();
  void preflight();
  void answer(unsigned status, std::string_view type, std::string_view body, std::string_view more = {});
  void answer(const Problem& problem);
  [[nodiscard]] std::string head(unsigned status, std::string_view type, std::string_view more) const;
  [[nodiscard]] std::string_view field(boost::beast::string_view name) const;
  [[nodiscard]] std::string_view query(std::string_view name) const;

  void find();
  void on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller);
  void call(const Callee& callee, std::size_t item, std::string_view arguments);
  void call_many(const Callee& callee);
  void go_on_with_batch();
  void on_answer(std::size_t item, Answer&& given);
  void answer_batch();
  void choose_events();
  void begin_stream(const Callee& callee);
  void begin_feed(const Descriptions::Known& topic, const std::shared_ptr<Caller>& caller);
  void pump();
  void pump_feed();
  void on_message(Outcome<topics::Receiver::Taken>&& taken);
  /// Appends an event of the answer in its format.
  void append_event(std::string& to, std::string_view name, std::string_view json) const;
  void send_events(std::string events, bool is_last, Then then);
  void end_events(const Answer& given);
  void drop_work();
  void openapi();
  using Named = std::pair<bool, std::string>;  // whether it is a topic, and its name
  void describe(const std::shared_ptr<Caller>& caller, std::vector<Named> names, TimePoint until);

  Core& core_;
  const std::string peer_;
  std::optional<Visitor> visitor_;
  bool entered_ = false;
  bool closed_ = false;
  bool working_ = false;  // on an answer
  TimePoint until_ = kNever;

  // Of the present request.
  Request request_;
  std::string_view path_;
  bool keep_ = false;
  std::string origin_;  // of a page of another site that may use the door
  Visit visit_;
  enum class Events : std::uint8_t { none, lines, server_sent } events_ = Events::none;
  bool head_sent_ = false;
  /// The items of a batch, whose texts are those of the request.
  struct Batch {
    Callee callee;
    std::vector<std::string_view> items;
    TimePoint until;
    std::size_t next = 0;  // the first one that was not started
    bool starts = false;   // it is being gone on with
  };
  std::map<std::size_t, Running> running_;  // by their items
  std::vector<std::string> answers_;        // of a batch
  std::optional<Batch> batch_;
  std::size_t batch_bytes_ = 0;  // of the results that are there
  std::size_t missing_ = 0;
  std::shared_ptr<Streaming> streaming_;
  std::unique_ptr<Feed> feed_;
};

}  // namespace mf::http
