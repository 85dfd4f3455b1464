#include "http/exchange.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstdio>
#include <utility>

#include "mf/core/log.hpp"
#include "mf/core/text.hpp"

namespace mf::http {
namespace {

namespace bhttp = boost::beast::http;

constexpr std::string_view kProblem = "application/problem+json";
/// The end of the chunks of an answer.
constexpr std::string_view kLastChunk = "0\r\n\r\n";

std::string chunk_of(std::string_view bytes) {
  std::array<char, 24> size{};
  const auto length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  std::string chunk(size.data(), static_cast<std::size_t>(length));
  return chunk.append(bytes).append("\r\n");
}

}  // namespace

void Exchange::enter() {
  house_.entered(shared_from_this());
  entered_ = true;
}

void Exchange::leave() {
  if (std::exchange(entered_, false)) house_.left(*this);
}

void Exchange::ready(Identity certified) {
  arrived(std::move(certified));
  next();
}

Exchange::Request Exchange::hand_over() {
  leave();
  closed_ = true;  // for this object
  return std::move(request_);
}

// ---- as a guest of the house

void Exchange::look(TimePoint now) {
  // A stream that is ended here has not said so, as one that was cut.
  if (until_ <= now && peer_reads_) house_.note_stall(*this);
  if (until_ <= now || (working_ && !may_go_on()) || (working_ && until_ == kNever && gone())) close();
}

void Exchange::drain() {
  keep_ = false;
  if (!working_ || is_endless()) close();
}

void Exchange::close() {
  if (std::exchange(closed_, true)) return;
  const auto self = shared_from_this();
  drop_work();
  shut();
  leave();
}

void Exchange::next() {
  if (closed_) return;
  if (house_.draining()) return close();
  request_ = {};
  origin_.clear();
  head_sent_ = false;
  if (std::exchange(working_, false)) house_.reached(*this, Stage::idle);
  forget();
  read();
}

// ---- answers

std::string Exchange::head(unsigned status, std::string_view type, std::string_view more) const {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(words_of(status)).append("\r\n");
  if (!type.empty()) text.append("Content-Type: ").append(type).append("\r\n");
  text.append("X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n").append(more);
  if (!origin_.empty())
    text.append("Access-Control-Allow-Origin: ").append(origin_).append("\r\nVary: Origin\r\n");
  if (!keep_) text += "Connection: close\r\n";
  return text;
}

void Exchange::answer(unsigned status, std::string_view type, std::string_view body, std::string_view more) {
  auto& figures = house_.figures();
  ++(status < 400 ? figures.good : status < 500 ? figures.client_errors : figures.server_errors);
  auto text = head(status, type, more);
  if (status != 204) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  text.append("\r\n");
  if (request_.method() != bhttp::verb::head) text.append(body);
  write(std::move(text), [this, self = shared_from_this()] { finish(); });
}

void Exchange::finish() {
  if (keep_) return next();
  house_.reached(*this, Stage::closing);
  linger();
}

void Exchange::answer(const Problem& problem) {
  const auto said = said_to_clients(problem);
  const auto status = status_of(said);
  std::string more(kNoPages);
  if (status == 401) more += "WWW-Authenticate: Bearer\r\n";
  if (status == 429 || status == 503) more += "Retry-After: 1\r\n";
  answer(status, kProblem, json_of(said), more);
}

void Exchange::not_allowed(std::string_view methods) {
  auto problem = refusal(Code::invalid_argument, "this path takes " + std::string(methods) + " alone");
  problem.status = 405;
  answer(problem);
}

void Exchange::choose_pieces(std::string_view type, std::string_view more) {
  pieces_type_ = type;
  pieces_more_ = more;
}

void Exchange::send(std::string_view bytes, bool is_last, Then then) {
  std::string sent;
  if (!std::exchange(head_sent_, true)) {
    ++house_.figures().good;
    sent = head(200, pieces_type_, pieces_more_);
    sent += request_.version() >= 11 ? "Transfer-Encoding: chunked\r\n\r\n" : "\r\n";
  }
  if (request_.version() < 11) {
    sent += bytes;
  } else {
    if (!bytes.empty()) sent += chunk_of(bytes);
    if (is_last) sent += kLastChunk;
  }
  write(std::move(sent), [this, self = shared_from_this(), then = std::move(then)]() mutable {
    until_ = kNever;
    then();
  });
}

void Exchange::send_piece(std::string_view bytes, Then then) {
  send(bytes, false, std::move(then));
}

void Exchange::send_last(std::string_view bytes) {
  if (request_.version() < 11) keep_ = false;
  send(bytes, true, [this] { finish(); });
}

void Exchange::on_broken(unsigned status, const std::string& why) {
  keep_ = false;
  auto problem = refusal(status == 413 ? Code::message_too_large : Code::invalid_argument, why);
  problem.status = status;
  ++house_.figures().requests;
  working_ = true;
  house_.reached(*this, Stage::busy);
  answer(problem);
}

// ---- requests

std::string_view Exchange::field(boost::beast::string_view name) const {
  const auto found = request_.find(name);
  if (found == request_.end()) return {};
  return {found->value().data(), found->value().size()};
}

std::string_view Exchange::query(std::string_view name) const {
  std::string_view target(request_.target().data(), request_.target().size());
  const auto mark = target.find('?');
  if (mark == std::string_view::npos) return {};
  target.remove_prefix(mark + 1);
  while (!target.empty()) {
    const auto end = std::min(target.find('&'), target.size());
    const auto each = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=')
      return each.substr(name.size() + 1);
  }
  return {};
}

void Exchange::on_request(Request&& request) {
  request_ = std::move(request);
  working_ = true;
  house_.reached(*this, Stage::busy);
  until_ = kNever;
  ++house_.figures().requests;
  keep_ = request_.keep_alive() && !house_.draining();
  const std::string_view target(request_.target().data(), request_.target().size());
  path_ = target.substr(0, target.find('?'));
  const auto host = field("host");
  const auto bad = [&](unsigned status, const std::string& why) {
    keep_ = false;
    auto problem = refusal(Code::invalid_argument, why);
    problem.status = status;
    answer(problem);
  };
  for (const auto* const once :
       {"host", "authorization", "origin", "content-type", "content-length", "transfer-encoding", "mf-agent",
        "mf-deadline", "mf-idempotent", "traceparent", "tracestate"})
    if (request_.count(once) > 1) return bad(400, std::string("the field ") + once + " is there twice");
  if (field("content-length").find(',') != std::string_view::npos)
    return bad(400, "the field content-length has several lengths");
  // Of another coding the parser finds no end, and takes the body for the next request.
  if (const auto coding = field("transfer-encoding"); !coding.empty() && lower(coding) != "chunked")
    return bad(501, "the only transfer coding here is chunked");
  if (request_.version() < 11 && request_.count("transfer-encoding") != 0)
    return bad(400, "HTTP/1.0 has no chunks");
  if (request_.version() >= 11 && host.empty()) return bad(400, "the field host is missing");
  if (const auto why = house_.why_not_at(host); !why.empty()) return bad(421, why);
  if (!trusted()) return bad(403, "your certificate is not accepted any more");
  if (const auto origin = field("origin"); !origin.empty()) {
    if (!house_.admits(origin, host)) {
      const auto& by = house_.options().origins_by;
      return answer(refusal(Code::permission_denied, "pages of " + shortened(origin) + " may not use the " +
                                                         house_.options().what +
                                                         (by.empty() ? "" : " (" + by + " says which may)")));
    }
    if (origin.find_first_of("\r\n") == std::string_view::npos) origin_ = origin;
  } else if (const auto site = field("sec-fetch-site"); site == "cross-site" || site == "same-site") {
    // As of an image or a link of another page, which has no Origin.
    if (!is_page(path_))
      return answer(
          refusal(Code::permission_denied, "pages of other sites may not use the " + house_.options().what));
  }
  try {
    route();
  } catch (...) {
    log_escaped_exception(house_.options().log, "a request to the " + house_.options().what);
    close();
  }
}

}  // namespace mf::http
