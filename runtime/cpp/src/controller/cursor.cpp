#include "mf/controller/cursor.hpp"

#include <map>
#include <utility>

namespace mf::controller {
namespace {

constexpr std::size_t kMostScanned = 65'536;

}  // namespace

Cursor::Cursor(Filter filter, std::uint64_t run, std::uint64_t seen_run, std::uint64_t revision,
               const ChangeLog& log)
    : filter_(std::move(filter)), run_(run), seen_(revision) {
  in_snapshot_ = begins_ = seen_run != run || !log.holds_since(revision);
}

std::optional<Change> Cursor::next(const Registry& registry) {
  idle_ = false;
  const ChangeLog& log = registry.log();
  if (!log.holds_since(seen_) && !begins_) {
    in_snapshot_ = begins_ = true;
    page_after_.reset();
  }
  if (in_snapshot_) return snapshot(registry);
  Change change;
  change.run = run_;
  const bool found = changes(log, change);
  if (!found && !std::exchange(first_, false)) {
    idle_ = true;
    return std::nullopt;
  }
  first_ = false;
  change.revision = seen_;
  return change;
}

Change Cursor::snapshot(const Registry& registry) {
  Change change;
  change.run = run_;
  change.snapshot = std::exchange(begins_, false);
  if (change.snapshot) seen_ = registry.log().latest();
  change.revision = seen_;
  auto page = registry.page(filter_, page_after_, kMostInstances, kMostBytes);
  change.put.reserve(page.instances.size());
  for (const auto& instance : page.instances) change.put.push_back(*instance);
  change.more = page.last.has_value();
  page_after_ = std::move(page.last);
  in_snapshot_ = change.more;
  first_ = false;
  return change;
}

bool Cursor::changes(const ChangeLog& log, Change& change) {
  std::map<Place, const ChangeLog::Entry*> latest;  // the latest entry of each place
  std::size_t bytes = 0;
  for (std::size_t scanned = 0; seen_ < log.latest() && scanned < kMostScanned; ++scanned) {
    if (latest.size() >= kMostInstances || bytes >= kMostBytes) break;
    const auto& entry = log.at(++seen_);
    if (!matches(filter_, entry.place.key)) continue;
    latest.insert_or_assign(entry.place, &entry);
    bytes += entry.bytes;
  }
  for (const auto& [place, entry] : latest) {
    if (entry->what == ChangeLog::What::left) {
      change.gone.push_back({place.key, place.instance});
    } else {
      change.put.push_back(*entry->instance);
    }
  }
  return !latest.empty();
}

}  // namespace mf::controller
