// Epochs: whose log counts, and how a replica gets what it lacks.
#include <algorithm>
#include <utility>

#include "replicated/replica.hpp"

namespace mf::replicated {
namespace {

constexpr const char* kNoRestore =
    "its log is no part of what the others keep, and its servant has no restore()";

}  // namespace

void Replica::promise(std::uint64_t epoch) {
  if (epoch <= promised_) return;
  promised_ = epoch;
  if (versioner_ && versioner_->epoch() < epoch) resign("epoch " + std::to_string(epoch) + " has begun");
  early_.clear();
  sealed_.clear();
  numbered_.clear();
  giving_.clear();
  taking_.reset();
}

void Replica::become_normal(std::uint64_t epoch) {
  normal_ = epoch;
  resolved_ = true;
  drain();
  pay();
}

void Replica::set_leader(std::uint64_t epoch, const std::string& member) {
  if (leader_ && epoch <= leader_->epoch) return;
  leader_ = Leading{.epoch = epoch, .member = member};
  for (const auto& client : linked_clients_) send(client, Message::of_leading(*leader_));
}

void Replica::on_prepare(const std::string& sender, const Prepare& message) {
  promise(message.epoch);
  bool missing = false;
  if (message.epoch == promised_) {
    if (message.ready) set_leader(message.epoch, sender);
    missing = log_.counter() < message.head.version.counter;
  }
  send(sender, Message::of_report(report(missing)));
}

Report Replica::report(bool missing) const {
  return {.epoch = promised_, .normal = resolved_ ? normal_ : 0, .head = log_.head(), .missing = missing};
}

void Replica::on_report(const std::string& sender, const Report& message) {
  if (const auto versioner = versioner_) versioner->reported(sender, message);
}

void Replica::on_pull(const std::string& sender, const Pull& message) {
  const auto* const held = log_.head_at(message.wanted.version.counter);
  if (normal_ != 0 && held != nullptr && *held == message.wanted && message.epoch == promised_)
    supply(sender, {.epoch = message.epoch, .normal = 0, .head = message.head, .missing = false});
}

/// What follows, or a new beginning where the other's log is no part of this one.
void Replica::supply(const std::string& to, const Report& report) {
  const auto giving = giving_.find(to);
  if (keeps(report.head)) {
    giving_.erase(to);
    send_sync(to, report.head);
  } else if (giving != giving_.end() && giving->second.instead == report.head && keeps(giving->second.at)) {
    // What was not answered.
    if (now_ - giving->second.used >= settings_.repeat) send_state(to, giving->second);
  } else if (can_snapshot_) {
    if (std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.wanted_by == to; })) return;
    // When the servant is asked, it has applied all that is in the log now.
    Job wanted{.kind = Job::Kind::snapshot, .generation = generation_, .counter = log_.counter()};
    wanted.wanted_by = to;
    wanted.report = report;
    wanted.origins = origins_.copy();
    ask_servant(std::move(wanted), TakeSnapshot{});
  } else if (log_.base() == Head{}) {
    send_restore(to, {.instead = report.head, .at = {}, .state = {}, .origins = Origins()}, false);
  }
}

void Replica::on_sync(const std::string& sender, Sync&& message) {
  if (!takes_from(sender, message.epoch) || unapplied_.size() >= settings_.most_unapplied) return;
  const auto first = new_of(message);
  if (first && has_gaps(sender, log_.head(), message.entries, *first)) return;
  const bool was_normal = is_normal();
  for (auto i = first.value_or(message.entries.size()); i < message.entries.size(); ++i) {
    auto& entry = message.entries[i];
    append(entry);
    if (was_normal && entry.body && entry.body->pattern != Pattern::chain) {
      const auto counter = entry.version.counter;
      owe(counter, {.entry = std::move(entry), .under = message.epoch, .then = {}, .applied = {}});
    }
  }
  taken_over(sender, message.epoch, first.has_value() && message.last);
}

