#include "mf/server/server.hpp"

#include <unistd.h>

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <thread>

#include "mf/core/agent.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/error.hpp"
#include "mf/core/extension.hpp"
#include "mf/core/text.hpp"
#include "mf/server/forwarder.hpp"
#include "mf/server/offering.hpp"
#include "server/core.hpp"

namespace mf {
namespace {

// The controller's limits for an offer (controller.mfidl).
constexpr std::size_t kMostLabels = 16;
constexpr std::size_t kLongestLabel = 64;
constexpr std::size_t kLongestText = 1'024;

// Blocking stream handlers that run at once, of all connections; more wait.
constexpr std::size_t kMostStreamThreads = 1024;
// Waiting handlers per socket-reading thread; above this number, all others go to workers.
constexpr std::size_t kMostSpares = 64;

// Connections above the limit are logged once at first, and then every ten seconds with their number.
constexpr auto kRefusedLoggedEvery = std::chrono::seconds(10);

constexpr const char* kNoDescriptors = "the server has no file descriptors left; use another instance";

/// The REFUSE that ends a connection before its first frame.
std::vector<std::byte> refusal(const std::string& reason) {
  protocol::Session session(protocol::Role::server, {});
  session.fail(Code::overloaded, reason);
  std::array<IoSlice, 4> slices;
  std::vector<std::byte> bytes;
  for (const auto& slice : std::span(slices).first(session.fill_output(slices)))
    bytes.insert(bytes.end(), slice.data, slice.data + slice.size);
  return bytes;
}

Error refused(std::string message) {
  return {Code::invalid_argument, Execution::not_executed, message};
}

// Offers that controllers would refuse are refused here, since there they would cost the process its other
// offers.
void check_announced(const OfferOptions& options, std::string_view agent, bool registered) {
  if (registered && agent.size() > kLongestText)
    throw refused("a controller takes agents of at most " + std::to_string(kLongestText) + " bytes, not " +
                  std::to_string(agent.size()));
  if (options.labels.size() > kMostLabels)
    throw refused("an offer has at most " + std::to_string(kMostLabels) + " labels, not " +
                  std::to_string(options.labels.size()));
  for (const auto& [label, text] : options.labels)
    if (label.empty() || label.size() > kLongestLabel || text.size() > kLongestText)
      throw refused("a label has 1 to " + std::to_string(kLongestLabel) + " bytes, its text at most " +
                    std::to_string(kLongestText) + ": '" + shortened(label) + "'");
}

Failure unknown(Code code, std::string message) {
  return Failure{
      .code = code, .execution = Execution::not_executed, .message = std::move(message), .declared = nullptr};
}

std::vector<Address> controllers(const std::string& list) {
  auto found = Address::parse_list(list);
  for (const auto& address : found) {
    if (!address.of_controller())
      throw refused("the controller's address starts with mf:// or mf+tls://, not " + address.scheme + ":");
  }
  return found;
}

std::vector<Address> listened_at(const std::string& list) {
  auto found = Address::parse_list(list);
  for (const auto& address : found) {
    if (!address.of_server())
      throw refused(
          "a server listens at tcp://host:port, tls://host:port, unix:/path or memory:name, not at " +
          address.scheme + "://");
  }
  return found;
}

// TLS options without a tls:// address are refused, since the user believes that the server is protected.
std::shared_ptr<transport::TlsContext> tls_for(const std::vector<Address>& listen,
                                               const TlsOptions& options) {
  const auto is_tls = [](const Address& address) { return address.scheme == "tls"; };
  if (std::ranges::any_of(listen, is_tls)) return transport::make_tls_server(options);
  if (options == TlsOptions()) return nullptr;
  throw refused("ServerOptions::tls is given, but no address of `listen` begins with tls://");
}

}  // namespace

// Accepts on the reactor's thread. Without free descriptors, it first checks for ended connections that were
// not noticed yet; if that frees none, it turns away pending clients, and pauses the listener for 10 ms to 1
// s.
class Server::Core::Acceptor final : public transport::Watched,
                                     public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(Core& core, const Address& listen, std::shared_ptr<transport::TlsContext> tls)
      : core_(core), listener_(listen, std::move(tls)) {
    listener_.set_farewell(refusal(kNoDescriptors));
  }

