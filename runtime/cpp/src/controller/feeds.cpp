#include "controller/feeds.hpp"

#include "controller/secret.hpp"

namespace mf::controller {
namespace {

/// The entries of a listing that are read under the lock at a time.
constexpr std::size_t kPage = 256;

}  // namespace

UniqueFunction<void(Controller::Feed::Written)> Controller::Registration::next(Controller& controller) {
  if (told && warnings.empty()) return nullptr;
  told = true;
  Standing standing;
  standing.lease = controller.options_.lease;
  standing.cluster = controller.cluster_;
  standing.run = controller.run_;
  standing.warnings = std::exchange(warnings, {});
  return writes(writer, std::move(standing));
}

void Controller::Registration::on_end(Controller& controller, Work& work) {
  const auto found = controller.registrations_.find(nonce);
  if (found == controller.registrations_.end() || found->second.get() != this) return;  // it was replaced
  controller.registrations_.erase(found);
  if (doubted) {
    controller.doubt(nonce, work);
  } else {
    controller.forget(nonce, work);
  }
}

UniqueFunction<void(Controller::Feed::Written)> Controller::Watch::next(Controller& controller) {
  auto change = cursor.next(controller.registry_);
  if (!change) return nullptr;
  return writes(writer, std::move(*change));
}

void Controller::Watch::on_end(Controller& controller, Work& /*work*/) {
  controller.watches_.erase(id);
  controller.index_.remove(cursor.filter(), id);
}

UniqueFunction<void(Controller::Feed::Written)> Controller::Candidate::next(Controller& /*controller*/) {
  if (!given) return nullptr;
  return writes(writer, *std::exchange(given, std::nullopt));
}

void Controller::Candidate::on_end(Controller& controller, Work& work) {
  controller.candidates_.erase(id);
  controller.candidacies_.remove(nonce, host);
  controller.election_.remove(key, id);
  controller.give_up_lead(*this, work);
  controller.ask_for_leads(work);
}

UniqueFunction<void(Controller::Feed::Written)> Controller::Listing::next(Controller& controller) {
  if (page.empty() && !last_page) {
    auto next_page = controller.registry_.page(after, kPage);
    page.assign(next_page.instances.begin(), next_page.instances.end());
    last_page = !next_page.last;
    after = std::move(next_page.last);
  }
  if (page.empty()) {
    ends_when_written = true;
    return nullptr;
  }
  const auto instance = std::move(page.front());
  page.pop_front();
  Entry entry;
  entry.offer = instance->offer;
  entry.instance = public_id(instance->instance);
  entry.process = instance->process;
  entry.verified = instance->verified;
  if (const auto of = controller.registrations_.find(instance->instance);
      of != controller.registrations_.end())
    entry.peer = of->second->peer;
  return writes(writer, std::move(entry));
}

}  // namespace mf::controller
