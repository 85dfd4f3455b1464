#include "mf/controller/controller.hpp"

#include <algorithm>
#include <utility>

#include "controller/drawn_ids.hpp"
#include "controller/feeds.hpp"
#include "controller/secret.hpp"
#include "controller/store_answers.hpp"
#include "mf/core/failure.hpp"

namespace mf::controller {
namespace {

constexpr int kBeatsOfSleep = 4;  // checks per sleep limit whether the controller is running

/// Never 0, which watchers send that have seen no run.
std::uint64_t new_run() {
  const std::uint64_t run = random_number();
  return run != 0 ? run : 1;
}

Failure closing() {
  return not_executed(Code::shutting_down, "the controller is stopping");
}

}  // namespace

Controller::Controller(ControllerOptions options)
    : options_(std::move(options)),
      run_(new_run()),
      registry_(options_.lease, ChangeLog(), options_.max_offers_per_host),
      store_answers_(std::make_shared<StoreAnswers>(*this)) {
  (void)options_.access.rules();           // throws if the file cannot be used
  options_.store->listen(store_answers_);  // before load(), so that no change is missed
  const Stored stored = options_.store->load();
  const TimePoint now = options_.clock->now();
  std::unique_lock lock(mutex_);
  for (const auto& [nonce, process] : stored.processes)
    if (!take_elsewhere(nonce)) registry_.load(nonce, process, now);
  election_ = Election(stored.epoch);
  if (stored.cluster != Uuid()) cluster_ = stored.cluster;
  beat_ = now;
  lock.unlock();
  begin_client_ids();
  if (options_.own_thread) thread_ = std::thread([this] { watch_time(); });
}

Controller::~Controller() {
  close();
  options_.store->listen(nullptr);
  store_answers_->end();
  if (thread_.joinable()) thread_.join();
}

// If the store cannot reserve ids now, a client is neither refused nor delayed: it gets a random id, as
// without a controller.
void Controller::client_id(ControllerClientIdRequest /*request*/, Responder<std::uint32_t> responder) {
  std::uint32_t id = 0;
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    id = client_ids_.take();
    ask_for_client_ids(work);
  }
  responder.respond(id != 0 ? id : random_client_id());
  do_all(work);
}

void Controller::status(ControllerStatusRequest /*request*/, Responder<ControllerStatus> responder) {
  auto status = this->status();
  if (!may_list()) status.store.name = status.store.reason = {};
  responder.respond(std::move(status));
}

ControllerStatus Controller::status() const {
  ControllerStatus status;
  const std::scoped_lock lock(mutex_);
  status.cluster = cluster_;
  status.run = run_;
  status.revision = registry_.log().latest();
  status.lease = options_.lease;
  status.processes = registry_.processes();
  status.offers = registry_.offers();
  status.watches = watches_.size();
  status.store = options_.store->state();
  return status;
}

// ---- streams

std::optional<Failure> Controller::no_stream(Owner connection) const {
  if (closed_) return closing();
  const auto of = streams_of_.find(connection);
  if (of == streams_of_.end() || of->second < kMaxStreams) return std::nullopt;
  return not_executed(Code::overloaded, "the controller lets at most " + std::to_string(kMaxStreams) +
                                            " registrations and watches of one connection be open");
}

void Controller::enter(const std::shared_ptr<Feed>& feed) {
  feed->id = ++last_id_;
  feeds_.emplace(feed->id, feed);
  ++streams_of_[feed->connection];
}

// Called without the lock: a caller that has gone already is detected here. The stream may have ended for
// another reason by then.
void Controller::await_end(const std::shared_ptr<Feed>& feed) {
  const auto stop = current_call().stop_token();
  if (!stop.stop_possible()) return;
  auto on_left = std::make_unique<std::stop_callback<Feed::Left>>(stop, Feed::Left{this, feed->id});
  const std::scoped_lock lock(mutex_);
  if (!feed->ended) feed->on_left.swap(on_left);
}

void Controller::left(Id id) noexcept {
  Work work;
  std::shared_ptr<Feed> feed;
  std::optional<std::string> lost;
  std::string instance;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = feeds_.find(id);
    if (found == feeds_.end()) return;
    feed = found->second;
    if (auto* const registration = feed->registration()) {
      lost = registry_.offered(registration->nonce);
      instance = public_id(registration->nonce);
      registration->doubted = was_asleep();
    }
    end(feed, may_have_run(Code::cancelled, "the caller has gone, or wants no more"), work);
  }
  if (lost)
    options_.log.write(Level::warning, "server_lost",
                       {{"instance", instance}, {"which", *lost}, {"peer", feed->peer}});
  do_all(work);
}

