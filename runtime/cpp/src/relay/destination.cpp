#include "relay/destination.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <utility>

#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "relay/connection.hpp"

namespace mf::relay {
namespace {

// How long a client waits for instances in total, and how long for a service without offers: the controller's
// news may be on its way to the relay.
constexpr auto kLongest = std::chrono::milliseconds(1'500);
constexpr auto kGrace = std::chrono::milliseconds(250);
// After this number of attempts the intervals grow.
constexpr int kQuickLooks = 5;
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
      usual_(std::make_unique<link::Usual[]>(methods_.size())),
      backoff_(client::random_number()) {}

std::vector<Instance> Destination::candidates() const {
  auto instances = instances_of(connection_->shared(), name_, agent_);
  static constexpr decltype(Instance::fingerprint) kUnknown{};
  const auto fits = [this](const Instance& instance) {
    return instance.fingerprint == kUnknown || std::ranges::equal(instance.fingerprint, service_.fingerprint);
  };
  if (std::ranges::any_of(instances, fits)) std::erase_if(instances, std::not_fn(fits));
  // Another relay is an instance for each of its schemas.
  std::ranges::sort(instances, {}, &Instance::address);
  const auto rest = std::ranges::unique(instances, {}, &Instance::address);
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
  search();
}

void Destination::answer(Code code, std::string_view why) {
  if (!answer_) return;
  bound_ = code == Code::ok;
  connection_->release_bind(bind_bytes_);
  std::exchange(answer_, nullptr)(this, code, why);
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
      if (!call) connection_->answer(request, {});
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
  if (std::erase_if(paths_, [](const Path& path) { return !path.link->usable(); }) != 0) missing_ = true;
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
        std::array<const client::Candidate*, client::kMostRoutes> candidates{};
        const auto count = std::min(paths_.size(), candidates.size());
        for (std::size_t i = 0; i < count; ++i) candidates.at(i) = &paths_[i];
        taken = client::choose(std::span(candidates).first(count), now, connection_->reactor(), some_refuse_);
      }
    }
    auto& path = paths_[taken];
    if (path.binding->pin()) return {path.link, path.binding.get(), several};
    paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(taken));  // the binding was taken back
    missing_ = true;
  }
  if (!searching_) search();
  return {};
}

// The resolver's data may have changed, or a server may have returned.
void Destination::refresh(TimePoint now) {
  auto& shared = connection_->shared();
  version_ = shared.resolver->version();
  auto instances = candidates();
  std::erase_if(paths_, [&](const Path& path) {
    return std::ranges::find(instances, path.address, &Instance::address) == instances.end();
  });
  std::erase_if(instances, [&](const Instance& instance) {
    return std::ranges::find(paths_, instance.address, &Path::address) != paths_.end();
  });
  missing_ = !instances.empty() && paths_.size() < client::kMostRoutes;
  try_again_ = now + kTryMissingEvery;
  if (missing_ && !paths_.empty() && !searching_) {
    searching_ = true;
    searched_since_ = now;
    failure_.code = Code::ok;
    attempt(std::move(instances));
  }
}

void Destination::stay_while_some_wait() {
  const auto before = std::exchange(stays_, waiting_.empty() ? nullptr : shared_from_this());
}

void Destination::wait(Waiting&& waiting) {
  const auto deadline = waiting.request.deadline;
  waiting_.push_back(std::move(waiting));
  stay_while_some_wait();
  if (deadline != kNever) watch_deadline(deadline);
  if (paths_.empty() && !searching_) search();
}

void Destination::drop(const Call& call) {
  const auto found =
      std::ranges::find_if(waiting_, [&](const Waiting& waiting) { return waiting.call.get() == &call; });
  if (found != waiting_.end()) waiting_.erase(found);
  stay_while_some_wait();
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
  if (connection_->closed()) waiting_.clear();  // no client is left
  stay_while_some_wait();
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
  for (auto& waiting : late) {
    auto why = not_executed(Code::deadline_exceeded,
                            "the deadline passed while the call waited for an instance of " + what() +
                                (failure_.message.empty() ? "" : ": " + failure_.message));
    if (waiting.call) {
      waiting.call->fail(std::move(why));
    } else {
      connection_->answer(waiting.request, why);
    }
  }
  stay_while_some_wait();
}

