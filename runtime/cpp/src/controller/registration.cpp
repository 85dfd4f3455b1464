#include "controller/registration.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "controller/candidates.hpp"
#include "controller/turns.hpp"
#include "mf/client/client.hpp"
#include "mf/client/core.hpp"
#include "mf/client/failures.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"
#include "mf/link/backoff.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::milliseconds kGreetDeadline{800};
constexpr std::chrono::seconds kAnswerWithin{5};
constexpr std::chrono::seconds kDeadAfter{30};
constexpr std::chrono::milliseconds kWithdrawDeadline{500};
constexpr int kSignsOfALease = 3;
// How long after a refusal the controller is asked again: it may have room by then.
constexpr std::chrono::seconds kRefusedAgain{10};

using Reader = StreamReader<Standing>;

std::shared_ptr<Resolver> only(const Address& controller) {
  return std::make_shared<StaticResolver>(std::vector<Address>{controller.server()});
}

}  // namespace

struct Registration::State : std::enable_shared_from_this<State> {
  using Offers = std::map<Key, Offer>;

  State(const Address& address, std::shared_ptr<Candidates> wishes, const Log& to,
        std::shared_ptr<transport::Reactor> reactor, const TlsOptions& tls)
      : log(to),
        where(address.str()),
        who(wishes->who()),
        candidates(std::move(wishes)),
        client(std::make_shared<client::Core>(
            only(address), nullptr, ClientOptions{.dead_after = kDeadAfter, .tls = tls}, std::move(reactor))),
        controller(client),
        seat(candidates->add_seat(controller, where)) {
    client.core()->leave_unreached_unlogged();
  }

  const Log log;
  const std::string where;
  const Credential who;
  const std::shared_ptr<Candidates> candidates;
  std::shared_ptr<Turns> turns;
  std::mutex mutex;  // guards all members below except the stub
  std::condition_variable withdrawn;
  bool wanted = false;  // offers were set
  Offers offers;        // the current offers
  Offers sent;          // the offers that the controller has, or will have when pending updates have arrived
  struct Refused {
    Offer offer;
    TimePoint until;  // then it is sent again; kNever: when it has changed
  };
  std::map<Key, Refused> refused;  // the offers that the controller refused
  bool singly = false;             // one of several was refused: each is sent in an update of its own
  // At most one of these is in progress: a check whether the controller answers, the registration's first
  // value, an update.
  bool asking = false;
  bool updating = false;
  std::shared_ptr<Reader> stream;  // of the registration
  bool registered = false;         // its first value has arrived
  bool replied = false;            // the controller answered the last check
  bool late = false;               // the first value has not arrived in time
  TimePoint first_value_by = kNever;
  TimePoint sign_at = kNever;  // when to send a sign of life
  std::chrono::nanoseconds lease{};
  bool withdrawing = false;  // a deregister is in progress
  bool stopping = false;
  bool complained = false;  // one line for each loss, not for each attempt
  TimePoint retry_at{};
  link::Backoff backoff{std::random_device{}()};
  Client client;
  const ControllerClient controller;
  const std::size_t seat;  // the controller's number at the candidates

  /// Sends the requests that are due; returns when to look again.
  TimePoint step() {
    std::unique_lock lock(mutex);
    if (stopping || !wanted || asking || updating) return kNever;
    const TimePoint now = mf::now();
    if (stream && !registered) {
      if (now < first_value_by) return first_value_by;
      first_value_by = kNever;
      late = true;
      const auto given_up = stream;
      lock.unlock();
      given_up->cancel();
      return kNever;
    }
    if (now < retry_at) return retry_at;
    if (!stream && !replied) {
      asking = true;
      lock.unlock();
      ask();
      return kNever;
    }
    if (!stream) return begin(lock);
    auto next = sign_at;
    auto change = difference(now, next);
    if (change.empty() && now < sign_at) return next;
    update(std::move(change), lock);
    return kNever;
  }

  struct Difference {
    std::vector<Offer> put;
    std::vector<Key> removed;
    [[nodiscard]] bool empty() const { return put.empty() && removed.empty(); }
  };

