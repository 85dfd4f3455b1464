#include "mf/route/seeker.hpp"

#include <algorithm>
#include <utility>

#include "mf/core/failure.hpp"

namespace mf::route {
namespace {

using link::ClientLink;

/// The methods that the adaptation allows; null: all of them.
Allowed allowed_by(const link::Adaptation* adaptation) {
  if (adaptation == nullptr) return nullptr;
  const auto& methods = adaptation->plan().methods;
  std::vector<bool> allowed(methods.size());
  for (std::uint16_t i = 0; i < methods.size(); ++i) allowed[i] = adaptation->allows(i);
  return std::make_shared<const std::vector<bool>>(std::move(allowed));
}

}  // namespace

Seeker::Seeker(Sought sought, std::shared_ptr<Resolver> resolver, std::shared_ptr<Pool> pool,
               std::shared_ptr<transport::Reactor> loop, std::weak_ptr<SeekerUser> user, std::uint64_t seed)
    : sought_(std::move(sought)),
      resolver_(std::move(resolver)),
      pool_(std::move(pool)),
      loop_(std::move(loop)),
      user_(std::move(user)),
      finder_(sought_.rules, sought_.what, resolver_ && resolver_->of_relays(), seed) {}

Seeker::~Seeker() {
  stop_listening();
  if (timer_ != 0) loop_->cancel(timer_);
}

// ---- events

template <class Do>
void Seeker::report(Do&& act) {
  act(finder_);
  run();
}

void Seeker::wait(WaiterId id, std::optional<std::uint16_t> method, TimePoint deadline) {
  const auto user = user_.lock();
  report([&](Finder& finder) {
    // A call whose deadline has passed already names what it would have tried.
    if (user && finder.source() == Source::unknown) finder.on_offers(user->offered(), mf::now());
    finder.wait(id, method, deadline, mf::now());
  });
}

void Seeker::leave(WaiterId id) {
  report([&](Finder& finder) { finder.leave(id, mf::now()); });
}

void Seeker::want() {
  report([](Finder& finder) { finder.want(mf::now()); });
}

void Seeker::stop(Failure why) {
  report([&](Finder& finder) { finder.stop(std::move(why)); });
}

void Seeker::on_lost(Attempt route) {
  report([&](Finder& finder) { finder.on_lost(route, mf::now()); });
}

void Seeker::on_goaway(Attempt route) {
  report([&](Finder& finder) { finder.on_goaway(route, mf::now()); });
}

void Seeker::on_news() {
  const auto user = user_.lock();
  if (!user) return;
  auto offered = user->offered();
  report([&](Finder& finder) { finder.on_offers(std::move(offered), mf::now()); });
}

// ---- commands

// Results that are reported while commands are executed follow them.
void Seeker::run() {
  std::ranges::move(finder_.take(), std::back_inserter(commands_));
  if (std::exchange(running_, true)) return;
  const auto self = shared_from_this();  // the user may drop it
  while (!commands_.empty()) {
    auto command = std::move(commands_.front());
    commands_.pop_front();
    try {
      execute(command);
    } catch (const std::exception&) {
      loop_->log_exception("the search for a server");
      fail_after_exception(command);
    }
    std::ranges::move(finder_.take(), std::back_inserter(commands_));
  }
  running_ = false;
  set_timer();
  if (const auto user = user_.lock()) user->on_settled(finder_.missing());
}

void Seeker::execute(Command& command) {
  const auto user = user_.lock();
  if (!user) return;
  using Kind = Command::Kind;
  switch (command.kind) {
    case Kind::look_up:
      listen();
      return finder_.on_offers(user->offered(), mf::now());
    case Kind::leave:
      return stop_listening();
    case Kind::connect:
      return connect(command);
    case Kind::bind:
      return bind(command.attempt, sought_.service, nullptr);
    case Kind::bind_adapted: {
      const auto adaptation = tryings_.at(command.attempt).adaptation;
      return bind(command.attempt, adaptation->service(), adaptation);
    }
    case Kind::describe:
      return describe(command.attempt);
    case Kind::ready: {
      auto node = tryings_.extract(command.attempt);
      auto& made = node.mapped();
      return user->on_route({.id = command.attempt,
                             .instance = std::move(command.instance),
                             .link = std::move(made.link),
                             .binding = std::move(made.binding)});
    }
    case Kind::remove:
      return user->on_remove(command.attempt);
    case Kind::abandon:
      tryings_.erase(command.attempt);
      return;
    case Kind::found:
      return user->on_found(command.waiter);
    case Kind::failed:
      return user->on_failed(command.waiter, command.failure, command.refused);
    case Kind::unreached:
      return user->on_unreached(command.instance.address, *command.failure);
  }
}

// Mostly because there is no memory. The attempt or route ends, so that no call waits for it.
void Seeker::fail_after_exception(const Command& command) {
  const auto now = mf::now();
  auto why = not_executed(Code::internal, "a server could not be searched: there is no memory");
  switch (command.kind) {
    case Command::Kind::connect:
      finder_.on_unconnected(command.attempt, std::move(why), now, now);
      break;
    case Command::Kind::bind:
    case Command::Kind::bind_adapted:
      finder_.on_bind_failed(command.attempt, std::move(why), now);
      break;
    case Command::Kind::describe:
      finder_.on_described(command.attempt, {Description::Kind::failed, std::move(why)}, now);
      break;
    case Command::Kind::ready:
      finder_.on_lost(command.attempt, now);
      break;
    default:
      return;
  }
  forget(command.attempt);
}

void Seeker::connect(const Command& command) {
  const auto& instance = command.instance;
  if (command.announced) {
    pool_->reset_rest(instance.address);
    if (!instance.local.scheme.empty()) pool_->reset_rest(instance.local);
  }
  tryings_[command.attempt] = {.instance = instance, .until = mf::now() + sought_.connect_timeout};
  pool_->open(instance, [weak = weak_from_this(), attempt = command.attempt](Pool::Opened&& opened) {
    if (const auto self = weak.lock()) self->opened(attempt, std::move(opened));
  });
}

void Seeker::opened(Attempt attempt, Pool::Opened&& opened) {
  auto* const of = trying(attempt);
  if (of == nullptr) return;
  const auto now = mf::now();
  if (opened.link) {
    of->link = std::move(opened.link);
    if (const auto user = user_.lock()) user->on_connected(of->link);
    finder_.on_connected(attempt, is_foreign(of->instance), now);
  } else {
    finder_.on_unconnected(attempt, std::move(opened.why), opened.again_at, now);
    forget(attempt);
  }
  run();
}

void Seeker::bind(Attempt attempt, const ServiceInfo& service,
                  const std::shared_ptr<const link::Adaptation>& adaptation) {
  auto& of = tryings_.at(attempt);
  of.refused = service.fingerprint;  // if it is
  of.link->bind(
      service, sought_.agent, of.until, sought_.via,
      [weak = weak_from_this(), attempt](Outcome<std::shared_ptr<link::Binding>>&& binding) {
        if (const auto self = weak.lock()) return self->bound(attempt, std::move(binding));
        if (binding) binding.value()->unpin();
      },
      adaptation);
}

void Seeker::bound(Attempt attempt, Outcome<std::shared_ptr<link::Binding>>&& binding) {
  if (binding) binding.value()->unpin();
  auto* const of = trying(attempt);
  if (of == nullptr) return;
  const auto now = mf::now();
  auto why = binding ? std::optional<Failure>() : binding.failure();
  if (!why) {
    of->binding = std::move(binding).value();
    if (sought_.rules.single && is_provisional(*of))
      why = not_executed(Code::unavailable, of->link->peer() + " has no publisher of " +
                                                std::string(sought_.service.name) +
                                                " with the schema that was announced");
  }
  if (!why) {
    finder_.on_bound(attempt, allowed_by(of->binding->adaptation()), is_provisional(*of), now);
    return run();
  }
  if (of->refused == sought_.service.fingerprint) of->refusal = *why;
  const auto user = user_.lock();
  if (!user) return;
  finder_.on_bind_failed(attempt, user->on_refused(of->instance, of->link, std::move(*why)), now);
  forget(attempt);
  run();
}

void Seeker::describe(Attempt attempt) {
  auto& of = tryings_.at(attempt);
  // Behind a relay there may be several schemas.
  const auto asked = of.refused == Fingerprint{} ? of.instance.fingerprint : Fingerprint{};
  of.link->describe(sought_.service.name, asked, of.until,
                    [weak = weak_from_this(), attempt](std::optional<ClientLink::Described>&& said) {
                      if (const auto self = weak.lock()) self->described(attempt, std::move(said));
                    });
}

void Seeker::described(Attempt attempt, std::optional<ClientLink::Described>&& said) {
  auto* const of = trying(attempt);
  if (of == nullptr) return;
  auto description = interpret(*of, said);
  if (description.kind == Description::Kind::failed) {
    const auto user = user_.lock();
    if (!user) return;
    description.failure = user->on_refused(of->instance, of->link, std::move(description.failure));
  }
  finder_.on_described(attempt, std::move(description), mf::now());
  forget(attempt);
  run();
}

Description Seeker::interpret(Trying& of, const std::optional<ClientLink::Described>& said) const {
  using Kind = Description::Kind;
  const auto& service = sought_.service;
  if (!said) {
    if (of.link->broken()) return {Kind::bind_own, {}};  // which fails with the reason
    return {Kind::failed,
            not_executed(Code::deadline_exceeded, of.link->peer() + " has another schema of " +
                                                      std::string(service.name) +
                                                      ", and did not say in time what that schema is")};
  }
  if (said->text.empty()) {  // the server does not know the service
    if (of.refusal) return {Kind::failed, *of.refusal};
    return {Kind::bind_own, {}};
  }
  auto adapted = link::adapt_to(service, *said, of.link->peer(), of.refused);
  if (adapted.failure) return {Kind::failed, *std::move(adapted.failure)};
  of.adaptation = std::move(adapted.adaptation);
  return {of.adaptation ? Kind::bind_adapted : Kind::bind_own, {}};
}

bool Seeker::is_foreign(const Instance& instance) const {
  return instance.fingerprint != Fingerprint{} && instance.fingerprint != sought_.service.fingerprint &&
         !sought_.service.descriptor.empty();
}

// A relay may not know the announced schema yet, and then binds another one.
bool Seeker::is_provisional(const Trying& of) const {
  const auto* const adaptation = of.binding->adaptation();
  const auto& bound = adaptation == nullptr ? sought_.service.fingerprint : adaptation->service().fingerprint;
  return resolver_ && resolver_->of_relays() && of.instance.fingerprint != Fingerprint{} &&
         of.instance.fingerprint != bound;
}

Seeker::Trying* Seeker::trying(Attempt attempt) {
  const auto found = tryings_.find(attempt);
  return found == tryings_.end() ? nullptr : &found->second;
}

void Seeker::forget(Attempt attempt) {
  if (!finder_.awaits(attempt)) tryings_.erase(attempt);
}

// ---- the resolver and the timer

void Seeker::listen() {
  if (!resolver_ || listener_ != 0) return;
  listener_ = resolver_->add_listener([weak = weak_from_this(), loop = loop_] {
    loop->post([weak] {
      if (const auto self = weak.lock()) self->on_news();
    });
  });
}

void Seeker::stop_listening() noexcept {
  if (const auto listener = std::exchange(listener_, 0); listener != 0) resolver_->remove_listener(listener);
}

void Seeker::set_timer() {
  const auto at = finder_.timer();
  if (at == timer_at_) return;
  if (timer_ != 0) loop_->cancel(std::exchange(timer_, 0));
  timer_at_ = at;
  if (at == kNever) return;
  timer_ = loop_->at(at, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->timer_at_ = kNever;
    self->timer_ = 0;
    self->report([](Finder& finder) { finder.on_time(mf::now()); });
  });
}

}  // namespace mf::route
