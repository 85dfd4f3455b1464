#include "admin/tapping.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/gathered.hpp"
#include "mf/core/identity.hpp"
#include "mf/core/text.hpp"

namespace mf::admin {
namespace {

constexpr std::size_t kLongestError = 2'000;

/// A pattern is a text, or its beginning and '*'; an empty one fits everything.
bool fits(std::string_view pattern, std::string_view text) noexcept {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern.empty() || text == pattern;
}

/// The pieces of a message one after another.
std::optional<Bytes> copied(const Gathered& encoded) {
  if (encoded.size() > MOST_VALUE) return std::nullopt;
  Buffer whole;
  std::size_t from = 0;
  for (const auto& piece : encoded.pieces) {
    whole.append(encoded.buffer.span().subspan(from, piece.at - from));
    whole.append(piece.bytes.span());
    from = piece.at;
  }
  whole.append(encoded.buffer.span().subspan(from));
  return Bytes(std::move(whole));
}

/// One item of a message with several.
std::optional<Bytes> copied(const EncodedItems& items, std::size_t item) {
  Buffer one;
  const GatherScope whole(Gathered::kFrom);
  items.append(one, item);
  if (one.size() > MOST_VALUE) return std::nullopt;
  return Bytes(std::move(one));
}

/// The parameters of each item of a call. No more than a queue may hold: what comes behind them has none.
std::vector<std::optional<Bytes>> requests_of(const InterceptedCall& call) {
  std::vector<std::optional<Bytes>> requests;
  const auto* const items = call.encoded_items();
  if (items == nullptr) {
    requests.push_back(shown_value(call.encoded_requests()));
    return requests;
  }
  std::size_t bytes = 0;
  const auto most = std::min(call.items(), Tapping::kMostQueued);
  for (std::size_t item = 0; item < most && bytes <= Tapping::kMostQueuedBytes; ++item) {
    requests.push_back(copied(*items, item));
    if (requests.back()) bytes += requests.back()->size();
  }
  return requests;
}

/// That of a method without one has no bytes.
std::optional<Bytes> result_of(const InterceptedCall& call, const CallEnd& end, std::size_t place) {
  std::optional<Bytes> result;
  if (end.encoded_items != nullptr) {
    result = copied(*end.encoded_items, place);
  } else if (call.kind() == CallKind::call && end.encoded_results != nullptr) {
    result = copied(*end.encoded_results);
  }
  return result && !result->empty() ? result : std::nullopt;
}

std::string text_of(const Failure* failure) {
  if (failure == nullptr) return {};
  const std::string_view text =
      failure->declared ? std::string_view(failure->declared->what()) : std::string_view(failure->message);
  return error_text(text);
}

/// What a record takes in the queue.
std::size_t bytes_of(const Tapped& made) noexcept {
  const auto size = [](const std::optional<Bytes>& value) { return value ? value->size() : 0; };
  return made.service.size() + made.method.size() + made.agent.size() + made.peer.size() +
         made.identity.size() + made.error.size() + size(made.request) + size(made.result);
}

}  // namespace

bool is_wanted(Outcome outcome, Code code) noexcept {
  const auto kind = code == Code::ok         ? Outcome::ok
                    : code == Code::declared ? Outcome::declared
                                             : Outcome::failed;
  return outcome == Outcome::any || outcome == kind;
}

std::optional<Bytes> shown_value(std::span<const std::byte> encoded) {
  if (encoded.size() > MOST_VALUE) return std::nullopt;
  return Bytes(encoded);
}

void withhold(std::string& withheld, std::string_view what, std::size_t size) {
  if (!withheld.empty()) withheld += "; ";
  withheld.append("the ")
      .append(what)
      .append(" have ")
      .append(std::to_string(size))
      .append(" bytes, and a tap shows at most ");
  withheld += std::to_string(MOST_VALUE);
}

std::string error_text(std::string_view text) {
  return std::string(cut_at_character(text, kLongestError));
}

/// What is kept of a call while it runs.
struct Tapping::Begun {
  bool is_wanted = false;
  Timestamp at{};
  std::vector<std::optional<Bytes>> requests{};  // by items; none: not wanted
};

bool Tapping::covers(std::string_view service, std::string_view method) const noexcept {
  return fits(what_.service, service) && fits(what_.method, method);
}

bool Tapping::wants(std::string_view agent, std::string_view peer, const Identity* identity) const {
  const auto share = what_.sample / asked_about_.load(std::memory_order_relaxed);
  if (!fits(what_.agent, agent) || !server::is_drawn(share)) return false;
  return what_.peer.empty() || fits(what_.peer, peer) ||
         (identity != nullptr && fits(what_.peer, identity->name));
}

void Tapping::begin(InterceptedCall& call) {
  if (!covers(call.service(), call.method()) || !wants(call.agent(), call.peer(), call.identity())) return;
  auto& begun = call.note<Begun>(*this);
  begun.is_wanted = true;
  begun.at = std::chrono::time_point_cast<Timestamp::duration>(std::chrono::system_clock::now());
  if (what_.values) begun.requests = requests_of(call);
}

void Tapping::end(const InterceptedCall& call, const CallEnd& end) {
  if (!covers(call.service(), call.method())) return;
  const auto& begun = call.note<Begun>(*this);
  if (!begun.is_wanted) return;
  for (std::size_t item = 0; item < call.items(); ++item) add(call, end, begun, item);
}

void Tapping::add(const InterceptedCall& call, const CallEnd& end, const Begun& begun, std::size_t item) {
  const auto* const outcomes = end.outcomes;
  const auto place = call.place(item);
  const auto* const failure =
      outcomes != nullptr && place < outcomes->size() ? outcomes->failure(place) : end.failure;
  const auto code = failure == nullptr ? end.code : failure->code;
  if (!is_wanted(what_.outcome, code) || drops()) return;
  const auto* const identity = call.identity();
  Tapped made{.service = std::string(call.service()),
              .method = std::string(call.method()),
              .agent = std::string(call.agent()),
              .peer = std::string(call.peer()),
              .identity = identity == nullptr ? std::string() : identity->name,
              .is_stream = call.kind() == CallKind::stream,
              .begun = begun.at,
              .took = end.duration(),
              .code = static_cast<std::uint8_t>(code),
              .error = text_of(failure),
              .request = item < begun.requests.size() ? begun.requests[item] : std::nullopt,
              .request_size = end.request_bytes,
              .result_size = end.reply_bytes};
  if (what_.values && !made.request) withhold(made.withheld, "parameters", end.request_bytes);
  if (what_.values && code == Code::ok) {
    made.result = result_of(call, end, place);
    if (!made.result && !made.is_stream && end.reply_bytes > MOST_VALUE)
      withhold(made.withheld, "results", end.reply_bytes);
  }
  push(std::move(made));
}

bool Tapping::drops() {
  const std::scoped_lock lock(mutex_);
  if (!is_full(0)) return false;
  ++dropped_;
  return true;
}

void Tapping::drop() noexcept {
  const std::scoped_lock lock(mutex_);
  ++dropped_;
}

void Tapping::push(Tapped&& made) {
  const auto bytes = bytes_of(made);
  {
    const std::scoped_lock lock(mutex_);
    if (is_full(bytes)) {
      ++dropped_;
      return;
    }
    made.dropped = std::exchange(dropped_, 0);
    queue_.push_back(std::move(made));
    bytes_ += bytes;
  }
  changed_.notify_one();
}

bool Tapping::is_full(std::size_t bytes) const noexcept {
  return queue_.size() >= kMostQueued || bytes_ + bytes > kMostQueuedBytes;
}

void Tapping::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
}

std::deque<Tapped> Tapping::take(const std::stop_token& unwanted) {
  std::unique_lock lock(mutex_);
  (void)changed_.wait(lock, unwanted, [this] { return stopped_ || !queue_.empty(); });
  bytes_ = 0;
  return std::exchange(queue_, {});
}

}  // namespace mf::admin