  void open() {
    core_.reactors_.front()->watch(listener_.fd(), shared_from_this(), false);
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::read);
  }
  /// On the reactor's thread. Turns away clients that wait to be accepted.
  void close() {
    core_.reactors_.front()->forget(listener_.fd());
    listener_.close();
  }
  [[nodiscard]] const Address& address() const { return listener_.address(); }
  [[nodiscard]] std::uint64_t turned_away() const noexcept { return listener_.turned_away(); }

  void on_ready(transport::Ready /*ready*/) override {
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
      std::unique_ptr<transport::Stream> stream;
      const auto result = listener_.accept(stream);
      if (result == transport::Listener::Accept::none) break;
      if (result == transport::Listener::Accept::exhausted) return looked_ ? rest() : look();
      looked_ = false;
      if (pause_ != kShortestPause) {
        core_.log().write(Level::info, "accepts_again", {{"address", address().str()}});
        pause_ = kShortestPause;
      }
      core_.accept(std::move(stream));
    }
  }

 private:
  static constexpr int kAcceptsPerTurn = 64;
  static constexpr std::chrono::milliseconds kShortestPause{10};

  // Ends of connections may be queued behind the listener's event on their threads. A thread that is busy for
  // long is not awaited.
  void look() {
    looked_ = true;
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::none);
    core_.reactors_.front()->at(mf::now() + kShortestPause, resume());
    core_.after_events(resume());
  }

  void rest() {
    looked_ = false;
    listener_.turn_away();
    if (pause_ == kShortestPause)  // once, until a connection is accepted again
      core_.log().write(Level::error, "out_of_descriptors", {{"address", address().str()}});
    core_.reactors_.front()->arm(listener_.fd(), transport::Interest::none);
    core_.reactors_.front()->at(mf::now() + pause_, resume());
    pause_ = std::min<std::chrono::milliseconds>(pause_ * 2, std::chrono::seconds(1));
  }

  /// Returns a function that accepts again, unless the listener pauses for another reason by then.
  std::function<void()> resume() {
    return [weak = weak_from_this(), stop = stops_] {
      const auto self = weak.lock();
      if (!self || self->listener_.fd() < 0 || self->stops_ != stop) return;
      ++self->stops_;
      self->core_.reactors_.front()->arm(self->listener_.fd(), transport::Interest::read);
    };
  }

  Core& core_;
  transport::Listener listener_;
  std::chrono::milliseconds pause_ = kShortestPause;
  bool looked_ = false;      // since a connection was accepted, or turned away
  std::uint64_t stops_ = 0;  // how often accepting was resumed
};

// Each thread runs the check twice: events that arrived before the first time are handled before the second.
void Server::Core::after_events(std::function<void()> work, std::size_t asked) {
  if (asked == 2 * reactors_.size()) return reactors_.front()->post(std::move(work));
  reactors_[asked / 2]->post(
      [this, asked, work = std::move(work)]() mutable { after_events(std::move(work), asked + 1); });
}

Server::Core::Core(ServerOptions options)
    : options_(std::move(options)),
      admission_(std::make_shared<server::Admission>(options_.limit)),
      load_(std::make_shared<link::ServerLoad>(options_.max_held_bytes)) {
  std::random_device random;
  for (auto& byte : nonce_) byte = static_cast<std::byte>(random());
}

/// The server for objects that offer by themselves, which may outlive it.
class Server::Core::Door final : public server::Offers {
 public:
  explicit Door(Core& core) : core_(&core) {}

