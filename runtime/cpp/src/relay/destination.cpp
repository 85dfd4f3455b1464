#include "relay/destination.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <tuple>
#include <utility>

#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "relay/connection.hpp"

namespace mf::relay {
namespace {

// How long a client waits for instances in total, and how long for a service without offers: the controller's
// news may be on its way to the relay.
constexpr route::Rules kRules{.most_attempts = route::kMostRoutes,
                              .moment = std::chrono::milliseconds(0),
                              .for_answer = std::chrono::milliseconds(1'500),
                              .for_endpoint = std::chrono::milliseconds(250),
                              .for_recovery = std::chrono::milliseconds(1'500),
                              .adapts = false};
// How often instances that could not be reached are tried again while others serve the calls.
constexpr auto kTryMissingEvery = std::chrono::milliseconds(200);
// How long other instances are preferred after one was overloaded.
constexpr auto kCalm = std::chrono::milliseconds(50);

std::vector<std::string> owned(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

bool passes_of_controller(std::string_view method) noexcept {
  static constexpr std::array<std::string_view, 4> kPassed{"client_id", "find", "status", "watch"};
  return std::ranges::find(kPassed, method) != kPassed.end();
}

std::vector<Instance> instances_of(Shared& shared, std::string_view service, std::string_view agent) {
  if (service == kController) return shared.controllers;
  const auto offers = shared.resolver->offers(service);
  auto instances = offers->any_agent;
  for (const auto& [name, of_agent] : offers->agents) {
    if (agent.empty() || name == agent) instances.insert(instances.end(), of_agent.begin(), of_agent.end());
  }
  return instances;
}

Destination::Destination(std::shared_ptr<Connection> connection, const protocol::Bind& bind,
                         server::Forwarding::Answer answer, std::size_t bind_bytes,
                         std::shared_ptr<Services::Use> service)
    : connection_(std::move(connection)),
      name_(bind.service),
      agent_(bind.agent),
      methods_(owned(bind.methods)),
      method_names_(methods_.begin(), methods_.end()),
      service_{.name = name_, .fingerprint = bind.fingerprint, .methods = method_names_},
      via_([&] {
        std::vector<std::byte> via(bind.via.begin(), bind.via.end());
        const auto& own = connection_->shared().nonce;
        via.insert(via.end(), own.begin(), own.end());
        return via;
      }()),
      answer_(std::move(answer)),
      bind_bytes_(bind_bytes),
      use_(std::move(service)),
      usual_(std::make_unique<link::Usual[]>(methods_.size())) {}

std::vector<Instance> Destination::candidates() const {
  auto instances = instances_of(connection_->shared(), name_, agent_);
  static constexpr decltype(Instance::fingerprint) kUnknown{};
  const auto fits = [this](const Instance& instance) {
    return instance.fingerprint == kUnknown || std::ranges::equal(instance.fingerprint, service_.fingerprint);
  };
  if (std::ranges::any_of(instances, fits)) std::erase_if(instances, std::not_fn(fits));
  // Another relay is an instance for each of its schemas. Of two processes that have registered one address,
  // the certificate there says which one it is.
  const auto place = [](const Instance& instance) { return std::tie(instance.address, instance.identity); };
  std::ranges::sort(instances, {}, place);
  const auto rest = std::ranges::unique(instances, {}, place);
  instances.erase(rest.begin(), rest.end());
  return instances;
}

std::string Destination::what() const {
  return name_ + (agent_.empty() ? "" : " for agent \"" + agent_ + "\"");
}

bool Destination::passes(std::uint16_t method) const noexcept {
  return !is_controller() || connection_->shared().options.registers ||
         passes_of_controller(methods_[method]);
}

void Destination::begin() {
  auto& shared = connection_->shared();
  seeker_ =
      std::make_shared<route::Seeker>(route::Sought{.service = service_,
                                                    .agent = agent_,
                                                    .what = what(),
                                                    .via = via_,
                                                    .rules = kRules,
                                                    .connect_timeout = shared.options.connect_timeout},
                                      is_controller() ? nullptr : shared.resolver, connection_->servers(),
                                      connection_->reactor(), weak_from_this(), route::random_number());
  stay_while_needed();
  search();
}

void Destination::answer(Code code, std::string_view why) {
  if (!answer_) return;
  bound_ = code == Code::ok;
  connection_->release_bind(bind_bytes_);
  std::exchange(answer_, nullptr)(this, code, why);
  stay_while_needed();
}

// ---- requests

void Destination::take(const Request& request, const protocol::Event& event, TimePoint now) {
  std::shared_ptr<Call> call;
  if (!request.oneway()) {
    call = std::make_shared<Call>(connection_, shared_from_this(), request);
    if (!connection_->remember(call)) {
      return connection_->answer(
          request, not_executed(Code::protocol_error, "the id of a call that is in flight was used again"));
    }
  }
  const auto payload = event.body();
  auto coming = event.coming != nullptr ? event.coming->shared_from_this() : nullptr;
  if (waiting_.empty() && send(request, call, {payload, event.owner, coming}, now)) return;
  wait({.request = request,
        .call = std::move(call),
        .payload = event.keep(payload),
        .coming = std::move(coming)});
}

bool Destination::send(const Request& request, const std::shared_ptr<Call>& call, const Body& body,
                       TimePoint now) {
  const auto& [payload, owner, coming] = body;
  for (;;) {
    auto route = pick(now);
    if (!route) return false;
    const auto link = route.link;
    if (request.oneway()) {
      const auto again = [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->go_on();
      };
      if (!link->has_room_or(again)) return false;
    }
    Gathered shared;
    if (!owner.empty() && payload.size() >= Gathered::kFrom)
      shared.pieces.push_back({.at = 0, .bytes = owner.cut(payload)});
    const auto sent = coming                  ? link::Payload(*coming)
                      : shared.pieces.empty() ? link::Payload(payload)
                                              : link::Payload(std::as_const(shared));
    std::optional<Failure> refused;
    if (request.oneway()) {
      ++oneways_;
      oneways_to_ = link;
      refused = link->forward_oneway({.route = route.of(request.method),
                                      .tier = static_cast<Tier>(request.encoding),
                                      .flags = request.flags,
                                      .count = request.head.count},
                                     sent, request.deadline);
    } else {
      refused = call->send(std::move(route), sent, oneways_, coming);
    }
    if (!refused) {
      if (!call) connection_->sent(request, link->peer());
      return true;
    }
    if (!link->usable()) continue;
    if (call) {
      call->fail(std::move(*refused));
    } else {
      connection_->answer(request, *refused);
    }
    return true;
  }
}

client::Route Destination::pick(TimePoint now) {
  drop_unusable();
  if (version_ != connection_->shared().resolver->version() || (missing_ && now >= try_again_)) refresh(now);
  const bool in_order = oneways_ != settled_.load(std::memory_order_acquire);
  const auto before = in_order ? oneways_to_.lock() : nullptr;
  while (!paths_.empty()) {
    const bool several = paths_.size() > 1;
    std::size_t taken = 0;
    if (several) {
      const auto known = std::ranges::find(paths_, before, &Path::link);
      if (before && known != paths_.end()) {
        taken = static_cast<std::size_t>(known - paths_.begin());
      } else {
        std::array<const route::Candidate*, route::kMostRoutes> candidates{};
        const auto count = std::min(paths_.size(), candidates.size());
        for (std::size_t i = 0; i < count; ++i) candidates.at(i) = &paths_[i];
        taken = route::choose(std::span(candidates).first(count), now, *connection_->reactor(), some_refuse_);
      }
    }
    auto& path = paths_[taken];
    if (path.binding->pin()) return {path.link, path.binding.get(), several};
    const auto taken_back = std::move(path);
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(taken));
    report_unusable(taken_back);
  }
  if (!searching_) search();
  return {};
}

// The resolver's data may have changed, or a server may have returned.
void Destination::refresh(TimePoint now) {
  if (!seeker_) return;
  if (std::exchange(version_, connection_->shared().resolver->version()) != version_) seeker_->on_news();
  if (!missing_ || now < try_again_) return;
  try_again_ = now + kTryMissingEvery;
  seeker_->want();
}

void Destination::drop_unusable() {
  if (std::ranges::all_of(paths_, [](const Path& path) { return path.link->usable(); })) [[likely]]
    return;
  std::vector<Path> unusable;
  for (auto& path : std::exchange(paths_, {}))
    (path.link->usable() ? paths_ : unusable).push_back(std::move(path));
  for (const auto& path : unusable) report_unusable(path);
}

// To be called when it is no longer among the paths, since the seeker removes it there.
void Destination::report_unusable(const Path& path) {
  missing_ = true;
  if (path.link->broken()) {
    seeker_->on_lost(path.id);
  } else {
    seeker_->on_goaway(path.id);
  }
}

void Destination::stay_while_needed() {
  connection_->keep(shared_from_this(), !waiting_.empty() || (answer_ && seeker_));
}

void Destination::stop() {
  if (seeker_) seeker_->stop(not_executed(Code::shutting_down, std::string(kStopping)));
  fail_waiting(not_executed(Code::shutting_down, std::string(kStopping)));  // where it waits for room
}

void Destination::fail(const Waiting& waiting, const Failure& why) {
  if (waiting.call) {
    waiting.call->fail(why);
  } else {
    connection_->answer(waiting.request, why);
  }
}

void Destination::fail_waiting(const Failure& why) {
  for (const auto& waiting : std::exchange(waiting_, {})) fail(waiting, why);
}

void Destination::wait(Waiting&& waiting) {
  const auto deadline = waiting.request.deadline;
  waiting_.push_back(std::move(waiting));
  stay_while_needed();
  if (deadline != kNever) watch_deadline(deadline);
  if (paths_.empty() && !searching_) search();
}

void Destination::drop(const Call& call) {
  const auto found =
      std::ranges::find_if(waiting_, [&](const Waiting& waiting) { return waiting.call.get() == &call; });
  if (found != waiting_.end()) waiting_.erase(found);
  stay_while_needed();
}

void Destination::go_on() {
  if (std::exchange(going_on_, true)) return;
  const auto now = mf::now();
  while (!waiting_.empty() && !connection_->closed()) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    if (send(next.request, next.call, {next.payload.span(), next.payload, next.coming}, now)) continue;
    waiting_.push_front(std::move(next));
    break;
  }
  going_on_ = false;
  if (connection_->closed()) fail_waiting(not_executed(Code::shutting_down, std::string(kStopping)));
  stay_while_needed();
}

void Destination::watch_deadline(TimePoint deadline) {
  if (deadline >= timer_at_) return;
  timer_at_ = deadline;
  connection_->at(deadline, [weak = weak_from_this(), deadline] {
    const auto self = weak.lock();
    if (!self || self->timer_at_ != deadline) return;
    self->timer_at_ = kNever;
    self->expire();
  });
}

void Destination::expire() {
  const auto now = mf::now();
  std::list<Waiting> late;
  auto next = kNever;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto waiting = at++;
    if (waiting->request.deadline <= now) {
      late.splice(late.end(), waiting_, waiting);
    } else {
      next = std::min(next, waiting->request.deadline);
    }
  }
  if (next != kNever) watch_deadline(next);
  for (const auto& waiting : late) {
    fail(waiting, not_executed(Code::deadline_exceeded,
                               "the deadline passed while the call waited for an instance of " + what() +
                                   (unreached_.empty() ? "" : ": " + unreached_)));
  }
  stay_while_needed();
}

void Destination::learn(link::ClientLink& link, std::uint16_t method, std::uint32_t items,
                        const link::Reply& reply, TimePoint sent) {
  route::learn(link, usual_[method], items, reply, sent);
  if (reply.how != link::Ended::replied || reply.status != Code::overloaded) return;
  connection_->post([weak = weak_from_this(), refuses = &link] {
    const auto self = weak.lock();
    if (!self) return;
    for (auto& path : self->paths_) {
      if (path.link.get() != refuses) continue;
      path.refuses_until = mf::now() + kCalm;
      self->some_refuse_ = true;
    }
  });
}

void Destination::settled(std::uint64_t oneways) noexcept {
  auto known = settled_.load(std::memory_order_relaxed);
  while (known < oneways && !settled_.compare_exchange_weak(known, oneways, std::memory_order_acq_rel)) {
  }
}

// ---- looking for instances

void Destination::search() {
  if (!seeker_) return;
  searching_ = true;
  unreached_.clear();
  if (connection_->closed()) return give_up(not_executed(Code::shutting_down, std::string(kStopping)));
  version_ = connection_->shared().resolver->version();
  seeker_->wait(++searches_, std::nullopt, kNever);
}

route::Offered Destination::offered() {
  auto& shared = connection_->shared();
  route::Offered offered{.answered = true, .refused = Code::ok, .words = {}, .instances = candidates()};
  std::ranges::shuffle(offered.instances, std::minstd_rand(route::random_number()));
  if (is_controller()) return offered;
  const auto offers = shared.resolver->offers(name_);
  offered.answered = offers->answered;
  offered.words = (offers->answered ? "no server offers " + what() : "nothing is known of " + what()) +
                  (offers->note.empty() ? "" : " (" + offers->note + ")");
  return offered;
}

void Destination::on_connected(const std::shared_ptr<link::ClientLink>& link) {
  connection_->add(link);
}

Failure Destination::on_refused(const Instance& instance, const std::shared_ptr<link::ClientLink>& link,
                                Failure why) {
  why = connection_->shared().failure_for_clients(std::move(why), instance.address.str());
  if (why.code == Code::schema_mismatch) connection_->refused(name_, link);
  unreached_ = why.message;
  return why;
}

void Destination::on_route(route::Found&& route) {
  Path path;
  path.id = route.id;
  path.link = std::move(route.link);
  path.binding = std::move(route.binding);
  paths_.push_back(std::move(path));
  answer(Code::ok, {});
}

void Destination::on_remove(route::Attempt route) {
  std::erase_if(paths_, [&](const Path& path) { return path.id == route; });
}

void Destination::on_found(route::WaiterId /*waiter*/) {
  searching_ = false;
  go_on();
}

void Destination::on_failed(route::WaiterId /*waiter*/, const std::shared_ptr<const Failure>& why,
                            route::Command::Refused /*refused*/) {
  auto failure = *why;
  if (may_pass(failure.code) && failure.code != Code::shutting_down) failure.code = Code::unavailable;
  give_up(std::move(failure));
}

void Destination::on_unreached(const Address& /*address*/, const Failure& why) {
  unreached_ = why.message;
}

void Destination::refuse(const Failure& why) {
  give_up(why);
}

// A refusal as PROTOCOL_ERROR would end the connection of the client, which has done nothing wrong.
void Destination::give_up(Failure why) {
  searching_ = false;
  if (why.code == Code::protocol_error) why.code = Code::unavailable;
  answer(why.code, connection_->words(why.message));
  // The last server of the client's schema has gone. Only a BIND tells the client of the others' schema, so
  // that it adapts: it connects once more, and repeats what has waited here.
  if (bound_ && why.code == Code::schema_mismatch) {
    why = not_executed(Code::shutting_down,
                       "the servers of " + what() + " have another schema now; connect again");
    connection_->renew(why.message);
  }
  fail_waiting(why);
  stay_while_needed();
}

}  // namespace mf::relay
