#include "replicated/replica.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mf::replicated {
namespace {

// Of one message that is repeated by a client in a hurry.
constexpr std::size_t kMostOwed = 4;

std::vector<std::string> without(std::vector<std::string> names, const std::string& name) {
  std::erase(names, name);
  return names;
}

Outcome never_applied() {
  return {.status = static_cast<std::uint8_t>(Code::internal),
          .error = 0,
          .payload = Bytes(std::string("it was applied before, and its outcome is not known any more"))};
}

}  // namespace

Replica::Replica(std::string me, std::vector<std::string> members, const Uuid& schema, const Uuid& life,
                 bool can_snapshot, const ReplicaSettings& settings)
    : me_(std::move(me)),
      members_(std::move(members)),
      others_(without(members_, me_)),
      schemas_{schema},
      life_(life),
      can_snapshot_(can_snapshot),
      settings_(settings),
      log_(std::min<std::size_t>(settings.most_entries, replication::MOST_ENTRIES), settings.most_bytes),
      resolved_(others_.empty()) {
  if (others_.size() == members_.size()) {
    std::string names;
    for (const auto& each : members_) names += (names.empty() ? "" : ", ") + each;
    throw std::invalid_argument("'" + me_ + "' is none of the members " + names);
  }
  if (std::set<std::string>(members_.begin(), members_.end()).size() != members_.size() ||
      members_.size() > replication::MOST_MEMBERS)
    throw std::invalid_argument("a group has up to " + std::to_string(replication::MOST_MEMBERS) +
                                " members, each with a name of its own");
}

void Replica::receive(const PeerId& sender, Message message, TimePoint now) {
  now_ = now;
  if (stuck_) return;
  if (const auto* const client = std::get_if<Uuid>(&sender)) {
    receive_of_client(*client, std::move(message));
  } else {
    receive_of_member(std::get<std::string>(sender), std::move(message));
  }
}

void Replica::connected(const PeerId& peer, TimePoint now) {
  now_ = now;
  if (const auto* const client = std::get_if<Uuid>(&peer)) {
    linked_clients_.insert(*client);
    if (leader_) send(peer, Message::of_leading(*leader_));
    return;
  }
  linked_members_.insert(std::get<std::string>(peer));
  if (const auto versioner = versioner_) versioner->connected(peer);
}

void Replica::disconnected(const PeerId& peer, TimePoint now) {
  now_ = now;
  if (const auto* const client = std::get_if<Uuid>(&peer)) {
    linked_clients_.erase(*client);
    return;
  }
  const auto& member = std::get<std::string>(peer);
  linked_members_.erase(member);
  giving_.erase(member);
  if (taking_ && taking_->sender == member) taking_.reset();
  if (const auto versioner = versioner_) versioner->disconnected(member);
}

void Replica::lead(std::uint64_t epoch, TimePoint now) {
  now_ = now;
  const auto versioner = versioner_ = std::shared_ptr<Versioner>(new Versioner(*this, epoch));
  versioner->begin();
}

void Replica::tick(TimePoint now) {
  now_ = now;
  if (stuck_) return;
  if (now - asked_at_ >= settings_.repeat) {
    if (!resolved_) {
      asked_at_ = now;
      for (const auto& other : others_) send(other, Message::of_recover({.life = life_}));
    } else if (lacks_something()) {
      asked_at_ = now;
      if (!leader_ || leader_->epoch < promised_) {
        // Whoever leads has missed that this one has started anew.
        for (const auto& other : others_) send(other, Message::of_report(report(true)));
      } else if (leader_->member != me_) {
        send(leader_->member, Message::of_report(report(true)));
      }
    }
  }
  std::erase_if(giving_, [&](const auto& each) { return now - each.second.used >= settings_.patience; });
  if (const auto versioner = versioner_) versioner->tick();
}

void Replica::done(Outcome outcome, TimePoint now) {
  now_ = now;
  auto job = std::move(jobs_.front());
  jobs_.pop_front();
  const bool current = job.generation == generation_;
  switch (job.kind) {
    case Job::Kind::snapshot:
      if (current && outcome.status == 0) give(std::move(job), std::move(outcome.payload));
      return;
    case Job::Kind::restore:
      if (outcome.status != 0)
        return get_stuck("its state was not restored: " + std::string(outcome.payload.text()));
      break;
    case Job::Kind::apply:
      job.seen->outcome = outcome;
      if (job.counter == 0) return acknowledge_unversioned(job.origin, outcome);
      break;
  }
  if (current) {
    unapplied_.pop_front();
    drain();
    pay();
  }
}

