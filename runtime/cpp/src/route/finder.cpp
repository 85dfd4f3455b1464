#include "mf/route/finder.hpp"

#include <algorithm>
#include <stdexcept>

#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"

namespace mf::route {
namespace {

using namespace std::chrono_literals;

// So many attempts run at the same time are doubled after this time without a route.
constexpr auto kWidenAfter = 100ms;
// Waiters of an attempt that takes longer are worth a line in the log.
constexpr auto kSlow = 500ms;
// How often a provisional route is bound again.
constexpr auto kBindAgain = 200ms;
// In how many schemas of one service a binding is requested, beside the client's own: several servers may be
// behind a relay.
constexpr int kMostDescriptions = 2;

using mf::detail::shared;

}  // namespace

Failure refusal_of_all(const std::string& what, Failure of_one) {
  return preceded_by("all servers of " + what + " have another schema: ", std::move(of_one));
}

Finder::Finder(Rules rules, std::string what, bool by_schema, std::uint64_t seed)
    : rules_(rules), what_(std::move(what)), by_schema_(by_schema), seed_(seed | 1U), width_(first_width()) {}

// ---- events

void Finder::wait(WaiterId id, std::optional<std::uint16_t> method, TimePoint deadline, TimePoint now) {
  const auto at = waiters_.insert_or_assign(id, Waiter{method, now, deadline}).first;
  if (stopped_) return fail(at, shared(*stopped_));
  if (deadline != kNever) deadlines_.emplace(deadline, id);
  const auto cell = next(source_, SourceEvent::asked);
  source_ = cell.next;
  if (cell.step == SourceStep::look_up) commands_.push_back({.kind = Command::Kind::look_up});
  proceed(now);
}

void Finder::leave(WaiterId id, TimePoint now) {
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) return;
  deadlines_.erase({found->second.deadline, id});
  waiters_.erase(found);
  proceed(now);
}

void Finder::want(TimePoint now) {
  wanted_ = true;
  proceed(now);
  wanted_ = false;
}

void Finder::stop(Failure why) {
  stopped_ = std::move(why);
  const auto failure = shared(*stopped_);
  while (!waiters_.empty()) fail(waiters_.begin(), failure);
  for (const auto& endpoint : endpoints_) withdraw(endpoint);
  endpoints_.clear();
  const auto cell = next(source_, SourceEvent::idle);
  source_ = cell.next;
  if (cell.step == SourceStep::leave) commands_.push_back({.kind = Command::Kind::leave});
  timer_ = kNever;
}

void Finder::on_offers(Offered offered, TimePoint now) {
  if (stopped_) return;
  const auto event = !offered.instances.empty()    ? SourceEvent::offers
                     : offered.answered            ? SourceEvent::none
                     : offered.refused != Code::ok ? SourceEvent::refuses
                                                   : SourceEvent::silent;
  const auto cell = next(source_, event);
  if (event == SourceEvent::none && cell.next != source_) empty_since_ = now;
  source_ = cell.next;
  source_code_ = offered.refused;
  source_words_ = std::move(offered.words);
  // A source that cannot say anything now does not take back what it has said.
  if (offered.answered || !offered.instances.empty()) compare(std::move(offered.instances));
  proceed(now);
}

void Finder::on_connected(Attempt attempt, bool foreign, TimePoint now) {
  auto* const endpoint = of_attempt(attempt);
  if (endpoint == nullptr || endpoint->state != State::connecting) return;
  const auto step = fire(*endpoint, foreign && rules_.adapts ? Event::foreign : Event::connected);
  if (step == Step::describe) ++endpoint->descriptions;
  issue(step == Step::describe ? Command::Kind::describe : Command::Kind::bind, *endpoint);
  proceed(now);
}

void Finder::on_unconnected(Attempt attempt, std::optional<Failure> why, TimePoint again_at, TimePoint now) {
  auto* const endpoint = of_attempt(attempt);
  if (endpoint == nullptr || endpoint->state != State::connecting) return;
  if (why) {
    end_attempt(*endpoint, std::move(*why), again_at, now);
  } else {
    fire(*endpoint, endpoint->route != 0 ? Event::kept : Event::failed);
    endpoint->until = endpoint->bind_again_at = again_at;
    endpoint->failure.reset();
  }
  proceed(now);
}