void Controller::end(const std::shared_ptr<Feed>& feed, Outcome<void> outcome, Work& work) {
  if (std::exchange(feed->ended, true)) return;
  feeds_.erase(feed->id);
  if (const auto of = streams_of_.find(feed->connection); --of->second == 0) streams_of_.erase(of);
  work.emplace_back([feed, outcome = std::move(outcome), on_left = std::move(feed->on_left)]() mutable {
    feed->responder.respond(std::move(outcome));
    on_left.reset();  // waits for left(), if that runs
  });
  feed->on_end(*this, work);
}

// A value is made when its turn to be written has come: if a change concerns a thousand watchers, only one
// value exists at a time.
void Controller::go_on(const std::shared_ptr<Feed>& feed, Work& work) {
  if (feed->ended || std::exchange(feed->writing, true)) return;
  work.emplace_back([this, feed] { write_next(feed); });
}

void Controller::write_next(const std::shared_ptr<Feed>& feed) {
  Work work;
  UniqueFunction<void(Feed::Written)> write;
  {
    const std::scoped_lock lock(mutex_);
    if (feed->ended) return;
    write = feed->next(*this);
    feed->writing = static_cast<bool>(write);
    if (!write && feed->ends_when_written) end(feed, {}, work);
  }
  if (write) write([this, feed](Outcome<bool>&& outcome) { on_written(feed, outcome); });
  do_all(work);
}

void Controller::on_written(const std::shared_ptr<Feed>& feed, const Outcome<bool>& outcome) {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    feed->writing = false;
    if (outcome.ok()) {
      go_on(feed, work);
    } else {
      end(feed, outcome.failure(), work);
    }
  }
  do_all(work);
}

void Controller::close() {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    // Nothing is forgotten: registrations stay in the store, for the next controller. Leads end, and may be
    // granted to others.
    registrations_.clear();
    while (!feeds_.empty()) {
      const auto feed = feeds_.begin()->second;
      end(feed, closing(), work);
    }
    earlier_.notify_all();
  }
  do_all(work);
}

// Under the lock.
bool Controller::was_asleep() {
  if (options_.asleep_after.count() == 0) return false;
  const TimePoint now = options_.clock->now();
  // Only while a lease may end, including those known only from the store.
  if (registry_.next_expiry() != kNever && now - beat_ >= options_.asleep_after) {
    woke_ = now;
    registry_.renew_all(now);
    options_.log.write(Level::warning, "was_asleep",
                       {{"ms", std::chrono::duration_cast<std::chrono::milliseconds>(now - beat_).count()},
                        {"meaning", "processes that are lost now stay in the lists for a while"}});
  }
  beat_ = now;
  return woke_ != TimePoint{} && now - woke_ < kGrace;
}

// ---- time

TimePoint Controller::tick() {
  Work work;
  struct Gone {
    std::string instance;
    std::string which;
    std::string peer;
  };
  std::vector<Gone> gone;
  TimePoint next = kNever;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return kNever;  // no process is registered any more, and none is removed because of that
    const TimePoint now = options_.clock->now();
    (void)was_asleep();
    for (const Uuid& nonce : registry_.expired(now)) {
      gone.push_back({public_id(nonce), registry_.offered(nonce), {}});
      const auto registration = registrations_.find(nonce);
      if (registration == registrations_.end()) {  // unverified
        forget(nonce, work);
        continue;
      }
      gone.back().peer = registration->second->peer;
      end(std::shared_ptr<Feed>(registration->second),
          not_executed(Code::unavailable,
                       "the lease is over: the controller has heard nothing of the process for " +
                           std::to_string(options_.lease.count()) + " ms"),
          work);
    }
    if (now >= leads_at_) ask_for_leads(work);
    next = next_due();
  }
  for (const Gone& of : gone)
    options_.log.write(Level::warning, "lease_over",
                       {{"instance", of.instance}, {"which", of.which}, {"peer", of.peer}});
  do_all(work);
  return next;
}

TimePoint Controller::next_due() const {
  const bool beats = options_.asleep_after.count() != 0 && registry_.next_expiry() != kNever;
  return std::min(
      {registry_.next_expiry(), leads_at_, beats ? beat_ + options_.asleep_after / kBeatsOfSleep : kNever});
}

void Controller::wake_at(TimePoint when) {
  if (when < sleeps_until_) {
    sleeps_until_ = when;
    earlier_.notify_all();
  }
}

void Controller::watch_time() {
  for (;;) {
    tick();
    std::unique_lock lock(mutex_);
    sleeps_until_ = next_due();  // not the result of tick(), since events may have been added
    while (!closed_ && options_.clock->now() < sleeps_until_) {
      if (sleeps_until_ == kNever)
        earlier_.wait(lock);
      else
        earlier_.wait_until(lock, sleeps_until_);
    }
    if (closed_) return;
  }
}

// A work item may add more, through other locks, but not to this list.
void Controller::do_all(Work& work) {
  for (auto& one : work) one();
}

}  // namespace mf::controller
