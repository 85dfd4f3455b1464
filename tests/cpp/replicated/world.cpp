#include "replicated/world.hpp"

#include <algorithm>
#include <map>

namespace mf::replicated::testing {
namespace {

constexpr double kTick = 0.05;

PeerId member(const std::string& name) {
  return PeerId(name);
}

std::string shown(const PeerId& peer) {
  return std::holds_alternative<Uuid>(peer) ? "client" : std::get<std::string>(peer);
}

std::string shown(const Version& version) {
  return std::to_string(version.epoch) + "." + std::to_string(version.counter);
}

/// What a snapshot of the servant is here: how often it was taken.
struct Snapshot {
  std::vector<Made> state;
  Version at;
};

Bytes as_bytes(const Process& process) {
  std::vector<std::byte> bytes;
  const auto put = [&](std::uint64_t number) {
    for (unsigned i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(number >> (8 * i)));
  };
  put(process.at.epoch);
  put(process.at.counter);
  for (const auto& [client, sequence] : process.state) {
    for (const auto byte : client.bytes) bytes.push_back(static_cast<std::byte>(byte));
    put(sequence);
  }
  return bytes;
}

void restore(Process& process, const std::optional<Bytes>& snapshot) {
  process.state.clear();
  process.held.clear();
  process.at = {};
  if (!snapshot) return;
  const auto* from = snapshot->data();
  const auto take = [&] {
    std::uint64_t number = 0;
    for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<std::uint8_t>(*from++)} << (8 * i);
    return number;
  };
  process.at.epoch = take();
  process.at.counter = take();
  while (from != snapshot->end()) {
    Uuid client;
    for (auto& byte : client.bytes) byte = static_cast<std::uint8_t>(*from++);
    process.state.emplace_back(client, take());
    process.held.insert(process.state.back());
  }
}

}  // namespace

Uuid uuid(std::uint64_t number) {
  Uuid made;
  for (unsigned i = 0; i < 8; ++i) made.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return made;
}

std::string kind_of(const Message& message) {
  static const std::map<Message::Kind, std::string> names{{Message::Kind::ask, "Ask"},
                                                          {Message::Kind::submit, "Submit"},
                                                          {Message::Kind::tagged, "Tagged"},
                                                          {Message::Kind::direct, "Direct"},
                                                          {Message::Kind::stamped, "Stamped"},
                                                          {Message::Kind::leading, "Leading"},
                                                          {Message::Kind::given, "Given"},
                                                          {Message::Kind::ack, "Ack"},
                                                          {Message::Kind::refused, "Refused"},
                                                          {Message::Kind::numbered, "Numbered"},
                                                          {Message::Kind::prepare, "Prepare"},
                                                          {Message::Kind::report, "Report"},
                                                          {Message::Kind::pull, "Pull"},
                                                          {Message::Kind::sync, "Sync"},
                                                          {Message::Kind::restore, "Restore"},
                                                          {Message::Kind::seal, "Seal"},
                                                          {Message::Kind::sealed, "Sealed"},
                                                          {Message::Kind::recover, "Recover"},
                                                          {Message::Kind::recovered, "Recovered"},
                                                          {Message::Kind::part, "Part"},
                                                          {Message::Kind::took, "Took"}};
  return names.at(message.kind());
}

std::optional<Origin> origin_of(const Message& message) {
  if (message.is_ask()) return message.ask().origin;
  if (message.is_submit()) return message.submit().body.origin;
  if (message.is_tagged()) return message.tagged().body.origin;
  if (message.is_direct()) return message.direct().body.origin;
  if (message.is_stamped() && message.stamped().entry.body) return message.stamped().entry.body->origin;
  return std::nullopt;
}

World::World() : World(Options{}) {}

World::World(Options options) : options_(options), random_(options.seed) {
  const std::vector<std::string> all{"a", "b", "c", "d", "e"};
  names_.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(options.members));
  for (const auto& name : names_) start(name);
  at(kTick, [this] { tick(); });
}

// Time

void World::at(double delay, std::function<void()> what) {
  const auto when = now_ + std::chrono::duration_cast<TimePoint::duration>(Seconds(delay));
  events_.push(
      {.when = when, .number = ++count_, .what = std::make_shared<std::function<void()>>(std::move(what))});
}

