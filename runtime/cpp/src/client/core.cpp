#include "mf/client/core.hpp"

#include <cstring>
#include <random>

#include "mf/client/failures.hpp"
#include "mf/core/failure.hpp"
#include "mf/tokens/keys.hpp"

namespace mf::client {
namespace {

constexpr std::size_t kBackgroundThreads = 4;
// Agents whose connections are remembered; above this number, unused ones are dropped.
constexpr std::size_t kMostShared = 4096;
// Addresses of which the log says at the same time that they are not reached.
constexpr std::size_t kMostUnreached = 64;
// Calls that wait for a connection, and the bytes of their requests.
constexpr std::size_t kMostWaiting = std::size_t{1} << 16U;
constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;

}  // namespace

namespace {

/// An address in clear beside `tls` or a credential is an error: its user believes that the bytes are
/// encrypted. Servers that a controller at mf:// names may be at tls://.
void refuse_in_clear(const std::vector<Address>& addresses, const TlsOptions& tls,
                     const ClientCredential& credential) {
  if (tls == TlsOptions() && !credential.given()) return;
  const std::string given = tls != TlsOptions() ? "tls" : "credential";
  for (const auto& address : addresses) {
    if (address.scheme != "tcp" && address.scheme != "relay") continue;
    throw Error(Code::invalid_argument, Execution::not_executed,
                "address '" + address.str() + "': " + given +
                    " is given, and nothing is encrypted there; write " +
                    (address.scheme == "tcp" ? "tls" : "relay+tls") + "://, or leave " + given + " out");
  }
}

}  // namespace

Outcome<Secret> token_of(const ClientCredential& credential) {
  if (credential.file.empty()) return credential.token;
  try {
    return tokens::read_token(credential.file);
  } catch (const Error& error) {
    return not_executed(Code::unauthenticated, "credential " + error.message());
  }
}

std::shared_ptr<Resolver> resolver_for(std::string_view url,
                                       const std::shared_ptr<transport::Reactor>& reactor, const Log& log,
                                       const TlsOptions& tls, const ClientCredential& credential) {
  auto addresses = Address::parse_list(url);
  const auto kind = [](const Address& address) {
    return std::string(address.of_server()       ? "tcp"
                       : address.of_relay()      ? "relay"
                       : address.of_controller() ? "mf"
                                                 : address.scheme);
  };
  const auto first = kind(addresses.front());
  for (const auto& address : addresses) {
    if (kind(address) == first && (first == "tcp" || first == "mf" || first == "relay")) continue;
    throw Error(
        Code::invalid_argument, Execution::not_executed,
        "address '" + address.str() +
            "': the addresses of a client are those of servers (tcp, tls, unix, memory), or of controllers "
            "(mf, mf+tls), or of relays (relay, relay+tls)");
  }
  refuse_in_clear(addresses, tls, credential);
  if (first == "mf") return make_controller_resolver(std::move(addresses), reactor, log, tls, credential);
  if (first == "tcp") return std::make_shared<StaticResolver>(std::move(addresses));
  return std::make_shared<RelayedResolver>(make_controller_resolver(addresses, reactor, log, tls, credential),
                                           addresses);
}

Core::Core(std::shared_ptr<Resolver> resolver, std::shared_ptr<const LocalServants> servants,
           ClientOptions options, std::shared_ptr<transport::Reactor> reactor)
    : options_(std::move(options)),
      resolver_(std::move(resolver)),
      servants_(std::move(servants)),
      interceptors_(mf::detail::interceptors_of(options_.interceptors, options_.log)),
      reactor_(std::move(reactor)) {
  if (options_.authentication.size() > protocol::kMaxAuthentication) {
    throw Error(Code::invalid_argument, Execution::not_executed,
                "the authentication field is longer than 16 KiB");
  }
  if (options_.max_payload < protocol::kLeastMaxPayload)
    throw Error(Code::invalid_argument, Execution::not_executed,
                "max_payload is " + std::to_string(options_.max_payload) + ": give bytes from " +
                    std::to_string(protocol::kLeastMaxPayload) + " on");
  if (!options_.credential.file.empty()) (void)tokens::read_token(options_.credential.file);
  if (servants_) return;  // in-process: no sockets, no threads
  std::random_device random;
  for (auto& byte : nonce_) byte = static_cast<std::byte>(random());
  random_id_ = random() | 1U;
  tls_ = transport::make_tls_client(options_.tls, options_.log);
  if (reactor_) return;
  reactor_ = std::make_shared<transport::Reactor>(0, options_.log);
  owns_reactor_ = true;
}

const std::shared_ptr<transport::Reactor>& Core::loop() {
  const std::scoped_lock lock(mutex_);
  if (pool_) return loop_;
  if (!loop_) loop_ = owns_reactor_ ? std::make_shared<transport::Reactor>(0, options_.log) : reactor_;
  pool_ = std::make_shared<route::Pool>(reactor_, loop_, pool_options());
  if (closed()) pool_->close("the client was closed");
  return loop_;
}

std::shared_ptr<Core> Core::at(std::string_view url, ClientOptions options) {
  auto reactor = std::make_shared<transport::Reactor>(0, options.log);
  auto loop = std::make_shared<transport::Reactor>(0, options.log);
  auto core = std::make_shared<Core>(resolver_for(url, loop, options.log, options.tls, options.credential),
                                     nullptr, std::move(options), reactor);
  core->owns_reactor_ = true;
  core->loop_ = std::move(loop);
  core->owns_resolver_ = true;
  return core;
}

// The pool may outlive this object by what it has begun.
route::PoolOptions Core::pool_options() {
  protocol::SessionOptions session;
  session.limits.max_payload = options_.max_payload;
  session.limits.stream_window = options_.stream_window;
  session.nonce = nonce_;
  session.authentication = options_.authentication;
  session.passed = relaying_.passed;
  route::PoolOptions options;
  options.make_session = [session, resolver = resolver_, own = random_id_, first_id = first_id_] {
    auto made = session;
    const auto given = resolver->client_id();
    made.client_id = given != 0 ? given : own;
    made.first_id = first_id->load(std::memory_order_relaxed);
    return made;
  };
  if (options_.credential.given())
    options.credential = [given = options_.credential] { return token_of(given); };
  options.connect_timeout = options_.connect_timeout;
  options.dead_after = options_.dead_after;
  options.connecting.tls = tls_;
  options.connecting.networks = relaying_.networks;
  options.reload_interval = options_.reload_interval;
  options.paths = std::make_shared<link::LocalPaths>(options_.tls == TlsOptions(),
                                                     transport::Trust(options_.trusted_users), options_.log);
  return options;
}

bool Core::seen(std::string_view service, std::string_view agent) const {
  const std::scoped_lock lock(mutex_);
  return seen_.contains({std::string(service), std::string(agent)});
}

void Core::set_seen(std::string_view service, std::string_view agent) {
  const std::scoped_lock lock(mutex_);
  seen_.emplace(service, agent);
}

std::shared_ptr<Shared> Core::shared(const ServiceInfo& service, std::string_view agent, Make make) {
  std::vector<std::shared_ptr<Shared>> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  if (closed()) return make();
  if (shared_.size() >= kMostShared) {
    std::erase_if(shared_, [&](auto& entry) {
      if (entry.second.use_count() != 1) return false;
      gone.push_back(std::move(entry.second));
      return true;
    });
  }
  auto& place = shared_[{&service, std::string(agent)}];
  if (!place) place = make();
  return place;
}

void Core::forget(const ServiceInfo& service) {
  std::vector<std::shared_ptr<Shared>> gone;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  std::erase_if(shared_, [&](const auto& entry) {
    if (entry.first.first != &service) return false;
    gone.push_back(entry.second);
    return true;
  });
}

ServiceCaches& Core::caches(const ServiceInfo& service) {
  const std::scoped_lock lock(mutex_);
  return caches_.try_emplace(&service, service, options_.clock).first->second;
}

void Core::note_unreached(const Address& address, const Failure& why) {
  if (!logs_unreached_) return;
  {
    const std::scoped_lock lock(mutex_);
    if (closed() || unreached_.size() >= kMostUnreached || !unreached_.insert(address).second) return;
  }
  options_.log.write(Level::warning, "server_not_reached",
                     {{"address", address.str()},
                      {"code", name(why.code)},
                      {"reason", why.reason()},
                      {"next", "tries on, until the deadlines of the calls"}});
}

void Core::note_reached(const Address& address) {
  {
    const std::scoped_lock lock(mutex_);
    if (unreached_.erase(address) == 0) return;
  }
  options_.log.write(Level::info, "server_reached", {{"address", address.str()}});
}

void Core::note_schema(const ServiceInfo& service, const Fingerprint& theirs, const Address& address,
                       bool adapted, std::string_view difference) {
  {
    const std::scoped_lock lock(mutex_);
    if (schemas_.size() >= kMostShared || !schemas_.emplace(&service, theirs).second) return;
  }
  const bool harmless = adapted && difference.empty();
  options_.log.write(harmless ? Level::info : Level::warning, "schema_differs",
                     {{"service", service.name},
                      {"server", address.str()},
                      {"difference", harmless ? std::string_view("nothing that calls need") : difference},
                      {"next", !adapted   ? "no call is made there"
                               : harmless ? "calls go on, adapted"
                                          : "other calls go on, adapted"}});
}

void Core::in_background(UniqueFunction<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (closed()) return;
  if (!background_) background_ = std::make_unique<transport::Workers>(kBackgroundThreads, options_.log);
  background_->submit(std::move(work));
}

void Core::complete(UniqueFunction<void()> work) {
  if (!inherited()) {
    const std::scoped_lock lock(mutex_);
    if (!stopped_) return reactor_->post(std::move(work));
  }
  work();
}

bool Core::reserve_wait(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (waiting_calls_ >= kMostWaiting || waiting_bytes_ + bytes > kMostWaitingBytes) return false;
  ++waiting_calls_;
  waiting_bytes_ += bytes;
  return true;
}

void Core::release_wait(std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  --waiting_calls_;
  waiting_bytes_ -= bytes;
}

bool Core::reload() {
  if (!tls_ || inherited()) return true;
  bool usable = transport::read_again(*tls_, transport::Reads::all);
  if (resolver_) usable = resolver_->reload() && usable;
  const std::scoped_lock lock(mutex_);
  if (pool_ && !closed()) loop_->post([pool = pool_] { pool->check_trust(); });
  return usable;
}

void Core::close() {
  if (closed_.exchange(true)) return;
  if (owns_resolver_) resolver_->close();
  std::unique_ptr<transport::Workers> background;
  decltype(shared_) shared;  // holds this object: destroyed after unlocking
  std::shared_ptr<transport::Reactor> loop;
  std::shared_ptr<route::Pool> pool;
  {
    const std::scoped_lock lock(mutex_);
    background = std::move(background_);
    shared.swap(shared_);
    loop = loop_;
    pool = pool_;
  }
  for (const auto& [key, state] : shared) state->on_close();
  if (pool) loop->post([pool = std::move(pool)] { pool->close("the client was closed"); });
  if (loop && owns_reactor_) loop->stop();
  if (background) background->stop();
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  if (owns_reactor_) reactor_->stop();
}

}  // namespace mf::client