void Finder::on_bound(Attempt attempt, Allowed allowed, bool provisional, TimePoint now) {
  auto* const endpoint = of_attempt(attempt);
  if (endpoint == nullptr || endpoint->state != State::binding) return;
  if (endpoint->route != 0) issue(Command::Kind::remove, *endpoint);
  if (routes() == 0) first_route_at_ = now;
  fire(*endpoint, Event::bound);
  endpoint->route = attempt;
  endpoint->allowed = std::move(allowed);
  endpoint->provisional = provisional;
  endpoint->bind_again_at = now + kBindAgain;
  endpoint->failure.reset();
  endpoint->backoff.reset();
  endpoint->was_bound = seen_ = true;
  issue(Command::Kind::ready, *endpoint);
  proceed(now);
}

void Finder::on_bind_failed(Attempt attempt, Failure why, TimePoint now) {
  auto* const endpoint = of_attempt(attempt);
  if (endpoint == nullptr || endpoint->state != State::binding) return;
  if (why.code == Code::schema_mismatch && rules_.adapts && !endpoint->is_final &&
      endpoint->descriptions < kMostDescriptions) {
    fire(*endpoint, Event::differs);
    ++endpoint->descriptions;
    issue(Command::Kind::describe, *endpoint);
  } else {
    end_attempt(*endpoint, std::move(why), now, now);
  }
  proceed(now);
}

void Finder::on_described(Attempt attempt, Description description, TimePoint now) {
  auto* const endpoint = of_attempt(attempt);
  if (endpoint == nullptr || endpoint->state != State::describing) return;
  if (description.kind == Description::Kind::failed) {
    end_attempt(*endpoint, std::move(description.failure), now, now);
  } else {
    fire(*endpoint, Event::described);
    endpoint->is_final = description.kind == Description::Kind::bind_own;
    issue(endpoint->is_final ? Command::Kind::bind : Command::Kind::bind_adapted, *endpoint);
  }
  proceed(now);
}

void Finder::on_lost(Attempt route, TimePoint now) {
  on_unusable(route, Event::lost, now);
}

void Finder::on_goaway(Attempt route, TimePoint now) {
  on_unusable(route, Event::goaway, now);
}

void Finder::on_time(TimePoint now) {
  proceed(now);
}

// ---- endpoints

Step Finder::fire(Endpoint& endpoint, Event event) {
  const auto cell = next(endpoint.state, event);
  if (cell.step == Step::wrong)
    throw std::logic_error("an endpoint in state " + std::to_string(static_cast<int>(endpoint.state)) +
                           " cannot see the event " + std::to_string(static_cast<int>(event)));
  endpoint.state = cell.next;
  return cell.step;
}

Finder::Endpoint* Finder::of_attempt(Attempt attempt) {
  const auto found = std::ranges::find(endpoints_, attempt, &Endpoint::attempt);
  return found == endpoints_.end() || !is_under_way(found->state) ? nullptr : &*found;
}

Finder::Endpoint* Finder::of_route(Attempt route) {
  const auto found = std::ranges::find(endpoints_, route, &Endpoint::route);
  return route == 0 || found == endpoints_.end() ? nullptr : &*found;
}

bool Finder::same_endpoint(const Instance& one, const Instance& other) const {
  return one.address == other.address && (!by_schema_ || one.fingerprint == other.fingerprint);
}

void Finder::compare(std::vector<Instance>&& instances) {
  std::vector<Endpoint> kept;
  std::vector<Endpoint> added;
  for (auto& instance : instances) {
    const auto same = [&](const Endpoint& endpoint) { return same_endpoint(endpoint.instance, instance); };
    if (std::ranges::any_of(kept, same) || std::ranges::any_of(added, same)) continue;
    const auto found = std::ranges::find_if(endpoints_, same);
    if (found == endpoints_.end()) {
      auto& endpoint = added.emplace_back();
      endpoint.instance = std::move(instance);
      endpoint.announced = compared_;
      seed_ = seed_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
      endpoint.backoff = link::Backoff(seed_ >> 16U);
      continue;
    }
    const bool other_process = found->instance.nonce != instance.nonce;
    found->instance = std::move(instance);
    if (other_process) {  // at the same address
      found->announced = true;
      fire(*found, Event::announced);
    }
    kept.push_back(std::move(*found));
    endpoints_.erase(found);
  }
  for (const auto& endpoint : endpoints_) withdraw(endpoint);
  std::ranges::move(added, std::back_inserter(kept));
  endpoints_ = std::move(kept);
  compared_ = true;
}

