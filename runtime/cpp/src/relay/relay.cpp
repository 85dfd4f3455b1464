#include "mf/relay/relay.hpp"

#include <algorithm>
#include <utility>

#include "mf/client/core.hpp"
#include "mf/core/failure.hpp"
#include "relay/connection.hpp"
#include "relay/shared.hpp"
#include "relay/topics.hpp"
#include "relay/words.hpp"

namespace mf::relay {
namespace {

// How often the log names a server that is not reached, and how many of them are remembered.
constexpr std::chrono::seconds kUnreachedLoggedEvery{10};
constexpr std::size_t kMostUnreached = 1'024;
// Of clients that the relay makes for others: the largest message or reply, and the window of a stream.
constexpr std::uint32_t kMostPayload = 64U << 20U;
constexpr std::uint32_t kWindow = 256U << 10U;

std::vector<Instance> as_servers(const std::vector<Address>& controllers) {
  std::vector<Instance> servers;
  for (const auto& address : controllers) servers.push_back({.address = address.server()});
  return servers;
}

std::shared_ptr<Shared> shared_with(RelayOptions options) {
  auto shared = std::make_shared<Shared>();
  if (!options.to.empty()) shared->to = transport::Networks::of(options.to);
  if (!options.credential.file.empty()) {
    if (const auto token = client::token_of(options.credential); !token)
      throw Error(Code::invalid_argument, Execution::not_executed, token.failure().message);
  }
  shared->connecting.tls = transport::make_tls_client(options.tls, options.log);
  shared->paths = std::make_shared<link::LocalPaths>(options.tls == TlsOptions(),
                                                     transport::Trust(options.trusted_users), options.log);
  shared->options = std::move(options);
  shared->topics = std::make_shared<Topics>(*shared);
  shared->keep = std::make_shared<topics::KeepBudget>(shared->options.max_kept_bytes);
  return shared;
}

}  // namespace

Failure Shared::failure_for_clients(Failure why, const std::string& server) const {
  if (why.code != Code::protocol_error) {
    why.message = without_addresses(why.message);
    return why;
  }
  options.log.write(Level::warning, "relay_server_broke_the_protocol",
                    {{"peer", server}, {"reason", why.message}});
  const bool unharmed = why.execution == Execution::not_executed;
  return make_failure(unharmed ? Code::unavailable : Code::connection_lost, why.execution,
                      "a server has broken the protocol");
}

Failure Shared::failure_to_connect(const Failure& why, const std::string& server) {
  if (why.code == Code::cancelled) return why;  // the client has gone
  bool is_news = false;
  {
    const auto now = mf::now();
    const std::scoped_lock lock(mutex_);
    if (unreached_.size() >= kMostUnreached) unreached_.clear();
    auto& named = unreached_[server];
    is_news = named == TimePoint() || now - named >= kUnreachedLoggedEvery;
    if (is_news) named = now;
  }
  if (is_news && why.code == Code::protocol_error)
    options.log.write(Level::warning, "relay_server_broke_the_protocol",
                      {{"peer", server}, {"reason", why.message}});
  else if (is_news)
    options.log.write(Level::warning, "relay_server_not_reached",
                      {{"peer", server}, {"code", mf::name(why.code)}, {"reason", why.message}});
  // One text and code: another for each reason would tell what listens at an address that anybody has
  // registered.
  return not_executed(Code::unavailable, "a server was not reached; the relay's log has the reason");
}

std::optional<Identity> Shared::passed(const Identity& client) const {
  if (!options.passes_identities) return std::nullopt;
  return protocol::may_be_passed(client) ? client : Identity();
}

ClientOptions Shared::client_options() const {
  ClientOptions made;
  made.connect_timeout = options.connect_timeout;
  made.max_payload = kMostPayload;
  made.stream_window = kWindow;
  made.tls = options.tls;
  made.credential = options.credential;
  made.trusted_users = options.trusted_users;
  made.log = options.log;
  return made;
}

std::shared_ptr<client::Core> Shared::core_for(const Identity& client,
                                               std::shared_ptr<transport::Reactor> of) const {
  auto core = std::make_shared<client::Core>(resolver, nullptr, client_options(), std::move(of));
  core->relay({.passed = passed(client), .networks = connecting.networks});
  return core;
}

void Shared::set_resolver(std::shared_ptr<Resolver> with, const std::vector<Address>& at) {
  resolver = std::move(with);
  services = std::make_shared<Services>(resolver);
  controllers = as_servers(at);
}

void Shared::tidy_services(transport::Reactor& by) {
  if (tidies_.exchange(true)) return;
  by.at(mf::now() + Services::kKeptFor, [weak = weak_from_this(), &by] {
    const auto self = weak.lock();
    if (!self) return;
    self->services->tidy(mf::now());
    self->tidies_ = false;
    if (self->services->known() != 0) self->tidy_services(by);
  });
}

Relay::Relay(RelayOptions options) : shared_(shared_with(std::move(options))) {
  shared_->reactor = std::make_shared<transport::Reactor>(0, shared_->options.log);
  if (!shared_->options.controller.empty()) ask(shared_->options.controller);
}

// Sets up the resolver.
void Relay::ask(const std::string& url) {
  const auto controllers = Address::parse_list(url);
  for (const auto& address : controllers) {
    if (address.of_controller() || address.of_relay()) continue;
    throw Error(
        Code::invalid_argument, Execution::not_executed,
        "address '" + address.str() +
            "': a relay is told of controllers (mf://host:port, mf+tls://host:port) or of another relay "
            "(relay://host:port, relay+tls://host:port)");
  }
  shared_->set_resolver(client::resolver_for(url, shared_->reactor, shared_->options.log,
                                             shared_->options.tls, shared_->options.credential),
                        controllers);
}

Relay::Relay(std::shared_ptr<Resolver> resolver, const std::vector<Address>& controllers,
             RelayOptions options)
    : shared_(shared_with(std::move(options))) {
  shared_->set_resolver(std::move(resolver), controllers);
}

Relay::~Relay() {
  close();
}

std::shared_ptr<server::Forwarding> Relay::connected(const std::shared_ptr<link::ServerLink>& link) {
  return std::make_shared<Connection>(shared_, link);
}

void Relay::opened(const protocol::Nonce& nonce, const std::vector<Address>& addresses,
                   std::shared_ptr<const server::Taps> taps) {
  auto own = addresses.front();
  shared_->nonce = nonce;
  shared_->taps = std::move(taps);
  shared_->name = "relay " + own.str();
  if (shared_->resolver) return limit_networks(addresses);
  if (own.scheme != "tcp") {
    throw Error(Code::invalid_argument, Execution::not_executed,
                "a controller that relays listens at tcp://host:port first, not at " + own.str());
  }
  own.scheme = "mf";
  if (own.host == "0.0.0.0") own.host = "127.0.0.1";
  if (own.host == "::") own.host = "::1";
  ask(own.str());
  limit_networks(addresses);
}

// A program that reaches the relay from elsewhere must not reach through it what is for this host alone.
void Relay::limit_networks(const std::vector<Address>& listens_at) {
  const bool of_this_host = std::ranges::none_of(listens_at, transport::is_beyond_host);
  auto networks = shared_->to ? *shared_->to : transport::Networks::usual(of_this_host);
  for (const auto& controller : shared_->controllers) networks.allow(controller.address);
  shared_->connecting.networks = std::make_shared<const transport::Networks>(std::move(networks));
}

// The pools of its clients look at their connections by themselves.
bool Relay::reload() {
  const bool usable = transport::read_again(*shared_->connecting.tls, transport::Reads::all);
  const bool topics = shared_->topics->reload();
  return (!shared_->resolver || shared_->resolver->reload()) && usable && topics;
}

std::vector<TopicRelayStats> Relay::topics() const {
  return shared_->topics->stats();
}

std::shared_ptr<client::Core> Relay::client_for(const Identity& client,
                                                const std::shared_ptr<transport::Reactor>& reactor) const {
  if (shared_->options.passes_identities && !protocol::may_be_passed(client))
    throw not_executed_error(Code::permission_denied, words("your identity is too long to be passed on"));
  return shared_->core_for(client, reactor);
}

std::shared_ptr<client::Core> Relay::controller_client(
    const std::shared_ptr<transport::Reactor>& reactor) const {
  return std::make_shared<client::Core>(std::make_shared<StaticResolver>(shared_->controllers), nullptr,
                                        shared_->client_options(), reactor);
}

std::shared_ptr<void> Relay::watch(std::string_view service,
                                   const std::shared_ptr<transport::Reactor>& reactor) const {
  auto use = shared_->services->use(service);
  if (use) shared_->tidy_services(*reactor);
  return use;
}

const std::shared_ptr<Resolver>& Relay::resolver() const noexcept {
  return shared_->resolver;
}

const server::Taps& Relay::taps() const noexcept {
  return *shared_->taps;
}

std::string Relay::words(std::string_view message) {
  return "relay: " + without_addresses(message);
}

void Relay::close() {
  shared_->topics->close();
  if (shared_->reactor && shared_->resolver) shared_->resolver->close();
  if (shared_->reactor) shared_->reactor->stop();
}

}  // namespace mf::relay
