#include "controller/candidates.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mf/client/failures.hpp"
#include "mf/core/code_class.hpp"
#include "mf/core/failure.hpp"

namespace mf::controller {
namespace {

// How long a lead waits for the first controller, which may only restart, before another one is asked.
constexpr std::chrono::seconds kElsewhereAfter{1};

Failure over(const char* why) {
  return not_executed(Code::cancelled, why);
}

}  // namespace

std::shared_ptr<Candidates> Candidates::make(const Credential& who, const Log& log,
                                             const std::shared_ptr<transport::Reactor>& reactor) {
  const std::shared_ptr<Candidates> made(new Candidates(who, log));
  made->turns_ = std::make_shared<Turns>(reactor, [weak = std::weak_ptr(made)] {
    const auto self = weak.lock();
    return self ? self->step() : kNever;
  });
  return made;
}

Candidates::Candidates(const Credential& who, const Log& log) : who_(who), log_(log) {}

std::size_t Candidates::add_seat(const ControllerClient& controller, std::string where) {
  const std::scoped_lock lock(mutex_);
  seats_.push_back({.controller = controller, .where = std::move(where)});
  return seats_.size() - 1;
}

void Candidates::add(Key key, std::shared_ptr<link::Candidacy> candidacy) {
  std::uint64_t id = 0;
  {
    std::unique_lock lock(mutex_);
    if (stopped_) {
      lock.unlock();
      return candidacy->end(over("the server was stopped"));
    }
    id = ++ids_;
    all_.emplace(id, One(std::move(key), candidacy));
  }
  candidacy->when_cancelled([weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) self->remove(id);
  });
  turns_->soon();
}

void Candidates::registered(std::size_t seat, const Uuid& cluster) {
  {
    const std::scoped_lock lock(mutex_);
    seats_[seat].registered = true;
    seats_[seat].cluster = cluster;
  }
  turns_->soon();
}

void Candidates::lost(std::size_t seat) {
  {
    const std::scoped_lock lock(mutex_);
    auto& at = seats_[seat];
    if (seat == 0 && at.registered) elsewhere_at_ = mf::now() + kElsewhereAfter;
    at.registered = false;
    at.lost = true;
  }
  turns_->soon();
}

Candidates::Seat* Candidates::seat_for(TimePoint now, TimePoint& next) {
  if (seats_.empty()) return nullptr;
  auto& first = seats_.front();
  if (first.registered) return &first;
  const auto shares = [&](const Seat& seat) { return seat.registered && seat.cluster == first.cluster; };
  const auto other = first.cluster == Uuid() ? seats_.end() : std::ranges::find_if(seats_, shares);
  if (other == seats_.end()) return nullptr;
  if (now >= elsewhere_at_) return &*other;
  next = std::min(next, elsewhere_at_);
  return nullptr;
}

void Candidates::let_go(std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<Reader>> streams;
  std::vector<std::shared_ptr<link::Candidacy>> held;
  for (auto at = all_.begin(); at != all_.end();) {
    if (!seats_[at->second.seat].lost) {
      ++at;
      continue;
    }
    if (at->second.stream) streams.push_back(std::exchange(at->second.stream, nullptr));
    if (at->second.given) {
      held.push_back(at->second.candidacy);
      at = all_.erase(at);
    } else {
      ++at;
    }
  }
  for (auto& seat : seats_) seat.lost = false;
  lock.unlock();
  for (const auto& candidacy : held) candidacy->end(over("the server is not registered any more"));
  for (const auto& stream : streams) stream->cancel();
  lock.lock();
}

void Candidates::stop() {
  std::map<std::uint64_t, One> all;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    all.swap(all_);
  }
  turns_->stop();
  for (const auto& [id, one] : all) {
    one.candidacy->end(over("the server was stopped"));
    if (one.stream) one.stream->cancel();
  }
}

TimePoint Candidates::step() {
  std::vector<std::pair<std::uint64_t, std::shared_ptr<Reader>>> begun;
  TimePoint next = kNever;
  {
    std::unique_lock lock(mutex_);
    if (std::ranges::any_of(seats_, &Seat::lost)) let_go(lock);
    const TimePoint now = mf::now();
    const auto* const seat = seat_for(now, next);
    if (seat == nullptr) return all_.empty() ? kNever : next;
    for (auto& [id, one] : all_) {
      if (one.stream) continue;
      if (now < one.retry_at) {
        next = std::min(next, one.retry_at);
        continue;
      }
      one.seat = static_cast<std::size_t>(seat - seats_.data());
      one.stream =
          std::make_shared<Reader>(seat->controller.lead(who_, one.key, CallOptions{.deadline = kInfinite}));
      begun.emplace_back(id, one.stream);
    }
  }
  for (const auto& [id, stream] : begun) read(id, stream);
  return next;
}

void Candidates::read(std::uint64_t id, const std::shared_ptr<Reader>& stream) {
  stream->async_next([self = shared_from_this(), id, stream](Outcome<std::optional<Lead>>&& outcome) {
    if (self->took(id, stream, outcome)) self->read(id, stream);
  });
}

bool Candidates::took(std::uint64_t id, const std::shared_ptr<Reader>& stream,
                      const Outcome<std::optional<Lead>>& outcome) {
  if (!outcome.ok() || !outcome.value()) {
    ended(id, stream, outcome.ok() ? nullptr : &outcome.failure());
    return false;
  }
  std::shared_ptr<link::Candidacy> candidacy;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.stream != stream) return false;
    found->second.given = true;
    candidacy = found->second.candidacy;
  }
  candidacy->hold(outcome.value()->epoch);
  return true;
}

void Candidates::ended(std::uint64_t id, const std::shared_ptr<Reader>& stream, const Failure* why) {
  std::shared_ptr<link::Candidacy> held;
  std::string where;
  bool is_first = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end() || found->second.stream != stream) return;
    // The offers may reach the controller after the request for the lead.
    if (why != nullptr && why->code == Code::permission_denied)
      is_first = !std::exchange(found->second.refused, true);
    where = seats_[found->second.seat].where;
    One& one = found->second;
    one.stream.reset();
    if (one.given) {
      held = one.candidacy;
      all_.erase(found);
    } else {
      one.retry_at = mf::now() + one.backoff.next();
      turns_->soon();
    }
  }
  if (held) return held->end(over("the controller has ended the lead"));
  if (why == nullptr || is_first || why->code == Code::declared || is_going_away(why->code)) return;
  log_.write(
      Level::warning, "no_lead",
      {{"controller", where}, {"code", name(why->code)}, {"reason", why->reason()}, {"next", "tries again"}});
}

void Candidates::remove(std::uint64_t id) {
  std::shared_ptr<Reader> stream;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = all_.find(id);
    if (found == all_.end()) return;
    stream = std::move(found->second.stream);
    all_.erase(found);
  }
  if (stream) stream->cancel();
}

}  // namespace mf::controller