void Finder::withdraw(const Endpoint& endpoint) {
  if (is_under_way(endpoint.state)) issue(Command::Kind::abandon, endpoint);
  if (endpoint.route != 0) issue(Command::Kind::remove, endpoint);
}

void Finder::end_attempt(Endpoint& endpoint, Failure&& why, TimePoint again_at, TimePoint now) {
  // The connection ended while the route was made: no call was in flight on it.
  if (why.code == Code::connection_lost) why.code = Code::unavailable;
  why.execution = Execution::not_executed;
  const bool passes = may_pass(why.code);
  const bool connecting = endpoint.state == State::connecting;
  const auto pause = endpoint.backoff.next();
  endpoint.failure = shared(std::move(why));
  endpoint.failed_at = now;
  endpoint.until = again_at;
  // The pool has the pauses between connections; those between bindings are the endpoint's own.
  if (passes && !connecting) endpoint.until = now + pause;
  endpoint.refused_until = std::max(endpoint.until, now + pause);
  if (endpoint.route != 0) {
    endpoint.bind_again_at = std::max(endpoint.until, now + kBindAgain);
    fire(endpoint, Event::kept);
  } else {
    fire(endpoint, passes ? Event::failed : Event::refused);
    endpoint.unreached = passes;
  }
}

void Finder::on_unusable(Attempt route, Event event, TimePoint now) {
  auto* const endpoint = of_route(route);
  if (endpoint == nullptr) return;
  issue(Command::Kind::remove, *endpoint);
  endpoint->route = 0;
  endpoint->allowed.reset();
  endpoint->provisional = false;
  fire(*endpoint, event);
  proceed(now);
}

// ---- what follows

void Finder::proceed(TimePoint now) {
  if (stopped_) return;
  wake(now);
  decide(now);
  start(now);
  expire(now);
  note_unreached(now);
  if (waiters_.empty()) {
    const auto cell = next(source_, SourceEvent::idle);
    source_ = cell.next;
    if (cell.step == SourceStep::leave) commands_.push_back({.kind = Command::Kind::leave});
    width_ = first_width();
    widen_at_ = kNever;
  }
  set_timer(now);
}

/// Ends the rests that are over.
void Finder::wake(TimePoint now) {
  for (auto& endpoint : endpoints_) {
    if (endpoint.state == State::cooling && endpoint.until <= now) fire(endpoint, Event::rested);
    if (endpoint.state != State::refused || endpoint.until > now) continue;
    const bool asked = !waiters_.empty() && waiters_.rbegin()->second.since > endpoint.failed_at;
    if (asked || (wanted_ && now >= endpoint.refused_until)) fire(endpoint, Event::asked);
  }
}

Finder::Summary Finder::summarize(TimePoint now) const {
  Summary summary;
  for (const auto& endpoint : endpoints_) {
    if (is_under_way(endpoint.state)) ++summary.under_way;
    if (endpoint.route != 0) {
      ++summary.routes;
      continue;
    }
    const bool remembers = (endpoint.state == State::cooling && endpoint.failure) ||
                           (endpoint.state == State::refused && endpoint.until > now);
    if (!remembers) summary.all_ended_for = std::min(summary.all_ended_for, endpoint.failed_at);
  }
  return summary;
}

void Finder::decide(TimePoint now) {
  if (waiters_.empty()) return;
  const auto summary = summarize(now);
  if (summary.routes != 0) {
    if (summary.under_way == 0 || now >= first_route_at_ + rules_.moment) give_routes();
    if (waiters_.empty()) return;
  }
  if (endpoints_.empty()) return decide_without_endpoints(now);
  end_hopeless(summary, now);
}

void Finder::give_routes() {
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const auto waiter = at++;
    if (is_allowed(waiter->second)) end(waiter, {.kind = Command::Kind::found});
  }
}

bool Finder::is_allowed(const Waiter& waiter) const {
  return std::ranges::any_of(endpoints_, [&](const Endpoint& endpoint) {
    if (endpoint.route == 0) return false;
    return !waiter.method || !endpoint.allowed || endpoint.allowed->at(*waiter.method);
  });
}

void Finder::decide_without_endpoints(TimePoint now) {
  if (source_ == Source::unknown) return;
  auto patience = rules_.for_answer;
  auto code = Code::unavailable;
  if (source_ == Source::refused) {
    patience = {};
    code = source_code_;
  } else if (source_ == Source::empty) {
    patience = seen_ ? std::chrono::nanoseconds(0) : rules_.for_endpoint;
  }
  while (!waiters_.empty()) {
    const auto first = waiters_.begin();
    const auto since =
        source_ == Source::empty ? std::max(first->second.since, empty_since_) : first->second.since;
    if (now < deadline_after(since, patience)) return;
    fail(first, shared(not_executed(code, source_words_)));
  }
}

