// The life of a server: where it listens, its start, its stop.
#include "mf/server/server.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "mf/core/blocking.hpp"
#include "mf/core/error.hpp"
#include "mf/core/hex.hpp"
#include "mf/monitor/door.hpp"
#include "mf/monitor/tally.hpp"
#include "mf/server/forwarder.hpp"
#include "mf/server/manager.hpp"
#include "mf/transport/networks.hpp"
#include "server/acceptor.hpp"
#include "server/core.hpp"
#include "server/door.hpp"

namespace mf {
namespace {

// Blocking stream handlers that run at once, of all connections; more are refused (shares.hpp).
constexpr std::size_t kMostStreamThreads = 1024;
// How many handlers may wait for calls that they made, in addition to the number of workers.
constexpr std::size_t kMostWaiting = 256;
// Waiting handlers per socket-reading thread; above this number, all others go to workers.
constexpr std::size_t kMostSpares = 64;

std::vector<Address> controllers(const std::string& list, const TlsOptions& tls) {
  auto found = Address::parse_list(list);
  for (const auto& address : found) {
    if (!address.of_controller())
      throw server::refused("the controller's address starts with mf:// or mf+tls://, not " + address.scheme +
                            ":");
    if (tls != TlsOptions() && address.scheme == "mf")
      throw server::refused("controller_tls is given, and nothing is encrypted at the controller " +
                            address.str() + "; write mf+tls://, or leave controller_tls out");
  }
  return found;
}

std::vector<Address> listened_at(const std::string& list) {
  auto found = Address::parse_list(list);
  for (const auto& address : found) {
    if (!address.of_server())
      throw server::refused(
          "a server listens at tcp://host:port, tls://host:port, unix:/path or memory:name, not at " +
          address.scheme + "://");
  }
  return found;
}

void check_open(const std::vector<Address>& listen, const ServerOptions& options) {
  if (options.open || options.authenticate || options.authorize) return;
  const bool proven = !options.tls.ca.empty() || !options.token_keys.empty();
  for (const auto& address : listen) {
    if (!transport::is_beyond_host(address) || (proven && address.scheme == "tls")) continue;
    throw server::refused("every program that reaches " + address.str() +
                          " could use this server: demand certificates by tls:// and tls.ca, or tokens by "
                          "tls:// and token_keys, listen at 127.0.0.1, or set `open`");
  }
}

// Neither limits nor interceptors hold for it, since these must not make a server look dead, or keep
// operators away.
std::shared_ptr<const server::Offer> own_offer_of(std::shared_ptr<Servant> servant) {
  const auto methods = servant->service().methods.size();
  return std::make_shared<const server::Offer>(
      server::Offer{.servant = std::move(servant),
                    .agent = {},
                    .where = Where::worker,
                    .labels = {},
                    .registered = false,
                    .placements = nullptr,
                    .counters = std::make_unique<server::Counters[]>(methods),
                    .gates = {}});
}

// TLS options without a tls:// address are refused, since the user believes that the server is protected.
std::shared_ptr<transport::TlsContext> tls_for(const std::vector<Address>& listen, const TlsOptions& options,
                                               const Log& log) {
  const auto is_tls = [](const Address& address) { return address.scheme == "tls"; };
  if (std::ranges::any_of(listen, is_tls)) return transport::make_tls_server(options, log);
  if (options == TlsOptions()) return nullptr;
  throw server::refused("ServerOptions::tls is given, but no address of `listen` begins with tls://");
}

}  // namespace

Server::Core::Core(ServerOptions options)
    : options_(std::move(options)),
      access_(std::make_shared<const server::Access>(options_)),
      admission_(std::make_shared<server::Admission>(options_.limit)),
      load_(std::make_shared<link::ServerLoad>(options_.max_held_bytes)),
      tallies_(options_.monitor.empty() ? nullptr : std::make_shared<monitor::Tallies>()),
      failures_(std::make_shared<link::HandlerFailures>(
          options_.log,
          options_.error_texts ? link::HandlerFailures::Texts::sent : link::HandlerFailures::Texts::hidden)),
      interceptors_(mf::detail::interceptors_of(options_.interceptors, options_.log)),
      readiness_(std::make_shared<server::Readiness>(
          [this] { return own_reasons(); }, [this](std::string_view service) { return offers(service); },
          options_.log)),
      taps_(std::make_shared<server::Taps>(options_.interceptors, options_.log)),
      health_(own_offer_of(server::make_health(readiness_))),
      admin_(own_offer_of(
          server::make_admin({.drain = [this] { stop_soon(); }, .taps = taps_, .log = options_.log}))),
      stream_shares_(kMostStreamThreads) {
  std::memcpy(nonce_.data(), identity_.nonce.data(), nonce_.size());
}

// Paths are included: clients on other hosts do not find this server there, and recognise that by its nonce.
std::vector<Address> Server::Core::advertised() const {
  auto all = addresses();
  if (!options_.advertise.empty()) {
    std::erase_if(all, [](const Address& address) { return !address.local(); });
    all.insert(all.begin(), Address::parse(options_.advertise));
    return all;
  }
  for (auto& address : all) {
    if (address.host != "0.0.0.0" && address.host != "::") continue;
    std::array<char, 256> host{};
    const auto at = Address::parse_list(options_.controller).front().host;
    const bool here = at == "localhost" || at == "::1" || at.starts_with("127.");
    address.host = here || ::gethostname(host.data(), host.size() - 1) != 0 ? "127.0.0.1" : host.data();
  }
  return all;
}

void Server::Core::start() {
  const std::scoped_lock one_at_a_time(starting_or_stopping_);
  if (options_.max_payload < protocol::kLeastMaxPayload)
    throw server::refused("max_payload is " + std::to_string(options_.max_payload) + ": give bytes from " +
                          std::to_string(protocol::kLeastMaxPayload) + " on");
  const auto listen = listened_at(options_.listen);
  check_open(listen, options_);
  auto controllers_given = options_.controller.empty()
                               ? std::vector<Address>{}
                               : controllers(options_.controller, options_.controller_tls);
  {
    const std::scoped_lock lock(mutex_);
    if (started_) throw server::refused("the server was started already");
    if (stopped_) throw server::refused("the server was stopped");
    if (std::uint64_t{options_.max_streams} * options_.stream_window > protocol::kMaxWindows) {
      throw server::refused("max_streams " + std::to_string(options_.max_streams) + " of stream_window " +
                            std::to_string(options_.stream_window) + " bytes each: together they may take " +
                            std::to_string(protocol::kMaxWindows) + " bytes");
    }
    if (options_.io_threads == 0) throw server::refused("a server needs at least one of io_threads");
    if (options_.token_keys.empty() != options_.token_audience.empty())
      throw server::refused(
          "token_keys and token_audience belong together: the keys, and what tokens must be "
          "for, as a service");
    if (!options_.token_keys.empty())
      tokens_ =
          std::make_shared<server::TokenGate>(options_.token_keys, options_.token_audience, options_.log);
    tls_ = tls_for(listen, options_.tls, options_.log);
    std::vector<std::shared_ptr<Acceptor>> acceptors;
    for (const auto& address : listen) acceptors.push_back(std::make_shared<Acceptor>(*this, address, tls_));
    acceptors_ = std::move(acceptors);
    for (std::size_t i = 0; i < options_.io_threads; ++i)
      reactors_.push_back(std::make_shared<transport::Reactor>(kMostSpares, options_.log));
    workers_ = std::make_unique<transport::Workers>(
        options_.workers, transport::Workers::WithSpares{kMostWaiting}, options_.log);
    stream_threads_ = std::make_unique<transport::Workers>(0, kMostStreamThreads, options_.log);
    started_ = true;
  }
  if (!options_.monitor.empty())
    monitor_ = std::make_unique<monitor::Door>(
        options_.monitor, options_.monitor_open,
        monitor::Source{.expose = [this](monitor::Exposition& out) { expose(out); },
                        .not_ready = [this] { return not_ready(); }},
        options_.log);
  if (options_.forwarder) options_.forwarder->opened(nonce_, addresses(), taps_);
  for (const auto& acceptor : acceptors_) acceptor->open();
  watch_files();
  if (const auto period = server::watchdog_period()) give_signs(*period);
  log_started();
  if (controllers_given.empty()) return;
  auto registrar = make_controller_registrar(std::move(controllers_given), identity_, options_.log,
                                             reactors_.front(), options_.controller_tls);
  {
    const std::scoped_lock lock(mutex_);
    registrar_ = std::move(registrar);
  }
  announce();
}

void Server::Core::log_started() const {
  const auto or_none = [](const std::string& text) { return text.empty() ? std::string("none") : text; };
  std::string all;
  for (const auto& address : addresses()) all.append(all.empty() ? "" : ",").append(address.str());
  options_.log.write(Level::info, "started",
                     {{"version", MF_VERSION},
                      {"addresses", all},
                      {"controllers", or_none(options_.controller)},
                      {"identity", to_hex(nonce_)},
                      {"access", or_none(options_.access.path())}});
}

// From the acceptors' thread, which gives none if it stands still.
void Server::Core::give_signs(std::chrono::nanoseconds period) {
  server::tell_manager("WATCHDOG=1");
  reactors_.front()->at(mf::now() + period, [this, period] { give_signs(period); });
}

bool Server::Core::run() {
  server::StopSignals signals;
  bool start_now = false;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return true;
    signals_ = &signals;
    start_now = !started_;
  }
  const auto serve = [&] {
    if (start_now) start();
    while (signals.wait() == server::StopSignals::Wanted::reload) (void)reload();
  };
  try {
    serve();
  } catch (...) {  // for example, if the port is in use
    wakes(nullptr);
    throw;
  }
  wakes(nullptr);
  return stop();
}

