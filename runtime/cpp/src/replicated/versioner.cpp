#include "replicated/versioner.hpp"

#include <algorithm>
#include <tuple>

namespace mf::replicated {
namespace {

constexpr std::size_t kMostGathered = 4'096;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Versioner::Versioner(Holder& replica, std::uint64_t epoch)
    : replica_(replica), epoch_(epoch), asked_at_(replica.now()) {}

// Taking the lead

void Versioner::begin() {
  if (replica_.promised() >= epoch_)
    return replica_.resign("epoch " + std::to_string(replica_.promised()) + " has begun");
  replica_.promise(epoch_);
  prepare();
}

void Versioner::connected(const PeerId& member) {
  replica_.send(member, prepared());
}

void Versioner::disconnected(const std::string& member) {
  std::erase_if(reports_, [&](const auto& each) { return each.first == member; });
  told_at_.erase(member);
  if (pulls_ == member) pulls_.reset();
}

const Report* Versioner::report_of(const std::string& member) const {
  const auto found =
      std::find_if(reports_.begin(), reports_.end(), [&](const auto& each) { return each.first == member; });
  return found == reports_.end() ? nullptr : &found->second;
}

void Versioner::reported(const std::string& member, const Report& report) {
  if (report.epoch > epoch_) return replica_.resign("epoch " + std::to_string(report.epoch) + " has begun");
  if (report.epoch < epoch_) return replica_.send(member, prepared());
  const auto found =
      std::find_if(reports_.begin(), reports_.end(), [&](const auto& each) { return each.first == member; });
  if (found == reports_.end()) {
    reports_.emplace_back(member, report);
  } else {
    found->second = report;
  }
  if (ready_) {
    supply(member, report);
  } else if (!pulls_) {
    choose();
  }
}

void Versioner::pulled(bool whole) {
  if (ready_ && (whole || replica_.normal() == epoch_)) {
    pulls_.reset();
    replica_.become_normal(epoch_);
  } else if (whole) {
    start();
  } else if (pulls_) {
    pull(std::string(*pulls_));
  }
}

Message Versioner::prepared() const {
  return Message::of_prepare({.epoch = epoch_, .ready = ready_, .head = replica_.log().head()});
}

void Versioner::prepare() {
  asked_at_ = replica_.now();
  pulls_.reset();
  reports_.clear();
  reports_.emplace_back(replica_.me(), replica_.own_report());
  for (const auto& member : replica_.members_connected()) replica_.send(member, prepared());
  choose();
}

/// Whose log this epoch goes on with, once enough have said what they have.
void Versioner::choose() {
  const auto better_key = [&](const std::pair<std::string, Report>& each) {
    return std::tuple(each.second.normal, each.second.head.version.counter, each.first == replica_.me());
  };
  const std::pair<std::string, Report>* best = nullptr;
  std::size_t counting = 0;
  for (const auto& each : reports_) {
    if (each.second.normal == 0) continue;
    ++counting;
    if (best == nullptr || better_key(each) > better_key(*best)) best = &each;
  }
  if (counting < majority() && reports_.size() < replica_.members().size()) return;
  if (best == nullptr || best->first == replica_.me() || best->second.head == replica_.log().head()) {
    start();
  } else {
    pull(std::string(best->first));
  }
}

void Versioner::pull(const std::string& best) {
  pulls_ = best;
  asked_at_ = replica_.now();
  send_pull(best);
}

void Versioner::send_pull(const std::string& member) {
  if (const auto* const report = report_of(member))
    replica_.send(member,
                  Message::of_pull({.epoch = epoch_, .head = replica_.log().head(), .wanted = report->head}));
}

void Versioner::start() {
  ready_ = true;
  pulls_.reset();
  replica_.become_normal(epoch_);
  next_ = replica_.log().counter() + 1;
  replica_.set_leader(epoch_, replica_.me());
  for (const auto& member : replica_.members_connected()) replica_.send(member, prepared());
}

/// That this epoch has begun: not again at once, as each Prepare is answered by a Report.
void Versioner::tell(const std::string& member) {
  const auto now = replica_.now();
  const auto [told, is_new] = told_at_.try_emplace(member, now);
  if (!is_new && now - told->second < replica_.settings().repeat) return;
  told->second = now;
  replica_.send(member, prepared());
}

void Versioner::supply(const std::string& member, const Report& report) {
  const auto& head = replica_.log().head();
  const auto& theirs = report.head;
  const auto* const mine = replica_.log().head_at(theirs.version.counter);
  if (report.normal == epoch_) {
    if (theirs.version.counter > head.version.counter) return;  // clients have sent it there first
    if ((mine == nullptr || *mine == theirs) && (!report.missing || theirs == head)) return;
  } else {
    if (report.normal == 0) {
      // Since it was supplied it may have acknowledged anything that was given out before it lost its memory.
      // Others count on that, so it does not count before that is here.
      const auto last = supplied_.contains(member) ? next_ - 1 : 0;
      const auto blank = blank_.try_emplace(member, last).first;
      if (head.version.counter < blank->second) return;
      blank_.erase(blank);
    }
    tell(member);
  }
  supplied_.insert(member);
  replica_.supply(member, report);
}

// Giving out versions

void Versioner::ask(const PeerId& client, const Origin& origin) {
  if (!takes(client, origin)) return;
  const auto answer = [&](const Version& version) {
    replica_.send(client,
                  Message::of_given({.sequence = origin.sequence, .version = version, .under = epoch_}));
  };
  if (const auto seen = replica_.origins().find(origin)) return answer(seen->version);
  const auto key = key_of(origin);
  auto given = given_to_.find(key);
  if (given == given_to_.end()) {
    if (!has_room(client, origin)) return;
    const auto counter = next_++;
    given_.emplace(counter, GivenOut{.origin = origin, .since = replica_.now()});
    given = given_to_.emplace(key, counter).first;
  }
  answer({.epoch = epoch_, .counter = given->second});
}

void Versioner::submit(const PeerId& client, const Body& body) {
  const auto& origin = body.origin;
  if (!takes(client, origin)) return;
  Entry entry;
  if (const auto seen = replica_.origins().find(origin)) {
    entry.version = seen->version;
  } else if (has_room(client, origin)) {
    entry.version = {.epoch = epoch_, .counter = next_++};
  } else {
    return;
  }
  entry.body = body;
  if (body.pattern == Pattern::one_hop) gather(body);
  auto then = body.pattern == Pattern::chain ? chain() : std::vector<std::string>();
  spread(client, entry, body);
  replica_.hold(replica_.me(),
                {.entry = std::move(entry), .under = epoch_, .then = std::move(then), .applied = {}});
}

void Versioner::acknowledged(const Ack& ack) {
  const OriginKey key{.client = ack.client, .sequence = ack.sequence};
  auto* const gathered = gathered_.find(key);
  if (gathered == nullptr || ack.under != epoch_) return;
  gathered->applied.insert(ack.applied.begin(), ack.applied.end());
  if (gathered->applied.size() < gathered->need) return;
  Ack whole = ack;
  whole.applied.assign(gathered->applied.begin(), gathered->applied.end());
  (void)gathered_.take(key);
  replica_.send(ack.client, Message::of_ack(std::move(whole)));
}

/// Whether the client still awaits this message of its own. One that is further ahead than any caller sends
/// (caller.hpp) is refused for good: replicas keep no more of a client than that.
bool Versioner::takes(const PeerId& client, const Origin& origin) {
  if (client != PeerId(origin.client) || replica_.origins().is_over(origin)) return false;
  if (origin.oldest <= origin.sequence && origin.sequence - origin.oldest < kMostAhead) return true;
  replica_.refuse(client, origin, Code::invalid_argument,
                  "message " + std::to_string(origin.sequence) + " of a client that still awaits " +
                      std::to_string(origin.oldest) + ": at most " + std::to_string(kMostAhead) +
                      " may be under way");
  return false;
}

bool Versioner::has_room(const PeerId& client, const Origin& origin) {
  const auto waiting = next_ - 1 - replica_.applied();
  if (waiting < replica_.settings().most_unapplied) return true;
  replica_.refuse(client, origin, Code::overloaded, std::to_string(waiting) + " messages wait to be applied");
  return false;
}

void Versioner::spread(const PeerId& client, const Entry& entry, const Body& body) {
  switch (body.pattern) {
    case Pattern::one_hop:
    case Pattern::one_hop_ack_client:
      for (const auto& member : replica_.members_connected())
        replica_.send(member,
                      Message::of_stamped({.entry = entry, .under = epoch_, .then = {}, .applied = {}}));
      break;
    case Pattern::wait_for_version:
      for (const auto& member : replica_.members_connected())
        replica_.send(
            member, Message::of_numbered({.origin = body.origin, .version = entry.version, .under = epoch_}));
      break;
    case Pattern::message_returns_version:
      replica_.send(
          client,
          Message::of_given({.sequence = body.origin.sequence, .version = entry.version, .under = epoch_}));
      break;
    case Pattern::no_versioning:
    case Pattern::version_request:
    case Pattern::chain:
      break;
  }
}

/// Those that can pass a message on: they are there, and have this epoch's log.
std::vector<std::string> Versioner::chain() const {
  auto members = replica_.members_connected();
  std::erase_if(members, [&](const auto& each) {
    const auto* const report = report_of(each);
    return report == nullptr || report->normal != epoch_;
  });
  return members;
}

void Versioner::gather(const Body& body) {
  const auto key = key_of(body.origin);
  if (gathered_.find(key) == nullptr)
    gathered_.put(key, {.need = needed(body.require, replica_.members().size())}, kMostGathered);
}

// Versions that are not used

void Versioner::sealed(const std::string& member, const Sealed& message) {
  const auto given = given_.find(message.version.counter);
  if (message.epoch != epoch_ || given == given_.end()) return;
  if (message.entry)
    return replica_.hold(member, {.entry = *message.entry, .under = epoch_, .then = {}, .applied = {}});
  given->second.sealed.insert(member);
  leave_empty(message.version, given->second);
}

/// If a majority does not have it; or nobody, where a majority has lost its memory.
void Versioner::leave_empty(const Version& version, const GivenOut& given) {
  auto nowhere = given.sealed;
  for (const auto& [member, report] : reports_) {
    if (report.normal == 0 && member != replica_.me()) nowhere.insert(member);
  }
  if (given.sealed.size() + 1 < majority() && nowhere.size() + 1 < replica_.members().size()) return;
  const Stamped empty{.entry = {.version = version, .body = {}}, .under = epoch_, .then = {}, .applied = {}};
  for (const auto& other : replica_.members_connected()) replica_.send(other, Message::of_stamped(empty));
  replica_.hold(replica_.me(), empty);
}

/// The log waits for a message whose client got its version long ago: unless a member has it, it is empty.
void Versioner::seal_unused() {
  const auto head = replica_.log().counter();
  for (auto each = given_.begin(); each != given_.end() && each->first <= head;) {
    given_to_.erase(key_of(each->second.origin));
    each = given_.erase(each);
  }
  const auto found = given_.find(head + 1);
  if (found == given_.end()) return;
  auto& first = found->second;
  const auto now = replica_.now();
  if (now - std::max(first.since, first.asked_at) < replica_.settings().repeat) return;
  if (const auto member = ahead(head)) {
    first.asked_at = now;
    pulls_ = *member;
    send_pull(*member);
  } else if (now - first.since >= replica_.settings().unused) {
    first.asked_at = now;
    const Version version{.epoch = epoch_, .counter = head + 1};
    for (const auto& each : replica_.members_connected())
      replica_.send(each, Message::of_seal({.epoch = epoch_, .version = version}));
    leave_empty(version, first);
  }
}

/// A member that has more of this epoch: clients have sent it there, and here it was lost.
std::optional<std::string> Versioner::ahead(std::uint64_t head) const {
  const auto connected = replica_.members_connected();
  for (const auto& [member, report] : reports_) {
    if (report.normal == epoch_ && report.head.version.counter > head && contains(connected, member))
      return member;
  }
  return std::nullopt;
}

void Versioner::tick() {
  const auto& settings = replica_.settings();
  const auto connected = replica_.members_connected();
  const auto now = replica_.now();
  if (connected.size() + 1 >= majority()) {
    alone_since_.reset();
  } else if (!alone_since_) {
    alone_since_ = now;
  } else if (now - *alone_since_ > settings.patience) {
    return replica_.resign("it reaches " + std::to_string(connected.size()) + " of " +
                           std::to_string(replica_.members().size() - 1) + " other replicas");
  }
  if (ready_) seal_unused();
  if (now - asked_at_ < settings.repeat) return;
  if (!ready_) return prepare();
  asked_at_ = now;
  for (const auto& member : connected) {
    const auto* const report = report_of(member);
    if (report == nullptr || report->normal != epoch_ || report->head != replica_.log().head())
      replica_.send(member, prepared());
  }
}

}  // namespace mf::replicated