  void offer(std::shared_ptr<Servant> servant) override {
    const std::scoped_lock lock(mutex_);
    if (core_ != nullptr) core_->offer(std::move(servant), {.where = Where::worker}, false);
  }
  void publishes(const ServiceInfo& topic, std::vector<std::string> agents) override {
    const std::scoped_lock lock(mutex_);
    if (core_ != nullptr) core_->publishes(topic, std::move(agents));
  }
  void on_stop(std::function<void()> stopping) override {
    const std::scoped_lock lock(mutex_);
    stopping_.push_back(std::move(stopping));
  }
  void stop() {
    std::vector<std::function<void()>> stopping;
    {
      const std::scoped_lock lock(mutex_);
      stopping.swap(stopping_);
    }
    for (const auto& each : stopping) each();
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    core_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Core* core_;
  std::vector<std::function<void()>> stopping_;
};

void Server::Core::offer(server::Offering& offering) {
  {
    const std::scoped_lock lock(mutex_);
    if (!door_) door_ = std::make_shared<Door>(*this);
  }
  offering.offer_at(door_);
}

void Server::Core::publishes(const ServiceInfo& topic, std::vector<std::string> agents) {
  {
    const std::scoped_lock lock(mutex_);
    topics_[std::string(topic.name)] = {.fingerprint = topic.fingerprint, .agents = std::move(agents)};
    if (!started_) return;
  }
  announce();
}

// Under the name of its service, and of all that this one extends: of these, the counters are their own, and
// the limits the same.
void Server::Core::offer(std::shared_ptr<Servant> servant, OfferOptions options, bool registered) {
  const auto& own = servant->service();
  const auto agent = sent_agent(own, options.agent);
  if (auto reason = agent_refusal(own, agent)) throw refused(std::move(*reason));
  check_announced(options, agent, registered && !options_.controller.empty());
  auto shown = shown_agent(own, agent);
  const auto gates = gates_for(own, shown, options);
  const auto services = services_of(*servant);
  {
    const std::scoped_lock lock(mutex_);
    for (const auto* service : services)
      if (offers_.contains(std::pair(std::string(service->name), agent)))
        throw refused(std::string(service->name) + " is offered already for \"" + shown + "\"");
    for (const auto* service : services) {
      const auto count = service->methods.size();
      const auto limited = static_cast<std::ptrdiff_t>(gates.empty() ? 0 : count);
      auto placements =
          options.where == Where::adaptive ? std::make_unique<server::Placement[]>(count) : nullptr;
      offers_[{std::string(service->name), agent}] = std::make_shared<const server::Offer>(
          server::Offer{.servant = servant,
                        .agent = shown,
                        .where = options.where,
                        .weight = options.weight,
                        .labels = options.labels,
                        .alone = options.alone,
                        .registered = registered,
                        .placements = std::move(placements),
                        .counters = std::make_unique<server::Counters[]>(count),
                        .gates = {gates.begin(), gates.begin() + limited},
                        .extended = service == &own ? nullptr : service});
    }
    if (!started_) return;
  }
  announce();
}

void Server::Core::withdraw(const Servant& servant, const std::string& agent) {
  const auto sent = sent_agent(servant.service(), agent);
  std::vector<std::shared_ptr<const server::Offer>> offers;  // destroyed after unlocking
  {
    const std::scoped_lock lock(mutex_);
    const auto& own = servant.service();
    const auto known = offers_.find(std::pair(std::string(own.name), sent));
    if (known == offers_.end())
      throw refused(std::string(own.name) + " is not offered for \"" + shown_agent(own, sent) + "\"");
    const auto offered = known->second->servant;
    for (const auto* service : services_of(*offered)) {
      const auto found = offers_.find(std::pair(std::string(service->name), sent));
      if (found == offers_.end() || found->second->servant != offered) continue;
      offers.push_back(std::move(found->second));
      offers_.erase(found);
    }
    if (!started_) return;
  }
  announce();
}

std::shared_ptr<link::Candidacy> Server::Core::candidacy(const ServiceInfo& service,
                                                         const std::string& agent) {
  auto sent = sent_agent(service, agent);
  if (auto reason = agent_refusal(service, sent)) throw refused(std::move(*reason));
  if (options_.controller.empty())
    throw refused("the lead is given by a controller, and this server has none");
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) throw Error(Code::cancelled, Execution::not_executed, "the server was stopped");
    if (!registrar_) throw refused("start the server first");
    registrar = registrar_;
  }
  auto wanted = std::make_shared<link::Candidacy>();
  registrar->lead(std::string(service.name), std::move(sent), wanted);
  return wanted;
}

/// By the method's index; empty if there is no limit for any of them.
std::vector<std::shared_ptr<server::Gate>> Server::Core::gates_for(const ServiceInfo& service,
                                                                   const std::string& agent,
                                                                   const OfferOptions& options) {
  for (const auto& [name, limit] : options.limits) {
    if (std::ranges::find(service.methods, name) == service.methods.end())
      throw refused("a limit for " + std::string(service.name) + "." + name + ", which is no method of it");
  }
  std::vector<std::shared_ptr<server::Gate>> gates;
  if (options.limits.empty() && options_.limit.concurrent == 0) return gates;
  for (const auto& name : service.methods) {
    const auto found = options.limits.find(name);
    auto what = std::string(service.name) + "." + std::string(name);
    if (!agent.empty()) what += " for agent \"" + agent + "\"";
    gates.push_back(
        admission_->gate(found != options.limits.end() ? found->second : Limit(), std::move(what)));
  }
  return gates;
}

