// One connection that speaks HTTP/1.1: one request after another. Here is what every request goes through,
// and how answers are written; the stream under it, which may be of TLS, is that of stream_of.hpp, and what a
// request is answered with is decided by the classes that derive from it.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "http/house.hpp"
#include "http/problem.hpp"
#include "mf/core/identity.hpp"

namespace mf::http {

class Exchange : public Guest, public std::enable_shared_from_this<Exchange> {
 public:
  using Request = boost::beast::http::request<boost::beast::http::string_body>;
  using Then = UniqueFunction<void()>;

  Exchange(House& house, std::string peer) : house_(house), peer_(std::move(peer)) {}

  void look(TimePoint now) override;
  void drain() override;
  void close() override;
  [[nodiscard]] const std::string& peer() const noexcept override { return peer_; }

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
  /// Whether the certificate of the peer, if there is one, is still accepted.
  [[nodiscard]] virtual bool trusted() = 0;

  // ---- for the stream

  /// The house looks after it from now on.
  void enter();
  /// The connection is ready for requests.
  void ready(Identity certified);
  void on_request(Request&& request);
  /// What came is no request, or one beyond a limit.
  void on_broken(unsigned status, const std::string& why);
  /// The connection ends at this time unless this is called again before. `reads`: an answer is being
  /// written, and the log says that the peer has not read it in time.
  void wait_until(TimePoint until, bool reads = false) noexcept {
    until_ = until;
    peer_reads_ = reads;
  }
  [[nodiscard]] House& house() noexcept { return house_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }

  // ---- of what is served

  /// The connection is there, and its certificate has proved this.
  virtual void arrived(Identity certified) = 0;
  /// A request has come that this house may answer.
  virtual void route() = 0;
  /// Nothing of the last request matters any more.
  virtual void forget() = 0;
  /// The answer is not wanted any more: what is being done for it ends.
  virtual void drop_work() = 0;
  /// Whether what is being done for the request may go on: rights may have changed since it began.
  [[nodiscard]] virtual bool may_go_on() = 0;
  /// Whether the answer has no end of its own.
  [[nodiscard]] virtual bool is_endless() const = 0;
  /// Whether a page of another site may lead to this path by a link.
  [[nodiscard]] virtual bool is_page(std::string_view path) const = 0;
  virtual void answer(const Problem& problem);

  // ---- for what is served

  [[nodiscard]] const Request& request() const noexcept { return request_; }
  [[nodiscard]] std::string_view path() const noexcept { return path_; }
  /// Whether a page of another site, which may use the house, has made the request.
  [[nodiscard]] bool of_other_origin() const noexcept { return !origin_.empty(); }
  [[nodiscard]] std::string_view field(boost::beast::string_view name) const;
  [[nodiscard]] std::string_view query(std::string_view name) const;
  void answer(unsigned status, std::string_view type, std::string_view body, std::string_view more = {});
  /// This path takes these methods alone.
  void not_allowed(std::string_view methods);
  /// The answer comes in pieces, of this type, with these fields.
  void choose_pieces(std::string_view type, std::string_view more = {});
  /// Whether a piece of the answer was sent.
  [[nodiscard]] bool has_begun() const noexcept { return head_sent_; }
  void send_piece(std::string_view bytes, Then then);
  void send_last(std::string_view bytes);
  /// The connection is served by another object from now on, which gets the request.
  Request hand_over();

 private:
  void next();
  void finish();
  void send(std::string_view bytes, bool is_last, Then then);
  void leave();
  [[nodiscard]] std::string head(unsigned status, std::string_view type, std::string_view more) const;

  House& house_;
  const std::string peer_;
  bool entered_ = false;
  bool closed_ = false;
  bool working_ = false;  // on an answer
  TimePoint until_ = kNever;
  bool peer_reads_ = false;

  // Of the present request.
  Request request_;
  std::string_view path_;
  bool keep_ = false;
  std::string origin_;  // of a page of another site that may use the house
  bool head_sent_ = false;
  std::string pieces_type_;
  std::string pieces_more_;
};

/// A policy for answers that are no pages.
inline constexpr std::string_view kNoPages =
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n";

}  // namespace mf::http