bool World::step(TimePoint end) {
  if (events_.empty() || events_.top().when > end) return false;
  const auto event = events_.top();
  events_.pop();
  now_ = event.when;
  (*event.what)();
  return true;
}

void World::run(double seconds) {
  const auto end = now_ + std::chrono::duration_cast<TimePoint::duration>(Seconds(seconds));
  while (step(end)) {
  }
  now_ = end;
}

bool World::run_until(const std::function<bool()>& holds, double within) {
  const auto end = now_ + std::chrono::duration_cast<TimePoint::duration>(Seconds(within));
  while (!holds()) {
    if (!step(end)) return false;
  }
  return true;
}

double World::uniform(double least, double most) {
  return least + (most - least) * (static_cast<double>(random_() >> 11U) * 0x1.0p-53);
}

std::size_t World::below(std::size_t count) {
  return static_cast<std::size_t>(random_() % count);
}

void World::tick() {
  at(kTick, [this] { tick(); });
  for (const auto& [name, process] : std::map(processes)) {
    if (is_paused(*process)) continue;
    process->replica.tick(now_);
    effects(process);
  }
  for (const auto& [id, caller] : callers) {
    caller->tick(now_);
    client_effects(*caller);
  }
}

// Processes

void World::start(const std::string& name) {
  const auto process = std::shared_ptr<Process>(new Process{
      .name = name,
      .replica = Replica(name, names_, uuid(7), uuid(++lives_), options_.can_snapshot, options_.settings)});
  processes[name] = process;
  for (const auto& [other, there] : processes) {
    if (other != name) link(name, member(other));
  }
  for (const auto& [client, caller] : callers) link(name, client);
  ask_for_lead(name);
}

void World::kill(const std::string& name) {
  const auto process = processes.at(name);
  processes.erase(name);
  process->alive = false;
  for (const auto& [other, there] : std::map(processes)) unlink_one(member(other), member(name));
  for (const auto& [client, caller] : callers) caller->disconnected(name);
  lose_lead(process, 0.05);
}

void World::pause(const std::string& name, double seconds) {
  auto& until = processes.at(name)->paused_until;
  until = std::max(until, now_ + std::chrono::duration_cast<TimePoint::duration>(Seconds(seconds)));
}

void World::when_it_goes_on(const Process& process, std::function<void()> what) {
  at(std::chrono::duration_cast<Seconds>(process.paused_until - now_).count(), std::move(what));
}

Caller& World::client() {
  const auto id = uuid(1000 + callers.size());
  auto& caller = callers[id] = std::make_unique<Caller>(id, names_, uuid(7));
  for (const auto& [name, process] : processes) link(name, id);
  return *caller;
}

std::uint64_t World::call(Caller& caller, Pattern pattern, Require require, double timeout,
                          std::string payload) {
  const auto deadline = now_ + std::chrono::duration_cast<TimePoint::duration>(Seconds(timeout));
  const auto sequence = caller.start("put", Bytes(std::move(payload)), pattern, require, deadline, now_);
  begun[{caller.client(), sequence}] = require;
  client_effects(caller);
  return sequence;
}

void World::give_up(Caller& caller) {
  for (auto each = begun.begin(); each != begun.end();) {
    if (each->first.first == caller.client() && !results.contains(each->first)) {
      caller.cancel(each->first.second);
      each = begun.erase(each);
    } else {
      ++each;
    }
  }
}

// The network

bool World::is_cut(const PeerId& one, const PeerId& other) const {
  return cut_.contains({one, other}) || cut_.contains({other, one});
}

void World::partition(const std::vector<std::pair<PeerId, PeerId>>& pairs) {
  for (const auto& [one, other] : pairs) {
    if (one == other || is_cut(one, other)) continue;
    cut_.insert({one, other});
    unlink_one(one, other);
    unlink_one(other, one);
  }
}

void World::heal() {
  for (auto [one, other] : std::exchange(cut_, {})) {
    if (std::holds_alternative<Uuid>(one)) std::swap(one, other);
    const auto& name = std::get<std::string>(one);
    if (!processes.contains(name)) continue;
    if (std::holds_alternative<Uuid>(other) || processes.contains(std::get<std::string>(other)))
      link(name, other);
  }
}

void World::link(const std::string& member, const PeerId& other) {
  if (!is_cut(member, other)) at(delay(), [this, member, other] { connect(member, other); });
}