void Destination::learn(link::ClientLink& link, std::uint16_t method, std::uint32_t items,
                        const link::Reply& reply, TimePoint sent) {
  client::learn(link, usual_[method], items, reply, sent);
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
  searching_ = true;
  searched_since_ = mf::now();
  failure_ = {};
  failure_.code = Code::ok;
  backoff_.reset();
  looks_ = 0;
  look();
}

void Destination::look() {
  if (connection_->closed())
    return give_up(not_executed(Code::shutting_down, "it is stopping; use another instance"));
  auto& shared = connection_->shared();
  version_ = shared.resolver->version();
  auto instances = candidates();
  std::ranges::shuffle(instances, std::minstd_rand(client::random_number()));
  if (!instances.empty()) return attempt(std::move(instances));
  const auto offers = shared.resolver->offers(name_);
  const auto waited = mf::now() - searched_since_;
  if (waited < (offers->answered ? std::chrono::milliseconds(kGrace) : std::chrono::milliseconds(kLongest)))
    return look_later();
  give_up(not_executed(Code::unavailable,
                       (offers->answered ? "no server offers " + what() : "nothing is known of " + what()) +
                           (offers->note.empty() ? "" : " (" + offers->note + ")")));
}

void Destination::look_later() {
  const auto pause = ++looks_ <= kQuickLooks ? kLookEvery : backoff_.next();
  connection_->at(mf::now() + pause, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
}

void Destination::attempt(std::vector<Instance> instances) {
  const auto room = client::kMostRoutes - paths_.size();
  if (instances.size() > room) instances.resize(room);
  attempts_ = instances.size();
  const auto until = mf::now() + connection_->shared().options.connect_timeout;
  for (const auto& instance : instances) {
    connection_->servers().open(instance, until,
                                [self = shared_from_this(), address = instance.address, until](auto&& link) {
                                  self->opened(address, until, std::move(link));
                                });
  }
}

void Destination::opened(const Address& address, TimePoint until,
                         Outcome<std::shared_ptr<link::ClientLink>>&& opened) {
  if (!opened) return attempted({.address = address, .link = {}, .binding = {}, .failure = opened.failure()});
  const auto& link = opened.value();
  connection_->add(link);
  link->bind_later(service_, agent_, until, via_, [self = shared_from_this(), address, link](auto&& binding) {
    Attempted result{.address = address, .link = link, .binding = {}, .failure = {}};
    if (binding) {
      result.binding = std::move(binding).value();
      result.binding->unpin();
    } else {
      result.failure = self->connection_->shared().told(binding.failure(), address.str());
    }
    self->attempted(std::move(result));
  });
}

void Destination::attempted(Attempted&& result) {
  --attempts_;
  if (result.binding) {
    Path path;
    path.link = std::move(result.link);
    path.address = std::move(result.address);
    path.binding = std::move(result.binding);
    std::erase_if(paths_, [&](const Path& known) { return known.link == path.link; });
    paths_.push_back(std::move(path));
    answer(Code::ok, {});
    go_on();
  } else {
    if (result.failure.code == Code::schema_mismatch && result.link) connection_->refused(name_, result.link);
    // A server's own failure is more specific than that another one could not be reached.
    if (failure_.code == Code::ok || may_pass(failure_.code)) failure_ = std::move(result.failure);
  }
  if (attempts_ != 0) return;
  if (!paths_.empty()) {
    searching_ = false;
    return;
  }
  const auto now = mf::now();
  if (failure_.code == Code::ok || may_pass(failure_.code)) {
    if (now - searched_since_ < kLongest && !connection_->closed()) return look_later();
    if (failure_.code != Code::shutting_down) failure_.code = Code::unavailable;
  }
  failure_.execution = Execution::not_executed;
  give_up(failure_);
}

void Destination::refuse(const Failure& why) {
  give_up(why);
}

void Destination::give_up(Failure why) {
  searching_ = false;
  answer(why.code, connection_->words(why.message));
  // The last server of the client's schema has gone. Only a BIND tells the client of the others' schema, so
  // that it adapts: it connects once more, and repeats what has waited here.
  if (bound_ && why.code == Code::schema_mismatch) {
    why = not_executed(Code::shutting_down,
                       "the servers of " + what() + " have another schema now; connect again");
    connection_->renew(why.message);
  }
  for (auto& waiting : std::exchange(waiting_, {})) {
    if (waiting.call) {
      waiting.call->fail(why);
    } else {
      connection_->answer(waiting.request, why);
    }
  }
  stay_while_some_wait();
}

}  // namespace mf::relay