/// Ends the waiters during whose wait an attempt at each endpoint has ended, if waiting is of no use.
void Finder::end_hopeless(const Summary& summary, TimePoint now) {
  const auto why = cause();
  const bool differs = why && why->code == Code::schema_mismatch;
  if (summary.routes != 0) {
    const auto refused = !why || differs ? Command::Refused::by_all : Command::Refused::by_some;
    for (auto at = waiters_.begin(); at != waiters_.end();) {
      const auto waiter = at++;
      if (waiter->second.since <= summary.all_ended_for && !is_allowed(waiter->second))
        fail(waiter, nullptr, refused);
    }
    return;
  }
  if (!why) return;
  auto said = why;
  auto patience = std::chrono::nanoseconds(0);
  if (differs && endpoints_.size() > 1) {
    said = shared(refusal_of_all(what_, *why));
  } else if (may_pass(why->code) && !rules_.single) {
    // A server that is late lives: it is waited for even if it was reached before.
    const bool gone = seen_ && why->code != Code::deadline_exceeded;
    if (!gone) patience = rules_.for_recovery;
  }
  while (!waiters_.empty()) {
    const auto first = waiters_.begin();
    if (first->second.since > summary.all_ended_for) return;
    if (now < deadline_after(first->second.since, patience)) return;
    fail(first, said);
  }
}

// A server's own refusal says more than that another one was not reached; that one has another schema says
// nothing about the others.
std::shared_ptr<const Failure> Finder::cause() const {
  std::shared_ptr<const Failure> refusal;
  std::shared_ptr<const Failure> passing;
  std::shared_ptr<const Failure> differing;
  auto at = (TimePoint::min)();
  for (const auto& endpoint : endpoints_) {
    const auto& failure = endpoint.failure;
    if (!failure || endpoint.route != 0) continue;
    if (failure->code == Code::schema_mismatch) {
      differing = failure;
    } else if (!may_pass(failure->code)) {
      refusal = failure;
    } else if (!passing || endpoint.failed_at >= at) {
      passing = failure;
      at = endpoint.failed_at;
    }
  }
  return refusal ? refusal : passing ? passing : differing;
}

void Finder::start(TimePoint now) {
  if (waiters_.empty() && !wanted_) return;
  if (widen_at_ <= now) {
    width_ = std::min(width_ * 2, rules_.most_attempts);
    widen_at_ = kNever;
  }
  auto room = width_;
  // Beside routes that serve the calls, only so many that all of them may become routes.
  if (waiters_.empty()) room = first_width() - std::min(routes(), first_width());
  auto attempts = under_way();
  for (const bool was_bound : {true, false}) {
    for (auto& endpoint : endpoints_) {
      if (endpoint.was_bound != was_bound || !may_start(endpoint, now)) continue;
      if (attempts >= room) {
        if (widen_at_ == kNever && width_ < rules_.most_attempts) widen_at_ = now + kWidenAfter;
        return;
      }
      begin(endpoint, now);
      ++attempts;
    }
  }
  widen_at_ = kNever;
}

bool Finder::may_start(const Endpoint& endpoint, TimePoint now) const {
  if (endpoint.state == State::unknown || endpoint.state == State::draining)
    return endpoint.announced || endpoint.until <= now;
  return endpoint.state == State::bound && endpoint.provisional && endpoint.bind_again_at <= now;
}

void Finder::begin(Endpoint& endpoint, TimePoint now) {
  fire(endpoint, Event::start);
  endpoint.attempt = ++last_attempt_;
  endpoint.started = now;
  endpoint.slow_noted = endpoint.is_final = false;
  endpoint.descriptions = 0;
  issue(Command::Kind::connect, endpoint);
  commands_.back().announced = std::exchange(endpoint.announced, false);
}

/// Ends the waiters whose deadline has passed.
void Finder::expire(TimePoint now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto at = waiters_.find(deadlines_.begin()->second);
    fail(at, shared(out_of_time(at->second)));
  }
}