  /// The difference between the current offers and the controller's, without refused ones until `next`.
  Difference difference(TimePoint now, TimePoint& next) {
    Difference change;
    for (const auto& [key, offer] : sent)
      if (!offers.contains(key)) change.removed.push_back(key);
    std::erase_if(refused, [this](const auto& entry) { return !offers.contains(entry.first); });
    for (const auto& [key, offer] : offers) {
      if (const auto known = sent.find(key); known != sent.end() && known->second == offer) continue;
      if (const auto no = refused.find(key); no != refused.end() && no->second.offer == offer) {
        next = std::min(next, no->second.until);
        if (now < no->second.until) continue;
      }
      change.put.push_back(offer);
      if (singly) return change;
    }
    singly = false;
    return change;
  }

  /// Checks whether the controller answers; a failure is reported soon.
  void ask() {
    controller.async_status(CallOptions{.deadline = kGreetDeadline},
                            [self = shared_from_this()](Outcome<ControllerStatus>&& outcome) {
                              const std::scoped_lock lock(self->mutex);
                              self->asking = false;
                              self->replied = outcome.ok();
                              if (!outcome.ok()) self->lost(outcome.failure());
                              self->turns->soon();
                            });
  }

  TimePoint begin(std::unique_lock<std::mutex>& lock) {
    replied = false;
    registered = false;
    late = false;
    sent = offers;
    refused.clear();
    std::vector<Offer> all;
    for (const auto& [key, offer] : sent) all.push_back(offer);
    try {
      stream = std::make_shared<Reader>(
          controller.register_(who, program_invocation_short_name, all, CallOptions{.deadline = kInfinite}));
    } catch (const Error& error) {  // an offer violates a constraint
      lost(Outcome<void>(error).failure());
      return retry_at;
    }
    first_value_by = mf::now() + kAnswerWithin;
    const auto reader = stream;
    lock.unlock();
    read(reader);
    lock.lock();
    return first_value_by;
  }

  void read(const std::shared_ptr<Reader>& reader) {
    reader->async_next([self = shared_from_this(), reader](Outcome<std::optional<Standing>>&& outcome) {
      if (self->took(reader, outcome)) self->read(reader);
    });
  }

  /// False if the registration has ended.
  bool took(const std::shared_ptr<Reader>& reader, const Outcome<std::optional<Standing>>& outcome) {
    const std::scoped_lock lock(mutex);
    turns->soon();
    if (outcome.ok() && outcome.value()) {
      if (!std::exchange(registered, true)) {
        lease = outcome.value()->lease;
        sign_at = deadline_after(mf::now(), lease / kSignsOfALease);
        backoff.reset();
        candidates->registered(seat, outcome.value()->cluster);
        log.write(Level::info, std::exchange(complained, false) ? "registered_again" : "registered",
                  {{"controller", where}});
      }
      for (const Warning& warning : outcome.value()->warnings)
        log.write(Level::warning, "offered_twice", {{"controller", where}, {"meaning", warning.text}});
      return true;
    }
    if (stream != reader) return false;
    if (std::exchange(late, false)) {
      lost(may_have_run(Code::deadline_exceeded, "no answer to a registration"));
    } else if (outcome.ok()) {
      lost(may_have_run(Code::unavailable, "it has ended the registration"));
    } else {
      lost(outcome.failure());
    }
    return false;
  }

  /// Sends changes, or a sign of life.
  void update(Difference&& change, std::unique_lock<std::mutex>& lock) {
    updating = true;
    sign_at = deadline_after(mf::now(), lease / kSignsOfALease);
    const auto of = stream;
    lock.unlock();
    const auto shared = std::make_shared<const Difference>(std::move(change));
    const auto done = [self = shared_from_this(), of, shared](const Outcome<void>& outcome) {
      self->on_updated(of, *shared, outcome);
    };
    try {
      controller.async_update(
          who, shared->put, shared->removed,
          CallOptions{.deadline = kInfinite},  // dead_after ends it, since a controller may pause
          done);
    } catch (const Error& error) {  // what is offered breaks a constraint
      done(error);
    }
    lock.lock();
  }

