#include "http/catalogue.hpp"

#include "mf/relay/relay.hpp"

namespace mf::http {

void Catalogue::find(Found found) {
  if (asked_at_ != TimePoint() && missing_ == 0 && mf::now() < asked_at_ + kKeptFor) return found(names_);
  waiting_.push_back(std::move(found));
  if (missing_ != 0) return;
  asked_at_ = mf::now();
  missing_ = 2;
  if (!client_) client_.emplace(relay_->controller_client(reactor_));
  ask(false);
  ask(true);
}

void Catalogue::ask(bool topics) {
  const controller::ControllerClient stub(*client_);
  const controller::Filter all{.kind = topics ? controller::KeyKind::topic : controller::KeyKind::service,
                               .name = "*",
                               .agent = std::nullopt};
  stub.async_find(
      all, {.deadline = kAnswerWithin},
      [this, weak = std::weak_ptr(alive_), post = post_, topics](Outcome<controller::Found> outcome) mutable {
        post([this, weak, topics, outcome = std::move(outcome)] {
          if (!weak.expired()) on_names(topics, outcome);
        });
      });
}

void Catalogue::on_names(bool topics, const Outcome<controller::Found>& outcome) {
  if (outcome.ok()) {
    std::erase_if(names_, [&](const auto& name) { return name.first == topics; });
    std::size_t count = 0;
    for (const auto& instance : outcome.value().instances) {  // sorted by name
      const auto& name = instance.offer.key.name;
      if (name.starts_with("mf.") || names_.contains({topics, name})) continue;
      if (++count > kMost) break;
      names_.emplace(topics, name);
    }
  }
  if (--missing_ != 0) return;
  for (auto& each : std::exchange(waiting_, {})) each(names_);
}

void Catalogue::close() {
  waiting_.clear();
  client_.reset();
}

}  // namespace mf::http
