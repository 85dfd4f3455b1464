// Messages of clients, and those with versions.
#include <utility>

#include "replicated/replica.hpp"

namespace mf::replicated {

void Replica::receive_of_client(const Uuid& sender, Message&& message) {
  switch (message.kind()) {
    case Message::Kind::ask:
      return on_ask(sender, message.ask());
    case Message::Kind::submit:
      return on_submit(sender, message.submit().body);
    case Message::Kind::tagged:
      return on_tagged(sender, std::move(message.tagged()));
    case Message::Kind::direct:
      return on_direct(sender, message.direct().body);
    case Message::Kind::stamped:
      return on_stamped_by_client(sender, std::move(message.stamped()));
    default:
      return;
  }
}

void Replica::receive_of_member(const std::string& sender, Message&& message) {
  switch (message.kind()) {
    case Message::Kind::stamped:
      return hold(sender, std::move(message.stamped()));
    case Message::Kind::ack:
      return on_ack(sender, message.ack());
    case Message::Kind::numbered:
      return on_numbered(sender, message.numbered());
    case Message::Kind::prepare:
      return on_prepare(sender, message.prepare());
    case Message::Kind::report:
      return on_report(sender, message.report());
    case Message::Kind::pull:
      return on_pull(sender, message.pull());
    case Message::Kind::sync:
      return on_sync(sender, std::move(message.sync()));
    case Message::Kind::restore:
      return on_restore(sender, std::move(message.restore()));
    case Message::Kind::seal:
      return on_seal(sender, message.seal());
    case Message::Kind::sealed:
      return on_sealed(sender, message.sealed());
    case Message::Kind::recover:
      return on_recover(sender, message.recover());
    case Message::Kind::recovered:
      return on_recovered(sender, message.recovered());
    case Message::Kind::part:
      return on_part(sender, message.part());
    case Message::Kind::took:
      return on_took(sender, message.took());
    default:
      return;
  }
}

void Replica::on_ask(const Uuid& sender, const Ask& message) {
  if (leads_or_tells(sender)) std::shared_ptr(versioner_)->ask(sender, message.origin);
}

void Replica::on_submit(const Uuid& sender, const Body& body) {
  if (fits(sender, body) && leads_or_tells(sender)) std::shared_ptr(versioner_)->submit(sender, body);
}

void Replica::on_tagged(const Uuid& sender, Tagged&& message) {
  auto& body = message.body;
  if (!fits(sender, body)) return;
  if (message.tag == me_) return on_submit(sender, body);
  const auto key = key_of(body.origin);
  const auto seen = origins_.find(body.origin);
  const auto numbered = numbered_.take(key);
  if (seen) {
    hold(sender, {.entry = {.version = seen->version, .body = std::move(body)},
                  .under = promised_,
                  .then = {},
                  .applied = {}});
  } else if (numbered) {
    hold(sender, {.entry = {.version = numbered->version, .body = std::move(body)},
                  .under = numbered->under,
                  .then = {},
                  .applied = {}});
  } else if (!origins_.is_over(body.origin)) {
    tagged_.put(key, std::move(body), settings_.most_early);
  }
}

void Replica::on_direct(const Uuid& sender, const Body& body) {
  if (!fits(sender, body)) return;
  const auto& origin = body.origin;
  if (const auto seen = direct_.find(origin)) {
    if (seen->outcome) acknowledge_unversioned(origin, *seen->outcome);
    return;
  }
  if (direct_.is_over(origin)) return;
  if (jobs_.size() >= settings_.most_unapplied)
    return refuse(sender, origin, Code::overloaded, "the replica has too much to apply");
  const auto seen = direct_.add(origin, {});
  ask_servant(
      {.kind = Job::Kind::apply, .generation = generation_, .counter = 0, .seen = seen, .origin = origin},
      Apply{.version = {}, .body = body});
}

void Replica::on_stamped_by_client(const Uuid& sender, Stamped&& message) {
  if (message.entry.body && fits(sender, *message.entry.body)) hold(sender, std::move(message));
}

/// Whether a client's message is of the schema and of the client itself.
bool Replica::fits(const Uuid& sender, const Body& body) {
  if (!schemas_.contains(body.schema)) {
    refuse(sender, body.origin, Code::unavailable, "the replica does not know that schema, or not yet");
    return false;
  }
  return sender == body.origin.client;
}

/// Whether this one gives out the versions; if not, the client is told who does.
bool Replica::leads_or_tells(const PeerId& client) {
  if (leads()) return true;
  if (leader_ && leader_->member != me_) send(client, Message::of_leading(*leader_));
  return false;
}

void Replica::hold(const PeerId& sender, Stamped message) {
  if (message.under != promised_) return;
  const auto counter = message.entry.version.counter;
  const auto head = log_.counter();
  if (counter > head) {
    if (sealed_.contains(counter) && std::holds_alternative<Uuid>(sender)) return;
    if (counter == head + 1 || early_.size() < settings_.most_early) {
      early_.insert_or_assign(counter, Early{.sender = sender, .message = std::move(message)});
      if (counter == head + 1) drain();
    }
  } else if (is_normal()) {
    const auto* const held = log_.head_at(counter);
    if (held == nullptr || held->version == message.entry.version) owe(counter, std::move(message));
  }
}

void Replica::on_numbered(const std::string& sender, const Numbered& message) {
  const auto key = key_of(message.origin);
  if (auto body = tagged_.take(key)) {
    hold(sender, {.entry = {.version = message.version, .body = std::move(body)},
                  .under = message.under,
                  .then = {},
                  .applied = {}});
  } else if (message.under == promised_) {
    numbered_.put(key, message, settings_.most_early);
  }
}

void Replica::on_ack(const std::string& sender, const Ack& message) {
  const auto versioner = versioner_;
  if (versioner && message.applied.size() == 1 && message.applied.front() == sender)
    versioner->acknowledged(message);
}

}  // namespace mf::replicated