void World::connect(const std::string& name, const PeerId& other) {
  const auto found = processes.find(name);
  if (found == processes.end() || is_cut(name, other)) return;
  const auto process = found->second;
  if (const auto* const client = std::get_if<Uuid>(&other)) {
    auto& caller = *callers.at(*client);
    process->replica.connected(other, now_);
    caller.connected(name, now_);
    client_effects(caller);
  } else if (const auto there = processes.find(std::get<std::string>(other)); there != processes.end()) {
    process->replica.connected(other, now_);
    there->second->replica.connected(member(name), now_);
    effects(there->second);
  }
  effects(process);
}

void World::unlink_one(const PeerId& one, const PeerId& other) {
  if (const auto* const client = std::get_if<Uuid>(&one)) {
    callers.at(*client)->disconnected(std::get<std::string>(other));
  } else if (const auto found = processes.find(std::get<std::string>(one)); found != processes.end()) {
    found->second->replica.disconnected(other, now_);
  }
}

void World::send(const PeerId& source, const PeerId& to, const Message& message) {
  sent.emplace_back(shown(source), shown(to), kind_of(message));
  if (watch) watch(source, to, message);
  if (const auto* const client = std::get_if<Uuid>(&source)) {
    check_origin(*client, message);
  } else if (message.is_refused()) {
    const auto code = static_cast<Code>(message.refused().code);
    if (code != Code::overloaded && code != Code::unavailable)
      throw Broken(shown(source) + " refuses an honest client's message for good: " + message.refused().text);
  }
  if (is_cut(source, to) || uniform(0, 1) < options_.network.lost) return;
  const int times = uniform(0, 1) < options_.network.repeated ? 2 : 1;
  std::shared_ptr<Process> receiver;
  if (const auto* const name = std::get_if<std::string>(&to)) {
    if (const auto found = processes.find(*name); found != processes.end()) receiver = found->second;
  }
  for (int i = 0; i < times; ++i)
    at(delay(), [this, source, to, receiver, message] { arrive(source, to, receiver, message); });
}

/// Checks what must hold each time that a client sends a message of its own.
void World::check_origin(const Uuid& source, const Message& message) {
  const auto origin = origin_of(message);
  if (!origin) return;
  const auto shown_origin =
      "message " + std::to_string(origin->sequence) + " with " + std::to_string(origin->oldest);
  if (origin->client != source) throw Broken("a client sends another one's " + shown_origin);
  if (origin->oldest > origin->sequence || origin->sequence - origin->oldest >= kMostAhead)
    throw Broken(shown_origin + " is too far ahead");
  if (origins.emplace(Made(source, origin->sequence), origin->oldest).first->second != origin->oldest)
    throw Broken(shown_origin + " was sent with another one before");
}

void World::arrive(const PeerId& source, const PeerId& to, const std::shared_ptr<Process>& receiver,
                   const Message& message) {
  if (is_cut(source, to)) return;
  if (receiver && is_paused(*receiver))
    return when_it_goes_on(*receiver,
                           [this, source, to, receiver, message] { arrive(source, to, receiver, message); });
  if (const auto* const client = std::get_if<Uuid>(&to)) {
    auto& caller = *callers.at(*client);
    caller.receive(std::get<std::string>(source), message, now_);
    client_effects(caller);
  } else if (receiver && receiver->alive) {
    receiver->replica.receive(source, message, now_);
    effects(receiver);
  }
}

// Effects

void World::client_effects(Caller& caller) {
  for (auto& effect : caller.take()) {
    if (auto* const send_it = std::get_if<SendTo>(&effect)) {
      send(caller.client(), member(send_it->member), send_it->message);
      continue;
    }
    auto& done = std::get<Done>(effect);
    if (!results.emplace(Made(caller.client(), done.sequence), std::move(done.result)).second)
      throw Broken("call " + std::to_string(done.sequence) + " ended twice");
  }
}