ServerStats Server::Core::stats() const {
  const auto [running, waiting] = admission_->gauges();
  ServerStats all{.running = running, .waiting = waiting, .connections = connection_stats()};
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, offer] : offers_) {
    const auto& service = offer->service();
    for (std::size_t i = 0; i < service.methods.size(); ++i) {
      const auto& counters = offer->counters[i];
      MethodStats one{.service = std::string(service.name),
                      .agent = offer->agent,
                      .method = std::string(service.methods[i]),
                      .executed = counters.executed.load(std::memory_order_relaxed),
                      .refused = counters.refused.load(std::memory_order_relaxed),
                      .expired = counters.expired.load(std::memory_order_relaxed),
                      .dropped = counters.dropped.load(std::memory_order_relaxed)};
      if (!offer->gates.empty() && offer->gates[i] != nullptr) {
        const auto now = admission_->gauges(*offer->gates[i]);
        one.running = now.running;
        one.waiting = now.waiting;
      }
      all.executed += one.executed;
      all.refused += one.refused;
      all.expired += one.expired;
      all.dropped += one.dropped;
      all.methods.push_back(std::move(one));
    }
  }
  return all;
}

Outcome<std::shared_ptr<const server::Offer>> Server::Core::find(const protocol::Bind& bind,
                                                                 std::string_view peer) {
  const std::scoped_lock lock(mutex_);
  const std::string service(bind.service);
  auto found = offers_.find(std::pair(service, std::string(bind.agent)));
  const auto first = offers_.lower_bound(std::pair(service, std::string()));
  if (first == offers_.end() || first->first.first != service) {
    std::vector<std::string> services;  // sorted: those of one service are adjacent
    for (const auto& [key, offer] : offers_)
      if (services.empty() || services.back() != key.first) services.push_back(key.first);
    return unknown(Code::unknown_service, "this server does not offer " + service + "; it offers " +
                                              (services.empty() ? "nothing" : some_of(services)));
  }
  if (found == offers_.end() && bind.agent.empty()) found = first;  // any agent of this server
  if (found == offers_.end()) {
    const ServiceInfo& asked = first->second->service();
    std::vector<std::string> agents;
    for (auto at = first; at != offers_.end() && at->first.first == service; ++at)
      agents.push_back(at->second->agent);
    return unknown(Code::unknown_agent, "this server does not offer " + service + " for agent \"" +
                                            shortened(shown_agent(asked, bind.agent)) +
                                            "\"; known agents: " + some_of(agents, "\""));
  }
  if (found->second->service().fingerprint != bind.fingerprint) {
    // It may adapt. If it cannot it is told how they differ, which only it knows.
    options_.log.write(Level::warning, "schema_mismatch", {{"service", service}, {"peer", peer}});
    return unknown(Code::schema_mismatch,
                   "client and server were generated from different schemas of " + service);
  }
  return found->second;
}

const ServiceInfo* Server::Core::describe(std::string_view service) {
  const std::scoped_lock lock(mutex_);
  const auto first = offers_.lower_bound(std::pair(std::string(service), std::string()));
  if (first == offers_.end() || first->first.first != service) return nullptr;
  return &first->second->service();
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
  const auto bytes = refusal(reason);
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
    const auto at = controllers(options_.controller).front().host;
    const bool here = at == "localhost" || at == "::1" || at.starts_with("127.");
    address.host = here || ::gethostname(host.data(), host.size() - 1) != 0 ? "127.0.0.1" : host.data();
  }
  return all;
}

void Server::Core::announce() {
  // Two that change the list at once announce it one after the other, the later one with both changes.
  const std::scoped_lock in_order(announcing_);
  std::vector<Offered> offered;
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    registrar = registrar_;
    if (!registrar) return;
    for (const auto& [key, offer] : offers_) {
      if (!offer->registered) continue;
      offered.push_back({.service = key.first,
                         .agent = key.second,
                         .fingerprint = offer->service().fingerprint,
                         .weight = offer->weight,
                         .labels = offer->labels,
                         .alone = offer->alone});
    }
    for (const auto& [name, topic] : topics_) {
      for (const auto& agent : topic.agents) {
        offered.push_back(
            {.kind = OfferedKind::topic, .service = name, .agent = agent, .fingerprint = topic.fingerprint});
      }
    }
  }
  registrar->announce(std::move(offered), advertised());
}

