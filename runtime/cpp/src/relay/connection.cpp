#include "relay/connection.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "mf/client/core.hpp"
#include "mf/core/failure.hpp"
#include "relay/description.hpp"
#include "relay/destination.hpp"
#include "relay/known.hpp"
#include "relay/words.hpp"

namespace mf::relay {
namespace {

// The limit for service, agent and methods of unanswered BINDs, which are kept meanwhile.
constexpr std::size_t kMostBindBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostDescriptions = 16;
constexpr std::size_t kMostRefusers = 64;
// The limit of services that one client has in use.
constexpr std::size_t kMostServices = 128;
constexpr std::string_view kNotPassed =
    "a relay passes no registrations: of the controller's service only client_id, find, status and watch";

std::size_t size_of(const protocol::Bind& bind) noexcept {
  std::size_t size = bind.service.size() + bind.agent.size() + bind.via.size() + sizeof(Destination);
  for (const auto method : bind.methods) size += method.size() + sizeof(std::string);
  return size;
}

}  // namespace

Connection::Connection(std::shared_ptr<Shared> shared, const std::shared_ptr<link::ServerLink>& client)
    : shared_(std::move(shared)),
      client_(client),
      reactor_(client->reactor()),
      peer_(client->peer()),
      hello_(client->hello()),
      identity_(client->identity()),
      client_window_(client->peer_stream_window()),
      servers_(std::make_shared<route::Pool>(reactor_, reactor_, pool_options())) {}

// Servers see the client's own HELLO, except for the credit of streams, which the client grants itself.
route::PoolOptions Connection::pool_options() const {
  protocol::SessionOptions session;
  session.limits.max_payload = hello_.max_payload;
  session.limits.stream_window = 0;
  session.told_from = server::kPassedOnFrom;
  session.client_id = hello_.client_id;
  session.nonce = hello_.nonce;
  session.authentication = hello_.authentication;
  session.name = hello_.name;
  session.passed = shared_->passed(identity_);
  const auto& limits = shared_->options;
  std::function<Outcome<Secret>()> credential;
  if (limits.credential.given())
    credential = [shared = shared_] { return client::token_of(shared->options.credential); };
  return {.make_session = [session] { return session; },
          .credential = std::move(credential),
          .translate = [shared = shared_](
                           const Failure& why,
                           const Address& address) { return shared->failure_to_connect(why, address.str()); },
          .connect_timeout = limits.connect_timeout,
          .connecting = shared_->connecting,
          .paths = shared_->paths,
          .most = std::max<std::size_t>(limits.max_servers_of_client, 1),
          .most_of_all = limits.max_servers,
          .all = shared_->connections};
}

void Connection::post(UniqueFunction<void()> work) {
  reactor_->post(std::move(work));
}

void Connection::at(TimePoint when, UniqueFunction<void()> work) {
  reactor_->at(when, std::move(work));
}

std::string Connection::words(std::string_view message) const {
  return shared_->name + ": " + without_addresses(message);
}

// ---- requests of the client

std::optional<Failure> Connection::refusal_of_client() const {
  if (!shared_->options.passes_identities || protocol::may_be_passed(identity_)) return std::nullopt;
  return not_executed(
      Code::permission_denied,
      "your identity has come through as many relays as it may, or is too long to be passed on");
}

Failure Connection::refusal_of(const protocol::Bind& bind) const {
  if (auto why = refusal_of_client()) return *std::move(why);
  const auto& nonce = shared_->nonce;
  const auto relays = bind.via.size() / nonce.size();
  for (std::size_t i = 0; i < relays; ++i) {
    if (std::ranges::equal(bind.via.subspan(i * nonce.size(), nonce.size()), nonce))
      return not_executed(Code::permission_denied,
                          "a loop of relays: what this one hands on comes back to it; let each have a "
                          "controller behind it");
  }
  if (relays >= protocol::kMostRelays)
    return not_executed(Code::permission_denied, "the call has come through " + std::to_string(relays) +
                                                     " relays, which is all that it may");
  if (bind.service == kController && !shared_->options.registers &&
      std::ranges::none_of(bind.methods, passes_of_controller))
    return not_executed(Code::permission_denied, std::string(kNotPassed));
  if (closed()) return not_executed(Code::shutting_down, std::string(kStopping));
  if (bind_bytes_ + size_of(bind) > kMostBindBytes)
    return not_executed(Code::overloaded, "too many services are looked for at once on this connection");
  return not_executed(Code::ok, {});
}

std::shared_ptr<Services::Use> Connection::use(std::string_view service, std::string& why) {
  const auto known = services_.find(service);
  if (known != services_.end()) {
    if (auto used = known->second.lock()) return used;
  } else if (services_.size() >= kMostServices) {
    std::erase_if(services_, [](const auto& entry) { return entry.second.expired(); });
    if (services_.size() >= kMostServices) {
      why = std::to_string(kMostServices) +
            " services are in use by this client, which is all that one may use at once: UNBIND one";
      return nullptr;
    }
  }
  auto used = shared_->services->use(service);
  if (!used) {
    why = service.size() > Services::kLongestName
              ? "the name of the service has more than " + std::to_string(Services::kLongestName) + " bytes"
              : "its clients use " + std::to_string(Services::kMost) +
                    " services, which is all that it asks about; try again when some have gone";
    return nullptr;
  }
  shared_->tidy_services(*reactor_);
  services_.insert_or_assign(std::string(service), used);
  return used;
}

std::shared_ptr<Servant> Connection::serve(const protocol::Bind& bind, Answered answered) {
  if (!is_topic(bind)) return nullptr;
  if (closed()) throw Error(Code::shutting_down, Execution::not_executed, words("it is stopping"));
  if (const auto no = refusal_of_client()) throw Error(no->code, no->execution, words(no->message));
  std::string why;
  auto used = use(topic_view(bind.service), why);
  if (!used) throw Error(Code::overloaded, Execution::not_executed, words(why));
  post([self = shared_from_this(), name = std::string(bind.service), fingerprint = bind.fingerprint,
        used = std::move(used), answered = std::move(answered)]() mutable {
    auto topic = topic_view(name);
    const auto until = mf::now() + self->shared().options.connect_timeout;
    when_known(self, std::move(topic), until,
               [self, name = std::move(name), fingerprint, used = std::move(used),
                answered = std::move(answered)] { self->answer_topic(name, fingerprint, answered); });
  });
  if (topic_names_.size() >= kMostRefusers) topic_names_.clear();
  topic_names_.emplace(bind.service);
  auto servant = shared_->topics->servant(bind, identity_);
  std::erase_if(topics_, [](const auto& bound) { return bound.expired(); });
  topics_.push_back(servant);
  return servant;
}

// A client with another schema than all publishers gets this answer now, and requests theirs.
void Connection::answer_topic(const std::string& name, const Fingerprint& fingerprint,
                              const Answered& answered) {
  const auto publishers = instances_of(*shared_, topic_view(name), "");
  const bool differs = !publishers.empty() && std::ranges::all_of(publishers, [&](const Instance& instance) {
    return instance.fingerprint != Fingerprint() && instance.fingerprint != fingerprint;
  });
  if (!differs) return answered(Code::ok, {});
  answered(Code::schema_mismatch, words("the publishers of " + name + " have another schema of it"));
}

std::shared_ptr<server::Forwarded> Connection::on_bind(const protocol::Bind& bind, Answer answer) {
  auto why = refusal_of(bind);
  std::shared_ptr<Services::Use> service;
  if (why.code == Code::ok && bind.service != kController) {
    service = use(bind.service, why.message);
    if (!service) why.code = Code::overloaded;
  }
  auto destination = std::make_shared<Destination>(shared_from_this(), bind, std::move(answer), size_of(bind),
                                                   std::move(service));
  bind_bytes_ += size_of(bind);
  if (why.code != Code::ok) {
    shared_->options.log.write(Level::warning, "relay_refused_a_binding",
                               {{"service", bind.service}, {"peer", peer_}, {"reason", why.message}});
    post([destination, why = std::move(why)] { destination->refuse(why); });
  } else {
    post([destination] { destination->begin(); });
  }
  return destination;
}

void Connection::on_request(server::Forwarded& to, std::uint16_t method, const protocol::Event& event,
                            TimePoint now) {
  const auto left = protocol::decode_deadline(event.header.deadline());
  Request request{.head = protocol::ReplyHead::to(event),
                  .method = method,
                  .encoding = event.header.encoding(),
                  .flags = static_cast<std::uint8_t>(event.header.flags & ~protocol::kEncodingMask),
                  .size = event.size(),
                  .deadline = left == kInfinite ? kNever : deadline_after(now, left)};
  auto& destination = static_cast<Destination&>(to);
  if (shared_->taps->draws()) [[unlikely]]
    request.tap = tap(destination, request, event);
  if (!destination.passes(method)) {
    shared_->options.log.write(
        Level::warning, "relay_refused_a_call",
        {{"method", destination.name_of(method)}, {"peer", peer_}, {"reason", kNotPassed}});
    return answer(request, not_executed(Code::permission_denied, std::string(kNotPassed)));
  }
  destination.take(request, event, now);
}

std::shared_ptr<server::ForwardedTap> Connection::tap(const Destination& destination, const Request& request,
                                                      const protocol::Event& event) const {
  std::string_view missing;
  if (event.coming != nullptr) {
    missing = "the parameters are forwarded while they arrive";
  } else if (event.metadata_fault != nullptr) {
    missing = event.metadata_fault;
  }
  return shared_->taps->begin({.service = destination.service(),
                               .agent = destination.agent(),
                               .method = destination.name_of(request.method),
                               .peer = peer_,
                               .identity = &identity_,
                               .schema = destination.schema(),
                               .items = request.head.count,
                               .tier = request.encoding,
                               .is_stream = request.stream(),
                               .size = event.size(),
                               .parameters = event.payload,
                               .missing = missing});
}

bool Connection::on_cancel(std::uint32_t id) {
  std::shared_ptr<Call> call;
  {
    const std::scoped_lock lock(mutex_);
    if (auto* const found = calls_.find(id)) call = *found;
  }
  if (!call) return false;
  if (!call->sent()) call->destination().drop(*call);
  call->cancel();
  return true;
}

bool Connection::on_stream(const protocol::Event& event) {
  std::shared_ptr<Call> call;
  {
    const std::scoped_lock lock(mutex_);
    if (auto* const found = calls_.find(event.header.id)) call = *found;
  }
  if (!call) return false;
  call->on_frame(event);
  return true;
}

bool Connection::on_describe(const protocol::Describe& asked) {
  if (closed() || descriptions_ >= kMostDescriptions) return false;
  std::shared_ptr<link::ClientLink> refuser;
  if (const auto found = refusers_.find(asked.service); found != refusers_.end())
    refuser = found->second.lock();
  std::shared_ptr<Services::Use> used;
  std::string why;
  const bool is_topic = topic_names_.contains(asked.service);
  const auto name = is_topic ? topic_view(asked.service) : std::string(asked.service);
  if (asked.service != kController && !(used = use(name, why))) return false;
  ++descriptions_;
  describe(shared_from_this(), asked, is_topic, std::move(used), std::move(refuser));
  return true;
}

void Connection::described(const protocol::Descriptor& descriptor) {
  --descriptions_;
  link_do([&](link::ServerLink& client) { client.send_descriptor(descriptor); });
}

void Connection::refused(const std::string& service, const std::shared_ptr<link::ClientLink>& link) {
  if (refusers_.size() >= kMostRefusers) refusers_.clear();
  refusers_[service] = link;
}

void Connection::renew(const std::string& reason) {
  shared_->options.log.write(Level::info, "relay_renews_a_client", {{"reason", reason}});
  link_do([&](link::ServerLink& client) { client.drain(words(reason)); });
}

// ---- replies to the client

bool Connection::remember(const std::shared_ptr<Call>& call) {
  const auto& head = call->request().head;
  const std::scoped_lock lock(mutex_);
  if (calls_.contains(head.id)) return false;
  calls_.insert(head.id, head.route, kNever, call);
  return true;
}

void Connection::forget(std::uint32_t id) {
  std::optional<std::shared_ptr<Call>> call;  // destroyed after unlocking
  const std::scoped_lock lock(mutex_);
  call = calls_.take(id);
}

bool Connection::passes_on(const std::shared_ptr<protocol::Coming>& reply) {
  bool alone = false;  // subscriptions, which the relay serves itself, are awaited, too
  link_do([&](link::ServerLink& client) { alone = client.in_flight() <= 1; });
  const std::scoped_lock lock(mutex_);
  const auto before = passing_.lock();
  if (!alone || (before && !before->complete())) return false;
  passing_ = reply;
  return true;
}

void Connection::answer(const protocol::ReplyHead& head, const link::Reply& reply, std::size_t request_size) {
  if (reply.coming != nullptr) return pass_on(head, reply.coming->shared_from_this(), request_size);
  link_do(
      [&](link::ServerLink& client) { client.send_reply(head, {reply.payload, reply.owner}, request_size); });
  watch_room();
}

void Connection::pass_on(const protocol::ReplyHead& head, const std::shared_ptr<protocol::Coming>& payload,
                         std::size_t request_size) {
  link_do([&](link::ServerLink& client) { client.send_reply(head, payload, request_size); });
  payload->watch([weak = weak_from_this()](protocol::Coming::State state) {
    const auto self = weak.lock();
    if (!self) return;
    self->link_do([&](link::ServerLink& client) {
      if (state != protocol::Coming::State::lost) return client.flush_now();
      client.cut_short("a server has gone within a reply, of which the client has a part");
    });
    self->watch_room();
  });
  watch_room();
}

void Connection::answer(const Request& request, const Failure& why, std::string_view server) {
  if (request.tap) [[unlikely]]
    request.tap->end({.failure = &why, .server = server});
  answer_untapped(request, why);
}

void Connection::answer_untapped(const Request& request, const Failure& why) {
  link_do([&](link::ServerLink& client) {
    if (request.oneway()) return client.end_request(request.size);
    client.send_failure(request.head, why.code, why.execution, words(why.message), request.size);
  });
}

void Connection::sent(const Request& request, std::string_view server) {
  if (request.tap) [[unlikely]]
    request.tap->end({.server = server});
  link_do([&](link::ServerLink& client) { client.end_request(request.size); });
}

void Connection::flush_soon() {
  if (flush_posted_.exchange(true)) return;
  post([self = shared_from_this()] {
    self->flush_posted_ = false;
    self->link_do([](link::ServerLink& client) { client.flush_now(); });
    self->watch_room();
  });
}

// ---- flow

void Connection::watch_room() {
  link_do([&](link::ServerLink& client) {
    if (client.has_room()) return;
    // In order with on_room(), or the held reading might never resume.
    if (reactor_->on_own_thread()) return hold(true);
    post([self = shared_from_this()] { self->watch_room(); });
  });
}

void Connection::on_room() {
  post([self = shared_from_this()] {
    self->hold(false);
    self->watch_room();
  });
}

void Connection::hold(bool held) {
  std::vector<std::shared_ptr<link::ClientLink>> links;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(held_, held) == held) return;
    for (const auto& weak : links_) {
      if (auto link = weak.lock()) links.push_back(std::move(link));
    }
  }
  for (const auto& link : links) link->hold_reading(held);
}

