#include "http/viewer.hpp"

#include <boost/beast/http/verb.hpp>
#include <utility>

#include "http/dash_page.hpp"
#include "http/stream_of.hpp"

namespace mf::http {
namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
constexpr std::string_view kEvents = "text/event-stream";
/// Bytes that may wait for a page before it gets no further events, but everything later.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20U;

}  // namespace

void Viewer::arrived(Identity certified) {
  visitor_.emplace(board_.gatekeeper(), board_.options().log, peer(), std::move(certified));
}

bool Viewer::may_go_on() {
  return !following_ || (trusted() && !visitor_->may_list_no_longer());
}

bool Viewer::is_page(std::string_view path) const {
  return path == "/";
}

/// Refusals are sentences that a person reads.
void Viewer::answer(const Problem& problem) {
  const auto status = status_of(problem);
  std::string more(kDashPolicy);
  if (status == 401) more += "WWW-Authenticate: Bearer\r\n";
  if (status == 503) more += "Retry-After: 1\r\n";
  answer(status, kPlainText, problem.detail + "\n", more);
}

void Viewer::route() {
  const auto* const file = dash_file(path());
  if (file == nullptr && path() != "/events") {
    auto problem = refusal(Code::invalid_argument, "there is no such page");
    problem.status = 404;
    return answer(problem);
  }
  if (request().method() != boost::beast::http::verb::get) return not_allowed("GET");
  if (!field("content-length").empty() || !field("transfer-encoding").empty())
    return answer(refusal(Code::invalid_argument, "a request here has no body"));
  // The page itself has nothing to hide, and asks its reader for a token if that is needed.
  if (file != nullptr) return answer(200, file->type, file->text, kDashPolicy);
  follow();
}

void Viewer::follow() {
  const auto token = Visitor::bearer(field("authorization"));
  if (!token)
    return answer(refusal(Code::unauthenticated, "Authorization holds no token: write Bearer and the token"));
  const auto identity = visitor_->identity(*token);
  if (!identity) return answer(problem_of(identity.failure()));
  if (!board_.at_loopback() && !identity.value().known())
    return answer(refusal(Code::unauthenticated,
                          "beyond its own host this dashboard answers no reader without an identity: show a "
                          "certificate or a token"));
  if (const auto refused = visitor_->may_not_list(identity.value())) return answer(*refused);
  if (const auto full = board_.why_full(); !full.empty()) {
    auto problem = refusal(Code::overloaded, full);
    problem.status = 503;
    return answer(problem);
  }
  choose_pieces(kEvents, kDashPolicy);
  following_ = needs_all_ = true;
  board_.follow(std::static_pointer_cast<Viewer>(shared_from_this()));
}

void Viewer::stop_following() noexcept {
  if (std::exchange(following_, false)) board_.leave(*this);
  waiting_.clear();
  waiting_bytes_ = 0;
}

void Viewer::send_all(Event everything) {
  needs_all_ = false;
  send(std::move(everything));
}

void Viewer::send(Event event) {
  waiting_bytes_ += event->size();
  if (writing_ && waiting_bytes_ > kMostWaiting) {  // the page gets everything once it has read what was sent
    waiting_.clear();
    waiting_bytes_ = 0;
    needs_all_ = true;
    return;
  }
  waiting_.push_back(std::move(event));
  if (!writing_) write_next();
}

void Viewer::write_next() {
  std::string joined;
  for (const auto& each : waiting_) joined += *each;
  waiting_.clear();
  waiting_bytes_ = 0;
  writing_ = true;
  send_piece(joined, [this] {
    writing_ = false;
    if (following_ && !waiting_.empty()) write_next();
  });
}

namespace {

template <class Stream>
using ViewerOf = StreamOf<Stream, Viewer>;

}  // namespace

void serve(Board& board, tcp::socket socket) {
  serve_by<ViewerOf<Plain>, ViewerOf<Tls>>(board, board, std::move(socket));
}

}  // namespace mf::http