void Server::Core::start() {
  const std::scoped_lock one_at_a_time(starting_or_stopping_);
  if (options_.max_payload < protocol::kLeastMaxPayload)
    throw refused("max_payload is " + std::to_string(options_.max_payload) + ": give bytes from " +
                  std::to_string(protocol::kLeastMaxPayload) + " on");
  const auto listen = listened_at(options_.listen);
  auto controllers_given =
      options_.controller.empty() ? std::vector<Address>{} : controllers(options_.controller);
  {
    const std::scoped_lock lock(mutex_);
    if (started_) throw refused("the server was started already");
    if (stopped_) throw refused("the server was stopped");
    if (std::uint64_t{options_.max_streams} * options_.stream_window > protocol::kMaxWindows) {
      throw refused("max_streams " + std::to_string(options_.max_streams) + " of stream_window " +
                    std::to_string(options_.stream_window) + " bytes each: together they may take " +
                    std::to_string(protocol::kMaxWindows) + " bytes");
    }
    if (options_.io_threads == 0) throw refused("a server needs at least one of io_threads");
    const auto tls = tls_for(listen, options_.tls);
    std::vector<std::shared_ptr<Acceptor>> acceptors;
    for (const auto& address : listen) acceptors.push_back(std::make_shared<Acceptor>(*this, address, tls));
    acceptors_ = std::move(acceptors);
    for (std::size_t i = 0; i < options_.io_threads; ++i)
      reactors_.push_back(std::make_shared<transport::Reactor>(kMostSpares, options_.log));
    workers_ = std::make_unique<transport::Workers>(options_.workers, options_.log);
    stream_threads_ = std::make_unique<transport::Workers>(0, kMostStreamThreads, options_.log);
    started_ = true;
  }
  if (options_.forwarder) options_.forwarder->opened(nonce_, addresses().front().str());
  for (const auto& acceptor : acceptors_) acceptor->open();
  if (controllers_given.empty()) return;
  std::array<std::uint8_t, 16> instance{};
  std::memcpy(instance.data(), nonce_.data(), instance.size());
  auto registrar = make_controller_registrar(std::move(controllers_given), instance, options_.log,
                                             reactors_.front(), options_.controller_tls);
  {
    const std::scoped_lock lock(mutex_);
    registrar_ = std::move(registrar);
  }
  announce();
}

void Server::Core::run() {
  server::StopSignals signals;
  bool start_now = false;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return;
    signals_ = &signals;
    start_now = !started_;
  }
  const auto serve = [&] {
    if (start_now) start();
    signals.wait();
  };
  const auto done = [&] {
    const std::scoped_lock lock(mutex_);
    signals_ = nullptr;
  };
  try {
    serve();
  } catch (...) {  // for example, if the port is in use
    done();
    throw;
  }
  done();
  stop();
}

void Server::Core::drain() {
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
  while (std::ranges::any_of(clients(), busy) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // only while draining
  }
}

// A handler that stops its own server is not awaited there, but its thread uses this object.
Server::Core::~Core() {
  if (door_) door_->close();
  for (const auto& reactor : reactors_) reactor->stop();
}

void Server::Core::stop() {
  blocking();  // a handler may stop its own server
  const std::scoped_lock one_at_a_time(starting_or_stopping_);
  {
    const std::scoped_lock lock(mutex_);
    if (signals_ != nullptr) signals_->wake();
    if (stopped_ || !started_) {
      stopped_ = true;
      return;
    }
    stopped_ = true;
  }
  drain();
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
}

std::vector<Address> Server::Core::addresses() const {
  const std::scoped_lock lock(mutex_);
  if (acceptors_.empty()) throw refused("the server has no address before start()");
  std::vector<Address> all;
  for (const auto& acceptor : acceptors_) all.push_back(acceptor->address());
  return all;
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

void Server::run() {
  core_->run();
}

void Server::stop() {
  core_->stop();
}

ServerStats Server::stats() const {
  return core_->stats();
}

Address Server::address() const {
  return core_->addresses().front();
}

std::vector<Address> Server::addresses() const {
  return core_->addresses();
}

}  // namespace mf