void Server::Core::wakes(server::StopSignals* waiting) {
  const std::scoped_lock lock(mutex_);
  signals_ = waiting;
  // An operator may have drained it already.
  if (waiting != nullptr && (stopped_ || stopping_.joinable())) waiting->wake();
}

// A handler asks for it, whose call is awaited by stop().
void Server::Core::stop_soon() {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  if (signals_ != nullptr) return signals_->wake();
  if (!stopping_.joinable()) stopping_ = std::thread([this] { (void)stop(); });
}

bool Server::Core::drain() {
  readiness_->stop();
  taps_->stop();
  if (registrar_) registrar_->withdraw();
  reactors_.front()->post([acceptors = acceptors_] {
    for (const auto& acceptor : acceptors) acceptor->close();
  });
  for (const auto& client : clients()) {
    client.link->drain("the server is stopping");
  }
  if (door_) door_->stop();
  // In real time, also under a test clock, since no thread may be left to move it.
  const auto until = std::chrono::steady_clock::now() + options_.drain_timeout;
  const auto busy = [](const Client& client) { return !client.link->idle(); };
  // Polled, and only while draining: the system does not report when a peer has received its replies.
  while (std::ranges::any_of(clients(), busy)) {
    if (std::chrono::steady_clock::now() >= until) {
      log_cut();
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void Server::Core::log_cut() const {
  std::size_t all = 0;
  std::map<std::string, std::size_t> by_method;
  for (const auto& client : clients()) {
    all += client.link->in_flight();
    client.connection->count_open(by_method);
  }
  std::string methods;
  for (const auto& [method, calls] : by_method)
    methods += (methods.empty() ? "" : ", ") + method + " " + std::to_string(calls);
  options_.log.write(Level::warning, "calls_cut", {{"calls", all}, {"methods", methods}});
}

// A handler that stops its own server is not awaited there, but its thread uses this object.
Server::Core::~Core() {
  if (stopping_.joinable()) stopping_.join();
  monitor_ = nullptr;
  if (door_) door_->close();
  for (const auto& reactor : reactors_) reactor->stop();
}

bool Server::Core::stop() {
  blocking();  // a handler may stop its own server
  const std::scoped_lock one_at_a_time(starting_or_stopping_);
  {
    const std::scoped_lock lock(mutex_);
    if (signals_ != nullptr) signals_->wake();
    if (stopped_ || !started_) {
      stopped_ = true;
      return true;
    }
    stopped_ = true;
  }
  options_.log.write(Level::info, "draining");
  const bool drained = drain();
  if (drained) options_.log.write(Level::info, "drained");
  nothing_more_ = true;
  for (const auto& client : clients()) client.connection->end_streams();
  admission_->stop();
  workers_->stop();
  stream_threads_->stop();
  for (const auto& client : clients()) client.link->close("");
  {
    std::shared_ptr<Registrar> registrar;
    const std::scoped_lock lock(mutex_);
    registrar.swap(registrar_);
  }
  for (const auto& reactor : reactors_) reactor->stop();
  options_.log.write(Level::info, "stopped");
  return drained;
}

std::vector<Address> Server::Core::addresses() const {
  const std::scoped_lock lock(mutex_);
  if (acceptors_.empty()) throw server::refused("the server has no address before start()");
  std::vector<Address> all;
  for (const auto& acceptor : acceptors_) all.push_back(acceptor->address());
  return all;
}

std::string Server::Core::monitor_address() const {
  return monitor_ ? monitor_->address() : "";
}

Server::Server(ServerOptions options) : core_(std::make_unique<Core>(std::move(options))) {}

Server::~Server() {
  stop();
}

void Server::offer(std::shared_ptr<Servant> servant, OfferOptions options) {
  core_->offer(std::move(servant), std::move(options));
}

void Server::withdraw(const Servant& servant, const std::string& agent) {
  core_->withdraw(servant, agent);
}

void Server::offer(server::Offering& offering) {
  core_->offer(offering);
}

std::shared_ptr<link::Candidacy> Server::candidacy(const ServiceInfo& service, const std::string& agent) {
  return core_->candidacy(service, agent);
}

Lead Server::lead(const Servant& servant, const LeadOptions& options) {
  const auto wanted = candidacy(servant.service(), options.agent);
  const std::stop_callback given_up(options.stop, detail::cancelling(wanted));
  wanted->await_held();
  return Lead(wanted);
}

void Server::start() {
  core_->start();
}

bool Server::run() {
  return core_->run();
}

void Server::wakes(server::StopSignals* waiting) {
  core_->wakes(waiting);
}

bool Server::stop() {
  return core_->stop();
}

bool Server::reload() {
  return core_->reload();
}

void Server::add_check(const std::string& name, std::function<std::string()> check, std::string service) {
  core_->readiness().add_check(name, std::move(check), std::move(service));
}

void Server::remove_check(const std::string& name) {
  core_->readiness().remove_check(name);
}

ServerStats Server::stats() const {
  return core_->stats();
}

Address Server::address() const {
  return core_->addresses().front();
}

std::string Server::monitor_address() const {
  return core_->monitor_address();
}

std::vector<Address> Server::addresses() const {
  return core_->addresses();
}

}  // namespace mf
