// The controller's functions for clients and tools: current entries, and changes.

#include <utility>

#include "controller/feeds.hpp"

namespace mf::controller {
namespace {

/// Limits of one answer of find().
constexpr std::size_t kMostFound = 1'000;
constexpr std::size_t kMostFoundBytes = std::size_t{4} << 20;
/// Connections that only watch are pinged at a slower pace than those of registered processes.
constexpr int kSlower = 10;

}  // namespace

void Controller::watch(ControllerWatchRequest request, StreamWriter<Change> out, Responder<void> responder) {
  if (options_.dead_after.count() != 0) current_call().keep_alive(options_.dead_after * kSlower);
  if (auto no = denied(request.what)) return responder.respond(*std::move(no));
  std::shared_ptr<Watch> watch;
  std::optional<Failure> refusal;
  Work work;
  {
    const std::scoped_lock lock(mutex_);
    watch = std::make_shared<Watch>(
        std::move(out), std::move(responder),
        Cursor(std::move(request.what), run_, request.run, request.revision, registry_.log()));
    refusal = no_stream(watch->connection);
    if (!refusal) {
      enter(watch);
      watches_.emplace(watch->id, watch);
      index_.add(watch->cursor.filter(), watch->id);
      go_on(watch, work);
    }
  }
  if (refusal) return watch->responder.respond(*refusal);
  await_end(watch);
  do_all(work);
}

// A watcher that has everything up to `before` continues from there; one that is behind catches up by itself.
void Controller::spread(std::uint64_t before, Work& work) {
  const ChangeLog& log = registry_.log();
  if (log.latest() == before) return;
  mark_time();
  if (closed_) return;
  if (!log.holds_since(before)) {  // too many at once: each watcher checks by itself
    for (const auto& [id, watch] : watches_) go_on(watch, work);
    return;
  }
  std::set<Id> concerned;
  for (auto revision = before + 1; revision <= log.latest(); ++revision)
    index_.find(log.at(revision).place.key, concerned);
  for (const Id id : concerned) {
    const auto& watch = watches_.at(id);
    watch->cursor.wake(before);
    go_on(watch, work);
  }
}

void Controller::find(ControllerFindRequest request, Responder<Found> responder) {
  if (auto no = denied(request.what)) return responder.respond(*std::move(no));
  Found found;
  {
    const std::scoped_lock lock(mutex_);
    const auto page = registry_.page(request.what, std::nullopt, kMostFound, kMostFoundBytes);
    found.instances.reserve(page.instances.size());
    for (const auto& instance : page.instances) found.instances.push_back(*instance);
    found.more = page.last.has_value();
  }
  responder.respond(std::move(found));
}

void Controller::list(ControllerListRequest /*request*/, StreamWriter<Entry> out, Responder<void> responder) {
  if (auto no = denied(access::Wish{.action = access::Action::list}))
    return responder.respond(*std::move(no));
  const auto listing = std::make_shared<Listing>(std::move(out), std::move(responder));
  Work work;
  std::optional<Failure> refusal;
  {
    const std::scoped_lock lock(mutex_);
    refusal = no_stream(listing->connection);
    if (!refusal) {
      enter(listing);
      go_on(listing, work);
    }
  }
  if (refusal) return listing->responder.respond(*refusal);
  await_end(listing);
  do_all(work);
}

}  // namespace mf::controller
