#include "mf/otlp/exporter.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>

#include "mf/client/process_mark.hpp"
#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf::otlp {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace json = boost::json;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;

constexpr std::size_t kMostTogether = 512;
constexpr std::size_t kLongestText = 1'024;  // of a span

struct Endpoint {
  std::string shown;  // the host as a URL has it: IPv6 in brackets
  std::string host;
  std::string port = "4318";
  std::string path = "/v1/traces";
};

[[noreturn]] void refuse(const std::string& endpoint, const std::string& why) {
  throw Error(Code::invalid_argument, Execution::not_executed, "the collector '" + endpoint + "' " + why);
}

Endpoint endpoint_of(const std::string& text) {
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://"))
    refuse(text, "is at https://: send to one on this host by http://, which encrypts");
  if (!text.starts_with(kScheme)) refuse(text, "does not begin with http://");
  Endpoint found;
  auto rest = std::string_view(text).substr(kScheme.size());
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 != rest.size()) found.path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (const auto colon = rest.rfind(':'); colon != std::string_view::npos && !rest.ends_with(']')) {
    std::uint16_t port = 0;
    const auto digits = rest.substr(colon + 1);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size() || port == 0)
      refuse(text, "has no valid port");
    found.port = digits;
    rest = rest.substr(0, colon);
  }
  if (rest.empty()) refuse(text, "has no host");
  found.shown = rest;
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  found.host = rest;
  return found;
}

json::string text_of(std::string_view text) {
  const auto shown = shortened(text.substr(0, kLongestText));
  return json::string(shown.data(), shown.size());
}

json::object attribute(std::string_view key, const AttributeValue& value) {
  json::object held;
  if (const auto* const text = std::get_if<std::string>(&value)) {
    held["stringValue"] = text_of(*text);
  } else {
    held["intValue"] = std::to_string(std::get<std::int64_t>(value));
  }
  return {{"key", json::string(key.data(), key.size())}, {"value", std::move(held)}};
}

json::object span_of(const Span& span) {
  using std::chrono::nanoseconds;
  const auto start = std::chrono::duration_cast<nanoseconds>(span.start.time_since_epoch());
  json::array attributes;
  for (const auto& [key, value] : span.attributes) attributes.push_back(attribute(key, value));
  json::object made{{"traceId", span.trace_id},
                    {"spanId", span.span_id},
                    {"name", text_of(span.name)},
                    {"kind", static_cast<int>(span.kind)},
                    {"startTimeUnixNano", std::to_string(start.count())},
                    {"endTimeUnixNano", std::to_string((start + span.duration).count())},
                    {"attributes", std::move(attributes)}};
  if (!span.parent_id.empty()) made["parentSpanId"] = span.parent_id;
  if (!span.trace_state.empty()) made["traceState"] = text_of(span.trace_state);
  if (span.failed) made["status"] = json::object{{"code", 2}, {"message", text_of(span.why)}};
  return made;
}

std::string body_of(const std::vector<Span>& spans, const std::string& service) {
  json::array all;
  for (const auto& span : spans) all.push_back(span_of(span));
  json::object scope{{"scope", json::object{{"name", "mf"}, {"version", MF_VERSION}}},
                     {"spans", std::move(all)}};
  json::object resource{
      {"resource", json::object{{"attributes", json::array{attribute("service.name", service)}}}},
      {"scopeSpans", json::array{std::move(scope)}}};
  return json::serialize(json::object{{"resourceSpans", json::array{std::move(resource)}}});
}

/// One request: resolves, connects, writes and reads, all within a time.
class Post {
 public:
  Post(asio::io_context& context, const Endpoint& to, std::string body, std::chrono::milliseconds timeout)
      : resolver_(context), stream_(context), to_(to) {
    request_.method(http::verb::post);
    request_.target(to.path);
    request_.version(11);
    request_.set(http::field::host, to.shown + ":" + to.port);
    request_.set(http::field::content_type, "application/json");
    request_.keep_alive(false);
    request_.body() = std::move(body);
    request_.prepare_payload();
    stream_.expires_after(timeout);
  }

  void begin() {
    resolver_.async_resolve(
        to_.host, to_.port, [this](Failed failed, const tcp::resolver::results_type& found) {
          if (failed) return fail(failed);
          stream_.async_connect(found, [this](Failed not_connected, const tcp::endpoint& /*at*/) {
            if (not_connected) return fail(not_connected);
            http::async_write(stream_, request_, [this](Failed not_written, std::size_t /*bytes*/) {
              if (not_written) return fail(not_written);
              http::async_read(stream_, buffer_, response_, [this](Failed not_read, std::size_t /*bytes*/) {
                if (not_read) return fail(not_read);
                const auto status = response_.result_int();
                if (status / 100 != 2) why_ = "it answers " + std::to_string(status);
                done_ = true;
              });
            });
          });
        });
  }
  /// What went wrong; empty: the collector has taken the spans.
  [[nodiscard]] std::string why() const {
    return done_ || !why_.empty() ? why_ : "it does not answer in time";
  }