void Connection::add(const std::shared_ptr<link::ClientLink>& link) {
  {
    const std::scoped_lock lock(mutex_);
    std::erase_if(links_, [&](const auto& weak) {
      const auto known = weak.lock();
      return !known || known == link;
    });
    links_.push_back(link);
    if (!held_) return;
  }
  post([self = shared_from_this(), link] {
    {
      const std::scoped_lock lock(self->mutex_);
      if (!self->held_) return;
    }
    link->hold_reading(true);
  });
}

void Connection::keep(const std::shared_ptr<Destination>& destination, bool needed) {
  if (needed && !closed()) {
    needed_.insert(destination);
  } else {
    needed_.erase(destination);
  }
}

void Connection::write_later(const std::shared_ptr<link::ClientLink>& link) {
  if (std::ranges::find(to_write_, link) == to_write_.end()) to_write_.push_back(link);
}

void Connection::on_turn_end() {
  for (const auto& link : std::exchange(to_write_, {})) link->write_now();
}

// A client's watches at the controller have no end, and the relay would wait for them as long as it may.
void Connection::on_drain() {
  post([self = shared_from_this()] {
    self->end_calls(
        [](const Call& call) { return call.request().stream() && call.destination().is_controller(); });
    for (const auto& bound : self->topics_) {
      if (const auto servant = bound.lock()) servant->stop();
    }
  });
}

void Connection::close() {
  if (closed_.exchange(true)) return;
  end_calls([](const Call&) { return true; });
  for (const auto& destination : std::exchange(needed_, {})) destination->stop();
  servers_->close("the relay's client has gone");
}

void Connection::end_calls(bool (*which)(const Call& call)) {
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::scoped_lock lock(mutex_);
    calls_.for_each([&](std::uint32_t /*id*/, std::shared_ptr<Call>& call) {
      if (which(*call)) calls.push_back(call);
    });
  }
  for (const auto& call : calls) {
    if (!call->sent()) call->destination().drop(*call);
    call->fail(make_failure(Code::shutting_down, call->sent() ? Execution::unknown : Execution::not_executed,
                            std::string(kStopping)));
  }
}

}  // namespace mf::relay
