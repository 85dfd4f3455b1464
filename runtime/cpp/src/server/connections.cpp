// The connections of a server: who is accepted, refused or ended, and how many there are.
#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "mf/core/error.hpp"
#include "mf/server/forwarder.hpp"
#include "server/acceptor.hpp"
#include "server/core.hpp"

namespace mf {
namespace {

// Connections above the limit are logged once at first, and then every ten seconds with their number.
constexpr auto kRefusedLoggedEvery = std::chrono::seconds(10);

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
  if (options_.forwarder) link_options.session.told_from = server::kPassedOnFrom;
  link_options.log = options_.log;
  link_options.max_output = options_.max_unread_bytes;
  link_options.max_queued_bytes = options_.max_request_bytes;
  link_options.handshake_timeout = options_.handshake_timeout;
  link_options.progress_timeout = options_.progress_timeout;
  link_options.load = load_;
  std::shared_ptr<link::ServerLink> link;
  std::shared_ptr<server::Connection> connection;
  std::shared_ptr<link::ServerLink> slowest;  // of those without a HELLO
  {
    std::unique_lock lock(mutex_);
    if (stopped_) return;
    if (clients_.size() >= options_.max_connections) {
      lock.unlock();
      return refuse(*stream);
    }
    if (greeting_.size() >= options_.max_handshakes && !greeting_.empty()) {
      slowest = clients_.at(*greeting_.begin()).link;
      greeting_.erase(greeting_.begin());
    }
    const auto number = ++connections_;
    link = std::make_shared<link::ServerLink>(std::move(stream), std::move(link_options),
                                              reactors_[number % reactors_.size()]);
    connection = std::make_shared<server::Connection>(*this, link, number);
    clients_.emplace(number, Client{.link = link, .connection = connection});
    greeting_.insert(number);
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

void Server::Core::refuse(transport::Stream& stream) {
  load_->count(link::Cut::connections);
  const auto reason =
      "the server has " + std::to_string(options_.max_connections) + " connections, the most that it takes";
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
                      {"limit", "max_connections"},
                      {"reason", reason},
                      {"count", std::exchange(refused_unlogged_, 0)}});
}

void Server::Core::on_greeted(std::uint64_t connection) {
  const std::scoped_lock lock(mutex_);
  greeting_.erase(connection);
}

// An attacker who wants to fill the memory has to hold most of it, so the largest holder is ended.
void Server::Core::on_overfull() {
  auto all = clients();
  while (load_->over() && !all.empty()) {
    const auto most = std::ranges::max_element(
        all, {}, [](const Client& client) { return client.link->closed() ? 0 : client.link->holds(); });
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
  for (const auto& client : clients()) stats.calls += client.link->in_flight();
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