Failure Finder::out_of_time(const Waiter& waiter) const {
  const Endpoint* latest = nullptr;
  for (const auto& endpoint : endpoints_) {
    const bool counts =
        endpoint.failure && (endpoint.failed_at >= waiter.since || endpoint.state == State::cooling ||
                             endpoint.state == State::refused);
    if (counts && (latest == nullptr || endpoint.failed_at > latest->failed_at)) latest = &endpoint;
  }
  Failure why;
  if (latest != nullptr) {
    why = *latest->failure;
  } else if (!endpoints_.empty()) {
    why = not_executed(Code::unavailable, "connect " + endpoints_.front().instance.address.str() +
                                              ": no answer within the deadline");
  } else {
    why = not_executed(Code::unavailable,
                       source_words_.empty() ? "nothing is known of " + what_ + " yet" : source_words_);
  }
  if (why.code == Code::ok || why.code == Code::internal) why.code = Code::unavailable;
  return in_context("gave up at the deadline: ", std::move(why));
}

/// Reports endpoints for which waiters go on waiting.
void Finder::note_unreached(TimePoint now) {
  for (auto& endpoint : endpoints_) {
    auto failure = std::exchange(endpoint.unreached, false) ? endpoint.failure : nullptr;
    if (waiters_.empty() || rules_.single) continue;
    if (is_under_way(endpoint.state) && !endpoint.slow_noted && now >= endpoint.started + kSlow) {
      endpoint.slow_noted = true;
      failure = shared(not_executed(Code::unavailable, "it has not answered yet"));
    }
    if (!failure) continue;
    issue(Command::Kind::unreached, endpoint);
    commands_.back().failure = std::move(failure);
  }
}

void Finder::set_timer(TimePoint now) {
  timer_ = kNever;
  if (waiters_.empty()) return;
  const auto at = [&](TimePoint when) {
    if (when > now) timer_ = std::min(timer_, when);
  };
  if (!deadlines_.empty()) at(deadlines_.begin()->first);
  at(widen_at_);
  const auto since = waiters_.begin()->second.since;
  if (endpoints_.empty()) {
    if (source_ == Source::empty)
      at(deadline_after(std::max(since, empty_since_), rules_.for_endpoint));
    else
      at(deadline_after(since, rules_.for_answer));
    return;
  }
  at(deadline_after(since, rules_.for_recovery));
  at(first_route_at_ + rules_.moment);
  for (const auto& endpoint : endpoints_) {
    if (!is_under_way(endpoint.state) && endpoint.route == 0) at(endpoint.until);
    if (is_under_way(endpoint.state) && !endpoint.slow_noted) at(endpoint.started + kSlow);
  }
}

void Finder::end(Waiters::iterator at, Command command) {
  command.waiter = at->first;
  commands_.push_back(std::move(command));
  deadlines_.erase({at->second.deadline, at->first});
  waiters_.erase(at);
}

void Finder::fail(Waiters::iterator at, std::shared_ptr<const Failure> why, Command::Refused refused) {
  end(at, {.kind = Command::Kind::failed, .failure = std::move(why), .refused = refused});
}

void Finder::issue(Command::Kind kind, const Endpoint& endpoint) {
  Command made{.kind = kind, .attempt = kind == Command::Kind::remove ? endpoint.route : endpoint.attempt};
  if (kind == Command::Kind::connect || kind == Command::Kind::ready || kind == Command::Kind::unreached)
    made.instance = endpoint.instance;
  commands_.push_back(std::move(made));
}

// ---- what is known

bool Finder::missing() const noexcept {
  const auto routes = this->routes();
  if (routes >= rules_.most_routes)
    return std::ranges::any_of(endpoints_, [](const Endpoint& endpoint) { return endpoint.provisional; });
  return std::ranges::any_of(
      endpoints_, [](const Endpoint& endpoint) { return endpoint.route == 0 || endpoint.provisional; });
}

std::size_t Finder::routes() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(endpoints_, [](const Endpoint& endpoint) { return endpoint.route != 0; }));
}

std::size_t Finder::under_way() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      endpoints_, [](const Endpoint& endpoint) { return is_under_way(endpoint.state); }));
}

bool Finder::awaits(Attempt attempt) const noexcept {
  return std::ranges::any_of(endpoints_, [&](const Endpoint& endpoint) {
    return endpoint.attempt == attempt && is_under_way(endpoint.state);
  });
}

std::optional<State> Finder::state_of(const Address& address) const {
  const auto found = std::ranges::find_if(
      endpoints_, [&](const Endpoint& endpoint) { return endpoint.instance.address == address; });
  return found == endpoints_.end() ? std::nullopt : std::optional(found->state);
}

}  // namespace mf::route
