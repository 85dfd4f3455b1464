// The connections of a server: who is accepted, refused or ended, and how many there are.
#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/core/peer.hpp"
#include "mf/monitor/tally.hpp"
#include "mf/server/forwarder.hpp"
#include "server/acceptor.hpp"
#include "server/core.hpp"

namespace mf {
namespace {

// Connections above the limit are logged once at first, and then every ten seconds with their number.
constexpr auto kRefusedLoggedEvery = std::chrono::seconds(10);
// After so many times the handshake's limit, a connection that has never bound anything may be ended also for
// a new one of its own host.
constexpr int kIdleForHandshakes = 5;
// The rate of BIND, UNBIND and DESCRIBE of one connection where each may be a question to other servers.
constexpr std::uint32_t kForwardedAtOnce = 4'096;
constexpr std::uint32_t kForwardedPerSecond = 2'000;
// The peers in ConnectionStats::peers.
constexpr std::size_t kMostShown = 10;

}  // namespace

std::vector<std::byte> server::refusal(const std::string& reason) {
  protocol::Session session(protocol::Role::server, {});
  session.fail(Code::overloaded, reason);
  std::array<IoSlice, 4> slices;
  std::vector<std::byte> bytes;
  for (const auto& slice : std::span(slices).first(session.fill_output(slices)))
    bytes.insert(bytes.end(), slice.data, slice.data + slice.size);
  return bytes;
}

// Each thread runs the check twice: events that arrived before the first time are handled before the second.
void Server::Core::after_events(std::function<void()> work, std::size_t asked) {
  if (asked == 2 * reactors_.size()) return reactors_.front()->post(std::move(work));
  reactors_[asked / 2]->post(
      [this, asked, work = std::move(work)]() mutable { after_events(std::move(work), asked + 1); });
}

void Server::Core::accept(std::unique_ptr<transport::Stream> stream) {
  link::ServerLink::Options link_options;
  link_options.session.limits.max_payload = options_.max_payload;
  link_options.session.limits.max_in_flight = options_.max_in_flight;
  link_options.session.limits.max_bindings = options_.max_bindings;
  link_options.session.limits.max_streams = options_.max_streams;
  link_options.session.limits.stream_window = options_.stream_window;
  link_options.session.nonce = nonce_;
  if (options_.forwarder) {
    link_options.session.told_from = server::kPassedOnFrom;
    link_options.questions_at_once = kForwardedAtOnce;
    link_options.questions_per_second = kForwardedPerSecond;
  }
  std::shared_ptr<server::Rights> rights;
  if (!access_->limits_nothing()) {
    rights = std::make_shared<server::Rights>(access_);
    link_options.check_subscription = [rights](const Identity& identity, std::string_view peer,
                                               std::string_view topic, std::string_view agents) {
      rights->check_subscription(identity, peer, topic, agents);
    };
  }
  link_options.log = options_.log;
  link_options.max_output = options_.max_unread_bytes;
  link_options.max_queued_bytes = options_.max_request_bytes;
  link_options.handshake_timeout = options_.handshake_timeout;
  link_options.progress_timeout = options_.progress_timeout;
  link_options.load = load_;
  link_options.keeps = tallies_;
  const bool asks = tokens_ || access_->authenticates() || !access_->limits_nothing();
  const auto entrance = asks ? std::make_shared<server::Entrance>(access_, tokens_) : nullptr;
  if (entrance) {
    link_options.proved = [entrance] { return entrance->identity(); };
    link_options.session.admit = [entrance, from = stream.get()](const protocol::Hello& hello) {
      return entrance->admit(hello, *from);
    };
  }
  std::shared_ptr<link::ServerLink> link;
  std::shared_ptr<server::Connection> connection;
  std::shared_ptr<link::ServerLink> slowest;  // of those without a HELLO
  std::shared_ptr<link::ServerLink> idle;     // it is ended to make room for this one
  const std::string host(host_of(stream->peer()));
  {
    std::unique_lock lock(mutex_);
    if (stopped_) return;
    if (const auto most = options_.max_connections_per_host;
        most != 0 && hosts_.contains(host) && hosts_.at(host).connections >= most) {
      lock.unlock();
      return refuse(
          *stream, "max_connections_per_host",
          "the server has " + std::to_string(most) + " connections of this host, the most that it takes");
    }
    if (clients_.size() >= options_.max_connections) {
      idle = take_idle(host);
      if (!idle) {
        lock.unlock();
        return refuse(*stream, "max_connections",
                      "the server has " + std::to_string(options_.max_connections) +
                          " connections, the most that it takes");
      }
    }
    if (greeting_.size() >= options_.max_handshakes && !greeting_.empty()) {
      slowest = clients_.at(*greeting_.begin()).link;
      greeting_.erase(greeting_.begin());
    }
    const auto number = ++connections_;
    link = std::make_shared<link::ServerLink>(std::move(stream), std::move(link_options),
                                              reactors_[number % reactors_.size()]);
    connection = std::make_shared<server::Connection>(*this, link, number, rights);
    clients_.emplace(number, Client{.link = link,
                                    .connection = connection,
                                    .host = host,
                                    .account = host,
                                    .since = mf::now(),
                                    .entrance = entrance,
                                    .rights = rights});
    auto& of_host = hosts_[host];
    ++of_host.connections;
    of_host.idle.insert(number);
    greeting_.insert(number);
  }
  if (idle) {
    idle->cut(link::Cut::idle, "max_connections",
              "the server has " + std::to_string(options_.max_connections) +
                  " connections, and this one, of the host with the most of them, has never bound anything");
  }
  if (slowest) {
    slowest->cut(link::Cut::handshake, "max_handshakes",
                 std::to_string(options_.max_handshakes) +
                     " connections have not sent their HELLO, this one "
                     "for the longest");
  }
  try {
    link->open(connection);
  } catch (const Error& error) {
    options_.log.write(Level::error, "connection_refused",
                       {{"peer", link->peer()}, {"reason", error.message()}});
    link->close("");
  }
}

// Those without a HELLO are among the idle ones.
std::shared_ptr<link::ServerLink> Server::Core::take_idle(const std::string& newcomer) {
  if (hosts_.empty()) return nullptr;
  const auto most =
      std::ranges::max_element(hosts_, {}, [](const auto& entry) { return entry.second.connections; });
  auto& [host, of] = *most;
  if (of.idle.empty()) return nullptr;
  const auto oldest = *of.idle.begin();
  const auto& client = clients_.at(oldest);
  if (host == newcomer && mf::now() - client.since < kIdleForHandshakes * options_.handshake_timeout)
    return nullptr;
  of.idle.erase(oldest);
  greeting_.erase(oldest);
  return client.link;
}

void Server::Core::refuse(transport::Stream& stream, const char* limit, const std::string& reason) {
  load_->count(link::Cut::connections);
  const auto bytes = server::refusal(reason);
  const IoSlice slice{bytes.data(), bytes.size()};
  (void)stream.write(std::span(&slice, 1));
  std::array<std::byte, 4096> unread{};  // closed with unread bytes, the connection would be reset
  (void)stream.read(unread, transport::Wait::no);
  ++refused_unlogged_;
  const auto now = mf::now();
  if (refused_logged_ != decltype(now){} && now - refused_logged_ < kRefusedLoggedEvery) return;
  refused_logged_ = now;
  options_.log.write(Level::warning, "connections_refused",
                     {{"peer", stream.peer()},
                      {"limit", limit},
                      {"reason", reason},
                      {"count", std::exchange(refused_unlogged_, 0)}});
}

void Server::Core::on_greeted(std::uint64_t connection) {
  const std::scoped_lock lock(mutex_);
  greeting_.erase(connection);
  const auto found = clients_.find(connection);
  if (found == clients_.end()) return;
  auto& client = found->second;
  if (const auto& identity = client.link->identity(); identity.known()) client.account = identity.name;
}

void Server::Core::on_used(std::uint64_t connection) {
  const std::scoped_lock lock(mutex_);
  const auto found = clients_.find(connection);
  if (found != clients_.end()) hosts_.at(found->second.host).idle.erase(connection);
}

// An attacker that wants to fill the memory has to hold most of it, so the largest connection of the peer
// that holds the most is ended.
void Server::Core::on_overfull() {
  auto all = clients();
  while (load_->over() && !all.empty()) {
    const auto held = [](const Client& client) { return client.link->closed() ? 0 : client.link->holds(); };
    std::map<std::string, std::size_t> peers;
    for (const auto& client : all) peers[client.account] += held(client);
    const auto most = std::ranges::max_element(all, {}, [&](const Client& client) {
      return std::pair(held(client) == 0 ? 0 : peers.at(client.account), held(client));
    });
    const auto holds = most->link->holds();
    if (most->link->closed() || holds == 0) return;
    most->link->cut(link::Cut::memory, "max_held_bytes",
                    "the connections of this server hold more than " + std::to_string(load_->most()) +
                        " bytes, and this one holds the most of it, " + std::to_string(holds));
    all.erase(most);
  }
}

ConnectionStats Server::Core::connection_stats() const {
  ConnectionStats stats;
  std::map<std::string, PeerLoad> peers;
  for (const auto& client : clients()) {
    auto& peer = peers[client.account];
    peer.peer = client.account;
    ++peer.connections;
    peer.calls += client.link->in_flight();
    peer.streams += client.connection->streams();
    peer.held_bytes += client.link->holds();
    stats.calls += client.link->in_flight();
  }
  for (auto& [account, peer] : peers) stats.peers.push_back(std::move(peer));
  std::ranges::sort(stats.peers, std::greater(), &PeerLoad::held_bytes);
  if (stats.peers.size() > kMostShown) stats.peers.resize(kMostShown);
  const std::scoped_lock lock(mutex_);
  stats.open = clients_.size();
  stats.handshakes = greeting_.size();
  stats.held_bytes = load_->bytes();
  stats.accepted = connections_;
  stats.refused = load_->cuts(link::Cut::connections);
  for (const auto& acceptor : acceptors_) stats.turned_away += acceptor->turned_away();
  stats.cut_handshakes = load_->cuts(link::Cut::handshake);
  stats.cut_progress = load_->cuts(link::Cut::progress);
  stats.cut_memory = load_->cuts(link::Cut::memory);
  stats.cut_protocol = load_->cuts(link::Cut::protocol);
  stats.cut_idle = load_->cuts(link::Cut::idle);
  return stats;
}

void Server::Core::on_closed(std::uint64_t connection) {
  Client gone;  // destroyed after unlocking
  {
    const std::scoped_lock lock(mutex_);
    greeting_.erase(connection);
    if (const auto found = clients_.find(connection); found != clients_.end()) {
      gone = std::move(found->second);
      clients_.erase(found);
      const auto of = hosts_.find(gone.host);
      of->second.idle.erase(connection);
      if (--of->second.connections == 0) hosts_.erase(of);
    }
  }
  if (!options_.on_disconnect) return;
  try {
    options_.on_disconnect(connection);
  } catch (...) {
    log_escaped_exception(options_.log, "on_disconnect");
  }
}

std::vector<Server::Core::Client> Server::Core::clients() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Client> all;
  for (const auto& [number, client] : clients_) all.push_back(client);
  return all;
}

}  // namespace mf
