#include "mf/http/door.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <utility>
#include <vector>

#include "http/core.hpp"
#include "http/session.hpp"
#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"
#include "mf/monitor/exposition.hpp"

namespace mf::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;

constexpr auto kAcceptAgainAfter = std::chrono::milliseconds(100);
constexpr auto kLookEvery = std::chrono::milliseconds(250);
constexpr int kBacklog = 256;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw not_executed_error(Code::invalid_argument, "HTTP door '" + what + "' " + why);
}

struct Place {
  bool tls = false;
  tcp::endpoint at;
};

Place place_of(const DoorOptions& options) {
  std::string_view rest = options.listen;
  Place place;
  if (rest.starts_with("https://")) {
    place.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    refuse(options.listen, "is no http://HOST:PORT or https://HOST:PORT");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos) refuse(options.listen, "has no port");
  const char* const end = rest.data() + rest.size();
  if (const auto read = std::from_chars(rest.data() + colon + 1, end, port);
      read.ec != std::errc() || read.ptr != end)
    refuse(options.listen, "has no port from 0 to 65535");
  std::string host(rest.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Failed failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed) refuse(options.listen, "has no IP address as its host");
  place.at = {address, port};
  if (options.open || address.is_loopback() || (place.tls && options.knows_clients)) return place;
  refuse(options.listen,
         "could be used by every program that reaches it: demand certificates by https:// and --client-ca, "
         "take tokens by --token-keys over https://, listen at 127.0.0.1, or say --open");
}

/// "https://app.example:8443": a scheme, a host and perhaps a port, without a path.
bool is_origin(std::string_view text) noexcept {
  const auto scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0) return false;
  const auto host = text.substr(scheme + 3);
  return !host.empty() && host.find_first_of("/?#@ \t\r\n") == std::string_view::npos;
}

bool is_host_name(std::string_view text) noexcept {
  return !text.empty() && text.find_first_of(":/?#@[] \t\r\n") == std::string_view::npos;
}

/// The host of a Host field, without its port.
std::string_view host_in_field(std::string_view header) noexcept {
  const auto colon = header.rfind(':');
  return colon == std::string_view::npos || header.ends_with(']') ? header : header.substr(0, colon);
}

bool is_loopback_name(std::string_view host) noexcept {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

void check(const DoorOptions& options) {
  const auto place = place_of(options);
  for (const auto& origin : options.origins)
    if (origin != "*" && !is_origin(origin))
      refuse(options.listen,
             "cannot be used by pages of '" + origin + "', which is no origin (https://HOST)");
  for (const auto& name : options.names)
    if (!is_host_name(name))
      refuse(options.listen, "cannot have the name '" + name + "': a name has neither a port nor a scheme");
  if (place.tls) (void)transport::make_tls_server(options.tls);
}

Core::Core(DoorOptions options, std::shared_ptr<relay::Relay> relay,
           std::shared_ptr<const server::Gatekeeper> gatekeeper)
    : options_(std::move(options)),
      relay_(std::move(relay)),
      gatekeeper_(std::move(gatekeeper)),
      reactor_(std::make_shared<transport::Reactor>(0, options_.log)),
      callers_(relay_, reactor_),
      descriptions_(relay_, reactor_, callers_,
                    [this](UniqueFunction<void()> work) { post(std::move(work)); }),
      catalogue_(relay_, reactor_, [this](UniqueFunction<void()> work) { post(std::move(work)); }) {
  check(options_);
  listen();
}

Core::~Core() = default;

void Core::listen() {
  const auto place = place_of(options_);
  loopback_ = place.at.address().is_loopback();
  if (place.tls) tls_ = transport::make_tls_server(options_.tls, options_.log);
  try {
    acceptor_.open(place.at.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(place.at);
    acceptor_.listen(kBacklog);
  } catch (const boost::system::system_error& failed) {
    throw not_executed_error(Code::unavailable, "HTTP door '" + options_.listen +
                                                    "': cannot listen there: " + failed.code().message());
  }
  const auto bound = acceptor_.local_endpoint();
  const auto host = bound.address().to_string();
  address_ = (place.tls ? "https://" : "http://") + (bound.address().is_v6() ? '[' + host + ']' : host) +
             ':' + std::to_string(bound.port());
}

void Core::begin() {
  accept();
  look();
  thread_ = std::thread([this] {
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (...) {
        log_escaped_exception(options_.log, "the HTTP door");
      }
    }
  });
  options_.log.write(Level::info, "http_started", {{"address", address_}, {"tls", tls_ != nullptr}});
}

void Core::accept() {
  acceptor_.async_accept([this](Failed failed, tcp::socket socket) {
    if (draining_) return;
    if (failed) {  // mostly for lack of descriptors
      again_.expires_after(kAcceptAgainAfter);
      again_.async_wait([this](Failed ended) {
        if (!ended) accept();
      });
      return;
    }
    if (guests_.size() >= options_.max_connections) {
      ++figures_.refused;
    } else {
      ++figures_.connections;
      welcome(*this, std::move(socket));
    }
    accept();
  });
}

void Core::look() {
  // First, so that whatever is thrown below does not end this for good.
  look_again_.expires_after(kLookEvery);
  look_again_.async_wait([this](Failed ended) {
    if (!ended) look();
  });
  const auto now = mf::now();
  if (tls_ && read_files_at_ <= now) {
    read_files_at_ = now + options_.reload_interval;
    (void)transport::read_again(*tls_, transport::Reads::replaced);
  }
  for (auto* const guest : std::vector<Guest*>(guests_.begin(), guests_.end()))
    if (guests_.contains(guest)) guest->look(now);
  descriptions_.tidy(now);
  callers_.tidy(now);
}

bool Core::drain(std::chrono::milliseconds within) {
  post([this] {
    draining_ = true;
    Failed ignored;
    acceptor_.close(ignored);
    for (auto* const guest : std::vector<Guest*>(guests_.begin(), guests_.end()))
      if (guests_.contains(guest)) guest->drain();
    if (!guests_.empty()) return;
    const std::scoped_lock lock(mutex_);
    empty_ = true;
    emptied_.notify_all();
  });
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, within, [this] { return empty_; });
}

