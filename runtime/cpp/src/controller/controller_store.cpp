// The controller's use of its store: leads and client ids. The store is called without the lock, and may take
// as long as a disk does. It also handles the store's news of other controllers that share it: a process that
// is registered there counts as registered here, but without a connection.

#include <chrono>
#include <utility>

#include "controller/feeds.hpp"
#include "controller/secret.hpp"
#include "controller/store_answers.hpp"
#include "mf/core/failure.hpp"

namespace mf::controller {
namespace {

constexpr std::chrono::seconds kLeadsAgain{1};
/// The wait for a slow store at the start; then the first clients get random ids.
constexpr std::chrono::seconds kFirstIdsWithin{1};

std::uint64_t milliseconds_since_1970() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

void Controller::ask_for_leads(Work& work) {
  if (closed_) return;
  leads_at_ = kNever;
  for (const Key& key : election_.vacant()) {
    election_.ask(key);
    const std::uint64_t at_least = election_.next_epoch(milliseconds_since_1970());
    work.emplace_back([store = options_.store, answers = store_answers_, key, at_least] {
      store->take_lead(key, at_least, [answers, key](std::optional<std::uint64_t> epoch) {
        answers->with([&](Controller& self) { self.on_lead(key, epoch); });
      });
    });
  }
}

void Controller::on_lead(const Key& key, std::optional<std::uint64_t> epoch) {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    if (!epoch) {
      election_.refuse(key);
      leads_at_ = options_.clock->now() + kLeadsAgain;
      wake_at(leads_at_);
      return;
    }
    const auto leader = election_.give(key, *epoch);
    if (!leader) {  // its candidate has gone in the meantime
      work.emplace_back([store = options_.store, key, epoch] { store->give_up_lead(key, *epoch); });
    } else {
      tell_lead(*candidates_.at(*leader), *epoch, work);
    }
  }
  do_all(work);
}

void Controller::tell_lead(Candidate& candidate, std::uint64_t epoch, Work& work) {
  candidate.epoch = epoch;
  candidate.given.emplace();
  candidate.given->epoch = epoch;
  options_.log.write(Level::info, "leads",
                     {{"name", candidate.key.name},
                      {"agent", candidate.key.agent},
                      {"instance", public_id(candidate.nonce)},
                      {"peer", candidate.peer},
                      {"identity", candidate.identity.str()},
                      {"epoch", epoch}});
  go_on(candidate.shared_from_this(), work);
}

void Controller::give_up_lead(const Candidate& candidate, Work& work) {
  if (candidate.epoch == 0) return;
  work.emplace_back([store = options_.store, key = candidate.key, epoch = candidate.epoch] {
    store->give_up_lead(key, epoch);
  });
}

// ---- controllers that share the store

// A store that cannot be reached does not know whether the other controllers still have the process. This
// controller has seen it disconnect, and relies on that.
bool Controller::stays_elsewhere(const Uuid& nonce) {
  return options_.store->state().ok && take_elsewhere(nonce);
}

bool Controller::take_elsewhere(const Uuid& nonce) {
  const auto process = options_.store->elsewhere(nonce);
  if (process) registry_.put_elsewhere(nonce, *process);
  return process.has_value();
}

void Controller::on_changed_elsewhere(const std::vector<Uuid>& nonces) {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    const auto before = registry_.log().latest();
    for (const Uuid& nonce : nonces) {
      if (registrations_.contains(nonce)) continue;
      if (!take_elsewhere(nonce)) (void)registry_.remove(nonce);
    }
    spread(before, work);
  }
  do_all(work);
}

void Controller::on_leads_may_be_had() {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    ask_for_leads(work);
  }
  do_all(work);
}

void Controller::on_leads_lost() {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Feed>> leaders;
    for (const auto& [id, candidate] : candidates_)
      if (candidate->epoch != 0) leaders.push_back(candidate);
    for (const auto& feed : leaders)
      end(feed,
          may_have_run(Code::unavailable,
                       "the controller has lost its hold on the store, and others may lead from now on"),
          work);
  }
  do_all(work);
}

void Controller::ask_for_client_ids(Work& work) {
  if (!client_ids_.ask()) return;
  work.emplace_back([store = options_.store, answers = store_answers_] {
    store->take_client_ids(ClientIds::kBlock, [answers](std::optional<std::uint32_t> first) {
      answers->with([&](Controller& self) { self.on_client_ids(first); });
    });
  });
}

void Controller::on_client_ids(std::optional<std::uint32_t> first) {
  const std::scoped_lock lock(mutex_);
  client_ids_.answered(first);
  client_ids_answered_.notify_all();
}

void Controller::begin_client_ids() {
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    ask_for_client_ids(work);
  }
  do_all(work);
  std::unique_lock lock(mutex_);
  client_ids_answered_.wait_for(lock, kFirstIdsWithin, [this] { return !client_ids_.asked(); });
}

}  // namespace mf::controller