void World::effects(const std::shared_ptr<Process>& process) {
  for (auto& effect : process->replica.take()) {
    if (auto* const send_it = std::get_if<Send>(&effect)) {
      if (process->alive) send(member(process->name), send_it->to, send_it->message);
    } else if (std::holds_alternative<Resign>(effect)) {
      lose_lead(process, 0.0);
      ask_for_lead(process->name);
    } else if (const auto* const distrust = std::get_if<Distrust>(&effect)) {
      throw Broken(process->name + " does not take what " + distrust->member +
                   " has sent: " + distrust->reason);
    } else if (const auto* const reason = std::get_if<Stuck>(&effect)) {
      stuck.push_back(process->name + ": " + reason->reason);
    } else {
      process->jobs.push_back(std::move(effect));
    }
  }
  if (!process->jobs.empty() && !std::exchange(process->busy, true))
    at(uniform(0, options_.applying), [this, process] { work(process); });
  else if (process->jobs.empty())
    return;
}

/// One of the servant's jobs.
void World::work(const std::shared_ptr<Process>& process) {
  if (is_paused(*process)) return when_it_goes_on(*process, [this, process] { work(process); });
  process->busy = false;
  if (!process->alive) return;
  const auto job = std::move(process->jobs.front());
  process->jobs.pop_front();
  Outcome outcome;
  if (const auto* const apply = std::get_if<Apply>(&job)) {
    applied(*process, apply->version, apply->body.origin);
    outcome.payload = apply->body.payload;
  } else if (const auto* const state = std::get_if<RestoreState>(&job)) {
    restore(*process, state->snapshot);
  } else {
    outcome.payload = as_bytes(*process);
  }
  process->replica.done(std::move(outcome), now_);
  effects(process);
}

/// What must hold each time that a servant applies a message.
void World::applied(Process& process, const Version& version, const Origin& origin) {
  const Made made(origin.client, origin.sequence);
  if (version != Version{}) {
    if (version <= process.at)
      throw Broken(process.name + " applies " + shown(version) + " behind " + shown(process.at));
    if (contents.emplace(version, made).first->second != made)
      throw Broken("two messages have the version " + shown(version));
    process.at = version;
  }
  if (!process.held.insert(made).second)
    throw Broken(process.name + " applies a message twice: " + std::to_string(origin.sequence));
  process.state.push_back(made);
}

// The controller

void World::ask_for_lead(const std::string& name) {
  if (std::find(queue_.begin(), queue_.end(), name) == queue_.end()) queue_.push_back(name);
  if (!leader) at(0.01 + delay(), [this] { grant(); });
}

void World::grant() {
  while (!leader && !queue_.empty()) {
    const auto name = queue_.front();
    queue_.erase(queue_.begin());
    const auto found = processes.find(name);
    if (found == processes.end()) continue;
    leader = found->second;
    leader->replica.lead(++epoch_, now_);
    effects(std::shared_ptr(leader));
  }
}

void World::take_lead_away(double unnoticed_for) {
  const auto process = std::exchange(leader, nullptr);
  if (!process) return;
  at(0.01, [this] { grant(); });
  at(unnoticed_for, [this, process] {
    if (process->alive) ask_for_lead(process->name);
  });
}

void World::lose_lead(const std::shared_ptr<Process>& process, double delay) {
  if (leader != process) return;
  leader.reset();
  at(delay + 0.01, [this] { grant(); });
}

// What is asked in tests

bool World::ready() const {
  return leader && leader->replica.leads() &&
         std::all_of(processes.begin(), processes.end(), [&](const auto& each) {
           return each.second->replica.is_normal() && each.second->replica.normal() == epoch_;
         });
}

bool World::settled() const {
  if (!ready()) return false;
  const auto& first = *processes.begin()->second;
  return std::all_of(processes.begin(), processes.end(), [&](const auto& each) {
    const auto& process = *each.second;
    return process.replica.log().head() == first.replica.log().head() && process.jobs.empty() &&
           !process.busy;
  });
}

void World::calm() {
  options_.network.lost = options_.network.repeated = 0.0;
  heal();
  for (const auto& name : names_) {
    if (!processes.contains(name)) start(name);
  }
}

std::string World::describe() const {
  std::string text =
      std::to_string(results.size()) + " of " + std::to_string(begun.size()) + " calls have ended";
  for (const auto& [name, process] : processes) {
    const auto& replica = process->replica;
    text += "\n" + name + ": promised " + std::to_string(replica.promised()) + ", normal " +
            std::to_string(replica.normal()) + ", head " + shown(replica.log().head().version) +
            ", applied " + std::to_string(replica.applied()) + (replica.leads() ? ", leads" : "");
  }
  return text;
}

}  // namespace mf::replicated::testing
