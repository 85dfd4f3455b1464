// The controller's functions for other parts of its own process, as its dashboard.

#include <algorithm>
#include <map>
#include <utility>

#include "controller/secret.hpp"
#include "mf/controller/controller.hpp"

namespace mf::controller {
namespace {

/// The marks of times: more than the steps that are asked for.
constexpr std::size_t kMostMarks = 512;
/// Entries of the log that are looked at for recent steps: changes that are no steps are passed over.
constexpr std::size_t kMostRead = 4'096;
constexpr std::size_t kMostRefused = 50;

}  // namespace

std::string shown_id(const Uuid& nonce) {
  return public_id(nonce, 16);
}

void Controller::mark_time() {
  const auto latest = registry_.log().latest();
  marks_.push_back({.up_to = latest, .at = std::chrono::system_clock::now()});
  if (marks_.size() > kMostMarks) marks_.pop_front();
}

WallTime Controller::time_of(std::uint64_t revision) const {
  const auto found = std::ranges::lower_bound(marks_, revision, {}, &Mark::up_to);
  return found == marks_.end() ? std::chrono::system_clock::now() : found->at;
}

// What was only loaded from the store has not come now.
std::optional<Step> Controller::step_of(std::uint64_t revision) const {
  const auto& entry = registry_.log().at(revision);
  if (entry.what == ChangeLog::What::changed ||
      (entry.what == ChangeLog::What::came && !entry.instance->verified))
    return std::nullopt;
  return Step{.revision = revision,
              .at = time_of(revision),
              .came = entry.what == ChangeLog::What::came,
              .instance = entry.instance};
}

News Controller::news(std::uint64_t since) const {
  News news;
  const std::scoped_lock lock(mutex_);
  const auto& log = registry_.log();
  news.revision = log.latest();
  news.complete = log.holds_since(since);
  if (!news.complete) return news;
  std::map<Place, const ChangeLog::Entry*> latest;
  for (auto revision = since + 1; revision <= news.revision; ++revision) {
    const auto& entry = log.at(revision);
    latest.insert_or_assign(entry.place, &entry);
    if (auto step = step_of(revision)) news.steps.push_back(*std::move(step));
  }
  for (const auto& [place, entry] : latest) {
    if (entry->what == ChangeLog::What::left) {
      news.gone.push_back(place);
    } else {
      news.put.push_back(entry->instance);
    }
  }
  return news;
}

std::vector<Step> Controller::recent(std::uint64_t until, std::size_t most) const {
  std::vector<Step> steps;
  const std::scoped_lock lock(mutex_);
  const auto& log = registry_.log();
  for (std::size_t read = 0; read < kMostRead && steps.size() < most && until > 0; ++read, --until) {
    if (until > log.latest() || !log.holds_since(until - 1)) break;
    if (auto step = step_of(until)) steps.push_back(*std::move(step));
  }
  std::ranges::reverse(steps);
  return steps;
}

Registry::Page Controller::listed(const std::optional<Place>& after, std::size_t most) const {
  const std::scoped_lock lock(mutex_);
  return registry_.page(after, most);
}

void Controller::note_refused(Refused refused) const {
  const std::scoped_lock lock(refused_mutex_);
  refused.number = ++refusals_;
  refused.at = std::chrono::system_clock::now();
  refused_.push_back(std::move(refused));
  if (refused_.size() > kMostRefused) refused_.pop_front();
}

std::vector<Refused> Controller::refused(std::uint64_t since) const {
  const std::scoped_lock lock(refused_mutex_);
  if (refusals_ == since) return {};
  return {refused_.begin(), refused_.end()};
}

}  // namespace mf::controller