 private:
  void fail(Failed failed) { why_ = failed.message(); }

  tcp::resolver resolver_;
  beast::tcp_stream stream_;
  const Endpoint& to_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_{64 * 1024};
  http::response<http::string_body> response_;
  std::string why_;
  bool done_ = false;
};

}  // namespace

class Exporter::Sender {
 public:
  explicit Sender(ExporterOptions options)
      : options_(std::move(options)), to_(endpoint_of(options_.endpoint)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Sender() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  bool add(Span&& span) noexcept {
    if (inherited()) return drop();
    try {
      const std::scoped_lock lock(mutex_);
      if (queue_.size() < options_.most_queued) {
        queue_.push_back(std::move(span));
        if (queue_.size() == kMostTogether) changed_.notify_all();
        return true;
      }
    } catch (const std::bad_alloc&) {
      // counted below, as any span without room
    }
    return drop();
  }
  void flush() {
    if (inherited()) return;
    std::unique_lock lock(mutex_);
    const auto wanted = ++flushes_wanted_;
    changed_.notify_all();
    flushed_.wait_for(lock, options_.timeout, [&] { return flushes_done_ >= wanted; });
  }

  /// Whether this process is a forked child of the one that has the thread, which may have left the mutex
  /// locked.
  [[nodiscard]] bool inherited() const noexcept { return made_in_.inherited(); }

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> dropped_{0};

 private:
  bool drop() noexcept {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  void run() {
    for (;;) {
      std::vector<Span> spans;
      std::uint64_t flushes = 0;
      bool last = false;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, options_.every, [this] {
          return over_ || flushes_wanted_ > flushes_done_ || queue_.size() >= kMostTogether;
        });
        flushes = flushes_wanted_;
        const auto count = static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMostTogether));
        std::move(queue_.begin(), queue_.begin() + count, std::back_inserter(spans));
        queue_.erase(queue_.begin(), queue_.begin() + count);
        last = over_ && queue_.empty();
        if (!queue_.empty()) flushes = flushes_done_;
      }
      const bool taken = spans.empty() || send(spans);
      {
        const std::scoped_lock lock(mutex_);
        if (over_ && !taken) {  // the end does not wait for a collector that is not there
          dropped_.fetch_add(queue_.size(), std::memory_order_relaxed);
          queue_.clear();
          last = true;
        }
        flushes_done_ = flushes;
        flushed_.notify_all();
      }
      if (last) return;
    }
  }
  bool send(const std::vector<Span>& spans) {
    std::string why;
    try {
      asio::io_context context;
      Post post(context, to_, body_of(spans, options_.service), options_.timeout);
      post.begin();
      context.run_for(options_.timeout);
      why = post.why();
    } catch (const std::exception& error) {
      why = error.what();
    }
    if (why.empty()) {
      sent_.fetch_add(spans.size(), std::memory_order_relaxed);
      note(false, why);
      return true;
    }
    dropped_.fetch_add(spans.size(), std::memory_order_relaxed);
    note(true, why);
    return false;
  }
  /// One line until the collector takes spans again.
  void note(bool away, const std::string& why) {
    if (away == std::exchange(away_, away)) return;
    if (away) {
      options_.log.write(Level::warning, "spans_dropped",
                         {{"collector", options_.endpoint}, {"reason", why}});
    } else {
      options_.log.write(Level::info, "spans_sent_again",
                         {{"collector", options_.endpoint}, {"dropped", dropped_.load()}});
    }
  }

  const ExporterOptions options_;
  const Endpoint to_;
  const client::ProcessMark made_in_;
  bool away_ = false;  // used by the thread alone
  std::mutex mutex_;   // all below
  std::condition_variable changed_;
  std::condition_variable flushed_;
  std::deque<Span> queue_;
  std::uint64_t flushes_wanted_ = 0;
  std::uint64_t flushes_done_ = 0;
  bool over_ = false;
  std::thread thread_;
};

Exporter::Exporter(ExporterOptions options) : sender_(std::make_unique<Sender>(std::move(options))) {}

Exporter::~Exporter() {
  if (sender_->inherited()) (void)sender_.release();  // its thread cannot be joined here
}

bool Exporter::add(Span span) noexcept {
  return sender_->add(std::move(span));
}

void Exporter::flush() {
  sender_->flush();
}

std::uint64_t Exporter::sent() const noexcept {
  return sender_->sent_.load();
}

std::uint64_t Exporter::dropped() const noexcept {
  return sender_->dropped_.load();
}

}  // namespace mf::otlp