void Core::stop() {
  if (!thread_.joinable()) return;
  post([this] {
    draining_ = true;
    Failed ignored;
    acceptor_.close(ignored);
    again_.cancel();
    look_again_.cancel();
    descriptions_.close();
    catalogue_.close();
    for (auto* const guest : std::vector<Guest*>(guests_.begin(), guests_.end()))
      if (guests_.contains(guest)) guest->close();
    callers_.close();
    context_.stop();
  });
  thread_.join();
  // What runs there may refer to this.
  reactor_->stop();
}

bool Core::reload() {
  return !tls_ || transport::read_again(*tls_, transport::Reads::all);
}

void Core::post(UniqueFunction<void()> work) {
  asio::post(context_, std::move(work));
}

std::string Core::why_not_at(std::string_view header) const {
  const auto host = lower(host_in_field(header));
  const auto is_it = [&](const std::string& name) { return lower(name) == host; };
  if (is_loopback_name(host) || std::ranges::any_of(options_.names, is_it)) return {};
  if (loopback_)
    return "this door listens at loopback, and answers requests for localhost alone, or for a name of "
           "--http-name";
  if (tls_ && options_.names.empty()) return {};
  if (header.empty()) return {};  // HTTP/1.0 of a probe: browsers always name the host
  Failed failed;
  const bool has_brackets = host.starts_with('[') && host.ends_with(']');
  (void)asio::ip::make_address(has_brackets ? host.substr(1, host.size() - 2) : host, failed);
  if (!failed) return {};
  return "this door answers requests for its address, and for names that --http-name gives it";
}

bool Core::admits(std::string_view origin, std::string_view host) const {
  const auto scheme = tls_ ? std::string_view("https://") : std::string_view("http://");
  if (origin.starts_with(scheme) && origin.substr(scheme.size()) == host) return true;
  return std::ranges::any_of(options_.origins,
                             [&](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

bool Core::hold(std::size_t bytes) noexcept {
  if (held_ + bytes > options_.max_held_bytes) return false;
  held_ += bytes;
  return true;
}

void Core::entered(Guest& guest) {
  guests_.insert(&guest);
  ++figures_.open;
}

void Core::left(Guest& guest) noexcept {
  if (guests_.erase(&guest) == 0) return;
  --figures_.open;
  if (!draining_ || !guests_.empty()) return;
  const std::scoped_lock lock(mutex_);
  empty_ = true;
  emptied_.notify_all();
}

void Core::expose(monitor::Exposition& out) const {
  using monitor::Kind;
  const auto value = [](const auto& figure) { return static_cast<double>(figure.load()); };
  out.gauge("mf_http_connections", "Open connections of the HTTP door.", value(figures_.open));
  out.counter("mf_http_connections_accepted", "Connections that the HTTP door has accepted.",
              value(figures_.connections));
  out.counter("mf_http_connections_refused", "Connections above the limit of the HTTP door.",
              value(figures_.refused));
  out.family("mf_http_requests", Kind::counter, "Requests that the HTTP door has answered.");
  out.sample({{"status", "2xx"}}, value(figures_.good));
  out.sample({{"status", "4xx"}}, value(figures_.client_errors));
  out.sample({{"status", "5xx"}}, value(figures_.server_errors));
  out.counter("mf_http_calls", "Calls that the HTTP door has started; each item of a batch counts.",
              value(figures_.calls));
  out.counter("mf_http_messages", "Values of streams and topics that the HTTP door has sent.",
              value(figures_.messages));
}

Door::Door(DoorOptions options, std::shared_ptr<relay::Relay> relay,
           std::shared_ptr<const server::Gatekeeper> gatekeeper)
    : core_(std::make_shared<Core>(std::move(options), std::move(relay), std::move(gatekeeper))) {
  core_->begin();
}

Door::~Door() {
  core_->stop();
}

const std::string& Door::address() const noexcept {
  return core_->address();
}

bool Door::drain(std::chrono::milliseconds within) {
  return core_->drain(within);
}

bool Door::reload() {
  return core_->reload();
}

void Door::expose(monitor::Exposition& out) const {
  core_->expose(out);
}

}  // namespace mf::http