namespace mf {

Client::Client(std::string_view url, ClientOptions options)
    : Client(client::Core::at(url, std::move(options))) {}

Client::Client(std::shared_ptr<client::Core> core) : core_(std::move(core)) {}

Client::Client(std::shared_ptr<const LocalServants> servants, ClientOptions options)
    : core_(std::make_shared<client::Core>(nullptr, std::move(servants), std::move(options))) {}

Client::Client(std::shared_ptr<Resolver> resolver, ClientOptions options)
    : core_(std::make_shared<client::Core>(std::move(resolver), nullptr, std::move(options))) {}

namespace {

/// Ends the client. The one that a forked child has inherited is left as it is: its threads are not there to
/// be joined, and its sockets are the parent's.
void end(std::shared_ptr<client::Core>&& core) {
  if (!core) return;
  if (!core->inherited()) return core->close();
  [[maybe_unused]] const auto* const left = new std::shared_ptr(std::move(core));
}

}  // namespace

Client::~Client() {
  end(std::move(core_));
}

Client::Client(Client&&) noexcept = default;

bool Client::reload() {
  return core_->reload();
}

Client& Client::operator=(Client&& other) noexcept {
  if (core_ != other.core_) end(std::move(core_));
  core_ = std::move(other.core_);
  return *this;
}

}  // namespace mf
