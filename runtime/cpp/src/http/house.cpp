#include "http/house.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/peer.hpp"
#include "mf/core/text.hpp"

namespace mf::http {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;

constexpr auto kAcceptAgainAfter = std::chrono::milliseconds(100);
constexpr auto kLookEvery = std::chrono::milliseconds(250);
constexpr int kBacklog = 256;

[[noreturn]] void refuse(const HouseOptions& options, const std::string& why) {
  throw not_executed_error(Code::invalid_argument, options.what + " '" + options.listen + "' " + why);
}

struct Place {
  bool tls = false;
  tcp::endpoint at;
};

Place place_of(const HouseOptions& options) {
  std::string_view rest = options.listen;
  Place place;
  if (rest.starts_with("https://")) {
    place.tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    refuse(options, "is no http://HOST:PORT or https://HOST:PORT");
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  std::uint16_t port = 0;
  if (colon == std::string_view::npos) refuse(options, "has no port");
  const char* const end = rest.data() + rest.size();
  if (const auto read = std::from_chars(rest.data() + colon + 1, end, port);
      read.ec != std::errc() || read.ptr != end)
    refuse(options, "has no port from 0 to 65535");
  std::string host(rest.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  Failed failed;
  const auto address = asio::ip::make_address(host, failed);
  if (failed) refuse(options, "has no IP address as its host");
  place.at = {address, port};
  if (options.open || address.is_loopback() || (place.tls && options.knows_clients)) return place;
  refuse(options, options.beyond);
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

/// The host of a Host field, without its port; all of a field whose port is no number.
std::string_view host_in_field(std::string_view header) noexcept {
  const auto colon = header.rfind(':');
  if (colon == std::string_view::npos || header.ends_with(']')) return header;
  const bool is_port = header.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return is_port ? header.substr(0, colon) : header;
}

bool is_loopback_name(std::string_view host) noexcept {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

}  // namespace

void check(const HouseOptions& options) {
  const auto place = place_of(options);
  for (const auto& origin : options.origins)
    if (origin != "*" && !is_origin(origin))
      refuse(options, "cannot be used by pages of '" + origin + "', which is no origin (https://HOST)");
  for (const auto& name : options.names)
    if (!is_host_name(name))
      refuse(options, "cannot have the name '" + name + "': a name has neither a port nor a scheme");
  if (!place.tls) return;
  if (options.tls.certificate.empty() || options.tls.key.empty())
    refuse(options, "needs --certificate and --key, which browsers and other clients are shown");
  (void)transport::make_tls_server(options.tls);
}

House::House(HouseOptions options) : options_(std::move(options)) {
  check(options_);
  listen();
}

void House::listen() {
  const auto place = place_of(options_);
  loopback_ = place.at.address().is_loopback();
  if (place.tls) tls_ = transport::make_tls_server(options_.tls, options_.log);
  try {
    acceptor_.open(place.at.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(place.at);
    acceptor_.listen(kBacklog);
  } catch (const boost::system::system_error& failed) {
    throw not_executed_error(Code::unavailable, options_.what + " '" + options_.listen +
                                                    "': cannot listen there: " + failed.code().message());
  }
  const auto bound = acceptor_.local_endpoint();
  const auto host = bound.address().to_string();
  address_ = (place.tls ? "https://" : "http://") + (bound.address().is_v6() ? '[' + host + ']' : host) +
             ':' + std::to_string(bound.port());
}

void House::begin() {
  accept();
  look();
  thread_ = std::thread([this] {
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (...) {
        log_escaped_exception(options_.log, "the " + options_.what);
      }
    }
  });
}

void House::accept() {
  acceptor_.async_accept([this](Failed failed, tcp::socket socket) {
    if (draining_) return;
    if (failed) {  // mostly for lack of descriptors
      again_.expires_after(kAcceptAgainAfter);
      again_.async_wait([this](Failed ended) {
        if (!ended) accept();
      });
      return;
    }
    accept();  // first, so that whatever is thrown below does not end this for good
    if (guests_.size() >= options_.max_connections && !make_room()) {
      ++figures_.refused;
      return;
    }
    ++figures_.connections;
    welcome(std::move(socket));
  });
}

bool House::make_room() {
  auto chosen = turns_.end();
  std::size_t most = 0;
  for (auto at = turns_.begin(); at != turns_.end();) {
    const auto first = at;  // of its host
    std::size_t count = 0;
    for (; at != turns_.end() && at->first.host == first->first.host; ++at)
      count += at->first.stage == Stage::busy ? 0U : 1U;
    if (count == 0 || count < most || (count == most && chosen->first.since < first->first.since)) continue;
    chosen = first;
    most = count;
  }
  if (chosen == turns_.end()) return false;
  const auto ended = guests_.at(chosen->second).guest;
  ++figures_.crowded_out;
  options_.log.write(Level::warning, "http_client_ended",
                     {{"at", options_.what},
                      {"peer", ended->peer()},
                      {"reason", "no request of it is being answered, and all " +
                                     std::to_string(options_.max_connections) + " connections are in use"}});
  ended->close();
  return true;
}

void House::note_stall(const Guest& guest) const {
  options_.log.write(Level::warning, "http_client_ended",
                     {{"at", options_.what},
                      {"peer", guest.peer()},
                      {"reason", "it has not read what was written to it within " +
                                     std::to_string(options_.body_timeout.count()) + " ms"}});
}

/// Those of now: each may leave while another one is looked at.
std::vector<std::shared_ptr<Guest>> House::guests() const {
  std::vector<std::shared_ptr<Guest>> all;
  all.reserve(guests_.size());
  for (const auto& [key, entered] : guests_) all.push_back(entered.guest);
  return all;
}

void House::look() {
  // First, so that whatever is thrown below does not end this for good.
  rests_ = guests_.empty();
  look_after(rests_ ? std::max(rests(), kLookEvery) : kLookEvery);
  const auto now = mf::now();
  if (tls_ && read_files_at_ <= now) {
    read_files_at_ = now + options_.reload_interval;
    (void)transport::read_again(*tls_, transport::Reads::replaced);
  }
  for (const auto& guest : guests())
    if (guests_.contains(guest.get())) guest->look(now);
  tidy(now);
}

void House::look_after(std::chrono::milliseconds pause) {
  look_again_.expires_after(pause);
  look_again_.async_wait([this](Failed ended) {
    if (!ended) look();
  });
}

bool House::drain(std::chrono::milliseconds within) {
  post([this] {
    draining_ = true;
    Failed ignored;
    acceptor_.close(ignored);
    for (const auto& guest : guests())
      if (guests_.contains(guest.get())) guest->drain();
    if (!guests_.empty()) return;
    const std::scoped_lock lock(mutex_);
    empty_ = true;
    emptied_.notify_all();
  });
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, within, [this] { return empty_; });
}

void House::stop() {
  if (!thread_.joinable()) return;
  post([this] {
    draining_ = true;
    Failed ignored;
    acceptor_.close(ignored);
    again_.cancel();
    look_again_.cancel();
    closing();
    for (const auto& guest : guests())
      if (guests_.contains(guest.get())) guest->close();
    closed();
    context_.stop();
  });
  thread_.join();
}

bool House::reload() {
  return !tls_ || transport::read_again(*tls_, transport::Reads::all);
}

void House::post(UniqueFunction<void()> work) {
  asio::post(context_, std::move(work));
}

std::string House::why_not_at(std::string_view header) const {
  const auto host = lower(host_in_field(header));
  const auto is_it = [&](const std::string& name) { return lower(name) == host; };
  if (is_loopback_name(host) || std::ranges::any_of(options_.names, is_it)) return {};
  if (loopback_)
    return "the " + options_.what +
           " listens at loopback, and answers requests for localhost alone, or for a name of " +
           options_.names_by;
  if (tls_ && options_.names.empty()) return {};
  if (header.empty()) return {};  // HTTP/1.0 of a probe: browsers always name the host
  Failed failed;
  const bool has_brackets = host.starts_with('[') && host.ends_with(']');
  (void)asio::ip::make_address(has_brackets ? host.substr(1, host.size() - 2) : host, failed);
  if (!failed) return {};
  return "the " + options_.what + " answers requests for its address, and for names that " +
         options_.names_by + " gives it";
}

bool House::admits(std::string_view origin, std::string_view host) const {
  const auto scheme = tls_ ? std::string_view("https://") : std::string_view("http://");
  if (origin.starts_with(scheme) && origin.substr(scheme.size()) == host) return true;
  return std::ranges::any_of(options_.origins,
                             [&](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

bool House::hold(std::size_t bytes) noexcept {
  if (held_ + bytes > options_.max_held_bytes) return false;
  held_ += bytes;
  return true;
}

void House::entered(std::shared_ptr<Guest> guest) {
  auto* const entered = guest.get();
  // All memory is taken before anything of the house changes.
  Turns made;
  made.emplace(Turn{.host = std::string(host_of(entered->peer())), .since = ++last_turn_}, entered);
  auto& kept = guests_[entered];
  kept.guest = std::move(guest);
  kept.turn = turns_.insert(made.extract(made.begin())).position;
  ++figures_.open;
  if (std::exchange(rests_, false)) look_after(kLookEvery);
}

void House::reached(Guest& guest, Stage stage) noexcept {
  const auto entered = guests_.find(&guest);
  if (entered == guests_.end()) return;
  auto& turn = entered->second.turn;
  auto node = turns_.extract(turn);
  node.key().stage = stage;
  node.key().since = ++last_turn_;
  turn = turns_.insert(std::move(node)).position;
}

void House::left(Guest& guest) noexcept {
  const auto entered = guests_.find(&guest);
  if (entered == guests_.end()) return;
  turns_.erase(entered->second.turn);
  guests_.erase(entered);
  --figures_.open;
  if (!draining_ || !guests_.empty()) return;
  const std::scoped_lock lock(mutex_);
  empty_ = true;
  emptied_.notify_all();
}

}  // namespace mf::http