/// The first of the entries that follows on the log's end. Nothing: they do not follow.
std::optional<std::size_t> Replica::new_of(const Sync& message) const {
  const auto& head = log_.head();
  if (message.after == head) return 0;
  const auto* const mine = log_.head_at(message.after.version.counter);
  if (mine == nullptr || *mine != message.after) return std::nullopt;
  const auto skipped = head.version.counter - message.after.version.counter;
  if (skipped == 0 || skipped > message.entries.size() ||
      message.entries[skipped - 1].version != head.version)
    return std::nullopt;
  return skipped;
}

/// Whether somebody may give this replica a log: who leads, or whom it asked as the leader.
bool Replica::takes_from(const std::string& sender, std::uint64_t epoch) const {
  if (epoch != promised_) return false;
  if (versioner_) return versioner_->pulls_from(sender);
  return resolved_ && leader_ && leader_->epoch == epoch && leader_->member == sender;
}

void Replica::taken_over(const std::string& sender, std::uint64_t epoch, bool whole) {
  if (const auto versioner = versioner_) return versioner->pulled(whole);
  if (whole && normal_ != epoch) {
    become_normal(epoch);
  } else {
    drain();
    pay();
  }
  send(sender, Message::of_report(report(!whole)));
}

/// Whether these do not go on behind a log's end, one by one, as all logs do.
bool Replica::has_gaps(const std::string& sender, const Head& behind, const std::vector<Entry>& entries,
                       std::size_t first) {
  auto counter = behind.version.counter;
  for (auto i = first; i < entries.size(); ++i) {
    const auto found = entries[i].version.counter;
    if (found == ++counter) continue;
    effects_.emplace_back(Distrust{.member = sender,
                                   .reason = "its log goes on with " + std::to_string(found) + " where " +
                                             std::to_string(counter) + " comes next"});
    return true;
  }
  return false;
}

void Replica::on_part(const std::string& sender, const Part& message) {
  if (!takes_from(sender, message.epoch) || message.instead != log_.head()) return;
  const auto& about = message.state;
  if (!can_snapshot_) return get_stuck(kNoRestore);
  if (about.size > settings_.most_state)
    return get_stuck("the state of '" + sender + "' takes " + std::to_string(about.size) +
                     " bytes; this one takes " + std::to_string(settings_.most_state));
  asked_at_ = now_;
  if (const auto versioner = versioner_) versioner->progressed();
  if (!taking_ || !taking_->is_of(sender, about)) taking_.emplace(Taking{.sender = sender, .about = about});
  taking_->add(message);
  send(sender,
       Message::of_took({.epoch = message.epoch, .number = about.number, .size = taking_->data.size()}));
}

void Replica::on_took(const std::string& sender, const Took& message) {
  const auto giving = giving_.find(sender);
  if (giving == giving_.end() || message.epoch != promised_ || message.number != giving->second.number)
    return;
  if (giving->second.took(message.size)) send_state(sender, giving->second);
}

void Replica::on_restore(const std::string& sender, Restore&& message) {
  if (!takes_from(sender, message.epoch) || message.instead != log_.head()) return;
  if (normal_ == message.epoch && message.at.version.counter + message.entries.size() < log_.counter())
    return;  // nobody goes back within an epoch: what was acknowledged stays
  if (has_gaps(sender, message.at, message.entries, 0)) return;
  std::optional<Bytes> snapshot;
  if (message.state) {
    if (!taking_) taking_.emplace(Taking{.sender = sender, .about = *message.state});
    if (!taking_->is_of(sender, *message.state) || !taking_->is_whole())
      return;  // a part was lost: it is asked for again
    snapshot.emplace(std::move(taking_->data));
  }
  taking_.reset();
  const bool restores = snapshot.has_value() || !state_is_new_;
  if (restores && !can_snapshot_) return get_stuck(kNoRestore);
  ++generation_;
  unapplied_.clear();
  owed_.clear();
  early_.erase(early_.begin(), early_.upper_bound(message.at.version.counter));
  log_.reset(message.at);
  origins_.restore(message.clients);
  normal_ = 0;
  if (restores) {
    unapplied_.push_back(message.at.version.counter);
    ask_servant(
        {.kind = Job::Kind::restore, .generation = generation_, .counter = message.at.version.counter},
        RestoreState{.snapshot = std::move(snapshot)});
  }
  for (auto& entry : message.entries) append(std::move(entry));
  taken_over(sender, message.epoch, message.last);
}