  void on_updated(const std::shared_ptr<Reader>& of, const Difference& change, const Outcome<void>& outcome) {
    std::shared_ptr<Reader> over;
    {
      const std::scoped_lock lock(mutex);
      updating = false;
      if (stream != of) {
        // It belongs to a registration that has ended.
      } else if (outcome.ok()) {
        for (const Key& key : change.removed) sent.erase(key);
        for (const Offer& offer : change.put) sent.insert_or_assign(offer.key, offer);
        backoff.reset();
      } else if (refuses_only_this(outcome.failure().code)) {
        refuse(change, outcome.failure());
      } else {
        over = stream;
        lost(outcome.failure());
      }
      turns->soon();
    }
    if (over) over->cancel();
  }

  /// The registration is unchanged. A refusal may not count as a sign of life, so one follows.
  void refuse(const Difference& change, const Failure& failure) {
    const TimePoint now = mf::now();
    if (change.put.empty()) {  // an overloaded controller
      sign_at = retry_at = now + backoff.next();
      return;
    }
    const bool may_pass = failure.code == Code::overloaded;
    if (!may_pass && change.put.size() > 1) {
      singly = true;
      return;
    }
    sign_at = now;
    const Offer* news = nullptr;
    for (const Offer& offer : change.put) {
      const auto [known, added] = refused.try_emplace(offer.key);
      if (added || known->second.offer != offer) news = &offer;
      known->second = {offer, may_pass ? now + kRefusedAgain : kNever};
    }
    if (news == nullptr) return;
    log.write(Level::warning, "offer_refused",
              {{"controller", where},
               {"name", news->key.name},
               {"agent", news->key.agent},
               {"offers", change.put.size()},
               {"code", name(failure.code)},
               {"reason", failure.reason()},
               {"next", may_pass ? "tries again" : "waits for another offer"}});
  }

  void lost(const Failure& failure) {
    stream.reset();
    candidates->lost(seat);
    registered = false;
    replied = false;
    first_value_by = sign_at = kNever;
    retry_at = mf::now() + backoff.next();
    if (!stopping && !std::exchange(complained, true))
      log.write(Level::warning, "not_registered",
                {{"controller", where},
                 {"code", name(failure.code)},
                 {"reason", failure.reason()},
                 {"next", "tries again"}});
  }
};

Registration::Registration(const Address& controller, std::shared_ptr<Candidates> candidates, const Log& log,
                           std::shared_ptr<transport::Reactor> reactor, const TlsOptions& tls)
    : state_(std::make_shared<State>(controller, std::move(candidates), log, reactor, tls)) {
  state_->turns = std::make_shared<Turns>(std::move(reactor), [weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    return state ? state->step() : kNever;
  });
}

Registration::~Registration() {
  std::shared_ptr<Reader> stream;
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stopping = true;
    stream.swap(state_->stream);
  }
  state_->turns->stop();
  if (stream) stream->cancel();
  state_->client.core()->close();
}

bool Registration::registered() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->registered;
}

bool Registration::reload() {
  return state_->client.core()->reload();
}

void Registration::set(const std::vector<Offer>& offers) {
  const std::scoped_lock lock(state_->mutex);
  state_->offers.clear();
  for (const Offer& offer : offers) state_->offers.insert_or_assign(offer.key, offer);
  state_->wanted = true;
  state_->retry_at = {};
  state_->turns->soon();
}

// A handler may stop its own server: then the reactor, on whose thread it may run, has no turn meanwhile.
void Registration::begin_withdraw() {
  {
    const std::scoped_lock lock(state_->mutex);
    if (std::exchange(state_->stopping, true)) return;
    if (!state_->stream) return;  // nothing to withdraw
    state_->withdrawing = true;
  }
  const CallOptions options{.deadline = kWithdrawDeadline};
  const auto done = [state = state_](Outcome<void>&&) {
    const std::scoped_lock lock(state->mutex);
    state->withdrawing = false;
    state->withdrawn.notify_all();
  };
  if (!state_->client.core()->reactor().on_own_thread())
    return state_->controller.async_deregister(state_->who, options, done);
  try {
    state_->controller.deregister(state_->who, options);
  } catch (const std::exception&) {  // the controller will notice the connection's end
  }
  done({});
}

void Registration::await_withdrawn(TimePoint until) {
  std::unique_lock lock(state_->mutex);
  state_->withdrawn.wait_until(lock, until, [&] { return !state_->withdrawing; });
}

}  // namespace mf::controller