/// Takes what is next into the log, as long as it is there and the servant keeps up.
void Replica::drain() {
  while (is_normal() && unapplied_.size() < settings_.most_unapplied) {
    const auto counter = log_.counter() + 1;
    auto found = early_.extract(counter);
    if (found.empty()) break;
    append(found.mapped().message.entry);
    owe(counter, std::move(found.mapped().message));
  }
}

/// One more entry of the log: the servant is to apply it, unless it is empty or comes twice.
void Replica::append(Entry entry) {
  const auto version = entry.version;
  sealed_.erase(version.counter);
  early_.erase(version.counter);
  log_.append(entry);
  if (!entry.body) return;
  const auto& origin = entry.body->origin;
  const auto key = key_of(origin);
  (void)tagged_.take(key);
  (void)numbered_.take(key);
  if (origins_.find(origin) || origins_.is_over(origin)) return;
  const auto seen = origins_.add(origin, version);
  state_is_new_ = false;
  unapplied_.push_back(version.counter);
  ask_servant({.kind = Job::Kind::apply,
               .generation = generation_,
               .counter = version.counter,
               .seen = seen,
               .origin = origin},
              Apply{.version = version, .body = std::move(*entry.body)});
}

void Replica::ask_servant(Job job, Effect effect) {
  jobs_.push_back(std::move(job));
  effects_.push_back(std::move(effect));
}

/// When this has been applied, somebody is to hear of it.
void Replica::owe(std::uint64_t counter, Stamped message) {
  if (!message.entry.body) return;
  auto& owed = owed_[counter];
  if (owed.size() < kMostOwed) owed.push_back(std::move(message));
  if (counter <= applied()) pay();
}

void Replica::pay() {
  if (!is_normal()) return;
  const auto up_to = applied();
  while (!owed_.empty() && owed_.begin()->first <= up_to) {
    const auto owed = owed_.extract(owed_.begin());
    for (const auto& message : owed.mapped()) pay_one(message);
  }
}

void Replica::pay_one(const Stamped& message) {
  const auto& body = *message.entry.body;
  const auto seen = origins_.find(body.origin);
  if (!seen) return;  // the client awaits it no more
  std::vector<std::string> applied;
  if (body.pattern == Pattern::chain) {
    applied = message.applied;
    auto then = without(message.then, me_);
    applied.push_back(me_);
    if (!then.empty()) {
      const auto next = then.front();
      then.erase(then.begin());
      return send(next, Message::of_stamped({.entry = message.entry,
                                             .under = normal_,
                                             .then = std::move(then),
                                             .applied = std::move(applied)}));
    }
  } else {
    applied = {me_};
  }
  Ack ack{.client = body.origin.client,
          .sequence = body.origin.sequence,
          .version = seen->version,
          .under = normal_,
          .applied = std::move(applied),
          .outcome = seen->outcome ? *seen->outcome : never_applied()};
  if (body.pattern != Pattern::one_hop) {
    send(body.origin.client, Message::of_ack(std::move(ack)));
  } else if (const auto versioner = versioner_) {
    versioner->acknowledged(ack);
  } else if (leader_) {
    send(leader_->member, Message::of_ack(std::move(ack)));
  }
}

void Replica::acknowledge_unversioned(const Origin& origin, const Outcome& outcome) {
  send(origin.client, Message::of_ack({.client = origin.client,
                                       .sequence = origin.sequence,
                                       .version = {},
                                       .under = 0,
                                       .applied = {me_},
                                       .outcome = outcome}));
}

// For the versioner, too

std::vector<std::string> Replica::members_connected() const {
  std::vector<std::string> connected;
  for (const auto& each : others_) {
    if (linked_members_.contains(each)) connected.push_back(each);
  }
  return connected;
}

void Replica::send(const PeerId& to, Message message) {
  effects_.emplace_back(Send{.to = to, .message = std::move(message)});
}

void Replica::refuse(const PeerId& to, const Origin& origin, Code code, std::string text) {
  send(to,
       Message::of_refused(
           {.sequence = origin.sequence, .code = static_cast<std::uint8_t>(code), .text = std::move(text)}));
}

void Replica::resign(std::string reason) {
  versioner_.reset();
  effects_.emplace_back(Resign{.reason = std::move(reason)});
}

void Replica::get_stuck(std::string reason) {
  if (std::exchange(stuck_, true)) return;
  effects_.emplace_back(Stuck{.reason = std::move(reason)});
}

}  // namespace mf::replicated