void Replica::on_seal(const std::string& sender, const Seal& message) {
  if (message.epoch != promised_ || !is_normal()) return;
  const auto counter = message.version.counter;
  std::optional<Entry> entry;
  if (const auto* const kept = log_.at(counter)) {
    entry = *kept;
  } else if (const auto early = early_.find(counter); early != early_.end()) {
    entry = early->second.message.entry;
  } else if (counter <= log_.counter()) {
    // No longer kept: the other sees that it is behind.
    return send(sender, Message::of_report(report(false)));
  } else {
    sealed_.insert(counter);
  }
  send(sender,
       Message::of_sealed({.epoch = message.epoch, .version = message.version, .entry = std::move(entry)}));
}

void Replica::on_sealed(const std::string& sender, const Sealed& message) {
  if (const auto versioner = versioner_) versioner->sealed(sender, message);
}

void Replica::on_recover(const std::string& sender, const Recover& message) {
  send(sender, Message::of_recovered(
                   {.life = message.life, .blank = !resolved_ || normal_ == 0, .promised = promised_}));
}

void Replica::on_recovered(const std::string& sender, const Recovered& message) {
  if (resolved_ || message.life != life_) return;
  recovered_.insert_or_assign(sender, message);
  const auto counting = static_cast<std::size_t>(std::count_if(
      recovered_.begin(), recovered_.end(), [](const auto& each) { return !each.second.blank; }));
  if (counting < majority(members_.size()) && recovered_.size() < others_.size()) return;
  std::uint64_t latest = 0;
  for (const auto& [member, each] : recovered_) latest = std::max(latest, each.promised);
  promise(latest);
  resolved_ = true;
}

bool Replica::lacks_something() const {
  return !early_.empty() || normal_ != promised_ || !numbered_.empty();
}

void Replica::send_sync(const std::string& to, const Head& after) {
  auto entries = log_.after(after.version.counter, settings_.chunk_entries, settings_.chunk_bytes);
  const bool last = after.version.counter + entries.size() == log_.counter();
  send(to,
       Message::of_sync({.epoch = promised_, .after = after, .entries = std::move(entries), .last = last}));
}

/// Whether the log had this end, as far as it is kept.
bool Replica::keeps(const Head& head) const {
  const auto* const held = log_.head_at(head.version.counter);
  return held != nullptr && *held == head;
}

/// The state that the job has asked for.
void Replica::give(Job&& job, Bytes state) {
  const auto* const at = log_.head_at(job.counter);
  if (at == nullptr || job.report.epoch != promised_ || !linked_members_.contains(job.wanted_by))
    return;  // overtaken: it is asked for again
  auto& giving = giving_
                     .insert_or_assign(job.wanted_by, Giving{.instead = job.report.head,
                                                             .at = *at,
                                                             .number = ++states_taken_,
                                                             .state = std::move(state),
                                                             .origins = std::move(*job.origins)})
                     .first->second;
  send_state(job.wanted_by, giving);
}

/// The next part, or what ends them.
void Replica::send_state(const std::string& to, Giving& giving) {
  giving.used = now_;
  if (giving.is_whole()) return send_restore(to, giving, true);
  send(to, Message::of_part(giving.part(promised_, settings_.chunk_bytes)));
}

/// The log behind the state. Without one: behind that of a new servant.
void Replica::send_restore(const std::string& to, const Giving& giving, bool with_state) {
  if (!keeps(giving.at)) return;  // overtaken: it is asked for again
  const auto counter = giving.at.version.counter;
  auto entries = log_.after(counter, replication::MOST_ENTRIES, settings_.chunk_bytes);
  const bool last = counter + entries.size() == log_.counter();
  std::optional<State> about;
  if (with_state) about = giving.about();
  send(to, Message::of_restore({.epoch = promised_,
                                .instead = giving.instead,
                                .state = about,
                                .at = giving.at,
                                .clients = giving.origins.states(),
                                .entries = std::move(entries),
                                .last = last}));
}

}  // namespace mf::replicated
