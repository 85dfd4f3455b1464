#include "replicated/replication.hpp"

#include <functional>
#include <set>
#include <utility>

#include "mf/core/agent_text.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/random.hpp"
#include "mf/link/waiter.hpp"
#include "mf/replication.client.hpp"

namespace mf::replicated {
namespace {

using Group = replication::methods::ReplicaGroup;

/// To be called in a catch block, for an exception that no handler has thrown.
Failure broken() {
  auto failure = Failure::from_current_exception();
  if (failure.code == Code::handler_failed) failure.code = Code::internal;
  return failure;
}

Failure closed() {
  return may_have_run(Code::cancelled, "the client was closed");
}

}  // namespace

std::string group_agent(std::string_view service, std::string_view agent) {
  return std::string(service) + "|" + std::string(agent) + "|";
}

struct Replication::Link {
  std::string member;
  std::shared_ptr<OutgoingLink> out;
  OneAtATime reading;
};

/// A call whose end a caller waits for. Ends once.
struct Replication::Waiter {
  using Stopping = std::stop_callback<std::function<void()>>;

  std::shared_ptr<Replication> of;  // which lives as long as it has calls
  Request request;
  Callback<Finished> done;
  std::optional<std::uint64_t> sequence{};  // once the machine has it
  bool over = false;
  std::vector<std::unique_ptr<Stopping>> stopping{};
};

struct Replication::Sending {
  std::shared_ptr<Link> link;
  Message message;
};

/// What the machine has asked for.
struct Replication::Work {
  std::vector<Sending> messages;
  std::vector<std::pair<std::shared_ptr<Waiter>, mf::Outcome<Finished>>> ended;
};

Replication::Replication(std::shared_ptr<client::Core> core, const ServiceInfo& service,
                         const std::string& agent)
    : core_(std::move(core)), service_(service), base_(group_agent(service.name, agent)) {}

client::Target Replication::replicas(std::string_view agent) const {
  return client::Target(core_, replication::methods::kReplicaService).at(agent).past();
}

void Replication::start(Request&& request, const std::vector<std::stop_token>& stop,
                        Callback<Finished>&& done) {
  const auto waiter = std::make_shared<Waiter>();
  waiter->of = shared_from_this();
  waiter->request = std::move(request);
  waiter->done = std::move(done);
  stop_with(waiter, stop);
  bool known = false;
  {
    const std::scoped_lock lock(mutex_);
    if (waiter->over) return;
    known = caller_.has_value();
  }
  if (known) return begin_call(waiter);
  CallOptions options;
  options.deadline = waiter->request.deadline == kNever ? kInfinite : waiter->request.deadline - mf::now();
  client::start<Group>(replicas(base_), options,
                       [self = shared_from_this(), waiter](mf::Outcome<replication::Group>&& group) {
                         self->begin(waiter, std::move(group));
                       });
}

/// The first call of a group has asked which its members are.
void Replication::begin(const std::shared_ptr<Waiter>& waiter, mf::Outcome<replication::Group>&& group) {
  if (!group) return end(waiter, group.failure());
  try {
    if (auto refused = adapt(group.value())) return end(waiter, std::move(*refused));
    begin(group.value());
    begin_call(waiter);
  } catch (...) {
    end(waiter, broken());
  }
}

void Replication::stop_with(const std::shared_ptr<Waiter>& waiter, const std::vector<std::stop_token>& stop) {
  std::vector<std::unique_ptr<Waiter::Stopping>> stopping;
  for (const auto& each : stop) {
    if (!each.stop_possible()) continue;
    stopping.push_back(
        std::make_unique<Waiter::Stopping>(each, [weak = std::weak_ptr(waiter), of = weak_from_this()] {
          const auto call = weak.lock();
          const auto self = of.lock();
          if (call && self) self->end(call, cancelled_by_caller(Execution::unknown));
        }));
  }
  // One that has ended meanwhile needs none, and they must not go under the lock: another thread's may run.
  const std::scoped_lock lock(mutex_);
  if (!waiter->over) waiter->stopping.swap(stopping);
}

/// To the schema of the replicas, if that is another one.
std::optional<Failure> Replication::adapt(const replication::Group& group) {
  const auto& theirs = group.schemas.front();
  if (link::fingerprint_of(theirs.descriptor) == service_.fingerprint) return std::nullopt;
  const auto peer = "the replicas of " + std::string(service_.name);
  const auto refused = [&](const std::string& why) {
    return not_executed(Code::schema_mismatch, "schemas differ from " + peer + ": " + why);
  };
  std::string why;
  auto adaptation =
      link::adaptation_to(service_, {.text = theirs.descriptor, .annex = theirs.annex}, peer, why);
  if (adaptation == nullptr) return refused(why);
  if (!adaptation->refusal().empty()) return refused(adaptation->refusal());
  const std::scoped_lock lock(mutex_);
  if (!caller_) adapted_.emplace(std::move(adaptation));
  return std::nullopt;
}

/// Who its members are is known.
void Replication::begin(const replication::Group& group) {
  const auto& members = group.members;
  std::vector<std::shared_ptr<Link>> links;
  {
    const std::scoped_lock lock(mutex_);
    if (caller_ || closed_) return;
    caller_.emplace(random_uuid(), members, schema_of(adapted_ ? adapted_->service() : service_));
    replication::Peer peer;
    peer.client = caller_->client();
    for (const auto& member : std::set<std::string>(members.begin(), members.end())) {
      const auto link = std::make_shared<Link>();
      link->member = member;
      const auto with_self = [weak = weak_from_this()](const auto& what) {
        if (const auto self = weak.lock()) what(*self);
      };
      link->out = std::make_shared<OutgoingLink>(
          core_, replicas(base_ + member), peer,
          OutgoingLink::Events{
              .opened = [=] { with_self([&](Replication& self) { self.on_opened(member); }); },
              .readable =
                  [with_self, of = std::weak_ptr(link)] {
                    with_self([&](Replication& self) {
                      if (const auto from = of.lock()) self.on_readable(*from);
                    });
                  },
              .closed = [=] { with_self([&](Replication& self) { self.on_closed(member); }); }});
      links_.emplace(member, link);
      links.push_back(link);
    }
  }
  for (const auto& link : links) link->out->begin();
}

void Replication::begin_call(const std::shared_ptr<Waiter>& waiter) {
  bool was_closed = false;
  auto& asked = waiter->request;
  if (adapted_)
    if (auto refused = adapted_->request(asked.index, asked.method, asked.payload))
      return end(waiter, std::move(*refused));
  {
    const std::scoped_lock lock(mutex_);
    if (waiter->over) return;
    was_closed = closed_ || !caller_;
    if (!was_closed) {
      auto& request = waiter->request;
      waiter->sequence = caller_->start(std::string(request.method), std::move(request.payload),
                                        request.pattern, request.require, request.deadline, mf::now());
      waiting_.emplace(*waiter->sequence, waiter);
    }
  }
  if (was_closed) return end(waiter, closed());
  carry_out();
  tick_later();
}

/// By the machine, or without it. A call that the machine does not know yet was not executed.
void Replication::end(const std::shared_ptr<Waiter>& waiter, mf::Outcome<Finished>&& outcome) noexcept {
  std::vector<std::unique_ptr<Waiter::Stopping>> stopping;  // not destroyed under the lock: one may run
  bool began = false;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(waiter->over, true)) return;
    stopping.swap(waiter->stopping);
    began = waiter->sequence.has_value();
    if (began) {
      caller_->cancel(*waiter->sequence);
      waiting_.erase(*waiter->sequence);
    }
  }
  try {
    if (!began && !outcome) {
      auto failure = outcome.failure();
      failure.execution = Execution::not_executed;
      outcome = std::move(failure);
    }
    std::exchange(waiter->done, nullptr)(std::move(outcome));
  } catch (...) {
    log_escaped_exception(core_->options().log, "what awaits a replicated call");
  }
}

void Replication::on_opened(const std::string& member) {
  {
    const std::scoped_lock lock(mutex_);
    caller_->connected(member, mf::now());
  }
  carry_out();
}

void Replication::on_closed(const std::string& member) {
  const std::scoped_lock lock(mutex_);
  caller_->disconnected(member);
}

/// Reads what has arrived on one link. It may become readable again meanwhile, or within next().
void Replication::on_readable(Link& from) noexcept {
  from.reading.ask([&] {
    try {
      read(from);
    } catch (...) {
      log_escaped_exception(core_->options().log, "reading from a replica");
      from.out->reopen();
    }
    carry_out();
  });
}

void Replication::read(Link& from) {
  for (Message message; from.out->next(message);) {
    const std::scoped_lock lock(mutex_);
    caller_->receive(from.member, message, mf::now());
  }
}

/// Carries out all that the machine asks for.
void Replication::carry_out() noexcept {
  carrying_out_.ask([&] {
    for (;;) {
      try {
        auto work = take_work();
        if (!work) return;
        send(work->messages);
        for (auto& [waiter, outcome] : work->ended) end(waiter, std::move(outcome));
      } catch (...) {
        log_escaped_exception(core_->options().log, "replicated calls");
        fail_all();
      }
    }
  });
}

/// The effects that the machine wants; nothing if there are none. Calls stay in `waiting_` until they are
/// ended, so that an exception loses none.
std::optional<Replication::Work> Replication::take_work() {
  Work work;
  const std::scoped_lock lock(mutex_);
  auto effects = caller_->take();
  if (effects.empty()) return std::nullopt;
  for (auto& effect : effects) {
    if (auto* const message = std::get_if<SendTo>(&effect)) {
      const auto link = links_.find(message->member);
      if (link != links_.end()) work.messages.push_back({link->second, std::move(message->message)});
    } else {
      auto& done = std::get<Done>(effect);
      const auto found = waiting_.find(done.sequence);
      if (found != waiting_.end()) work.ended.emplace_back(found->second, outcome_of(*found->second, done));
    }
  }
  return work;
}

/// As the client's schema has it.
mf::Outcome<Finished> Replication::outcome_of(const Waiter& waiter, Done& done) const {
  if (auto* const failure = std::get_if<Failure>(&done.result)) return std::move(*failure);
  auto& applied = std::get<Applied>(done.result);
  if (adapted_) {
    if (auto lost = adapted_->outcome(waiter.request.index, applied.outcome)) return std::move(*lost);
  }
  return Finished{.version = applied.version,
                  .applied = std::move(applied.members),
                  .outcome = std::move(applied.outcome)};
}

/// What a link does not take is lost with that link: the machine repeats what matters.
void Replication::send(std::vector<Sending>& messages) const noexcept {
  const auto on_link = [&](Link& link, const auto& what) {
    try {
      what(*link.out);
    } catch (...) {
      log_escaped_exception(core_->options().log, "sending to a replica");
      link.out->reopen();
    }
  };
  for (auto& [link, message] : messages)
    on_link(*link, [&](OutgoingLink& out) { out.send(std::move(message)); });
  for (auto& [link, message] : messages) on_link(*link, [](OutgoingLink& out) { out.flush(); });
}

/// In a catch block: all calls under way end by its exception.
void Replication::fail_all() noexcept {
  const auto why = mf::detail::shared(broken());
  decltype(waiting_) waiting;
  {
    const std::scoped_lock lock(mutex_);
    waiting = waiting_;
  }
  for (const auto& [sequence, waiter] : waiting) end(waiter, mf::Outcome<Finished>(why));
}

void Replication::tick_later() {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_ || waiting_.empty() || std::exchange(ticking_, true)) return;
  }
  core_->reactor().at(mf::now() + kTick, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void Replication::tick() {
  try {
    const std::scoped_lock lock(mutex_);
    ticking_ = false;
    caller_->tick(mf::now());
  } catch (...) {
    log_escaped_exception(core_->options().log, "replicated calls");
    fail_all();
  }
  carry_out();
  tick_later();
}

void Replication::on_close() noexcept {
  decltype(links_) links;
  bool known = false;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    links.swap(links_);
    known = caller_.has_value();
    if (known) caller_->end_all(closed());
  }
  for (const auto& [member, link] : links) link->out->leave();
  if (known) carry_out();
}

namespace {

/// What makes the calls of a target. Throws Error where there can be no replicas.
std::shared_ptr<Replication> replication_of(const client::Target& target, const link::Method& method) {
  static constexpr ServiceInfo kReplications{.name = "replicated calls"};  // by which the client keeps them
  const auto& service = method.service;
  const auto find = [&] {
    if (target.in_process() || !target.core()->resolver().knows_agents())
      throw not_executed_error(
          Code::unknown_method,
          link::full_name(method) +
              " is replicated: call it through the controller that its replicas are registered with");
    if (!target.agent() && service.per_agent)
      throw not_executed_error(
          Code::invalid_argument,
          "a replicated call of " + std::string(service.name.substr(service.name.rfind('.') + 1)) +
              " is for one " + std::string(mf::detail::name_of_agent(service.descriptor)) +
              ": name it by at()");
    const auto agent = target.agent().value_or("");
    const auto make = [&]() -> std::shared_ptr<client::Shared> {
      return std::make_shared<Replication>(target.core(), service, agent);
    };
    return target.core()->shared(kReplications, group_agent(service.name, agent), make);
  };
  return std::static_pointer_cast<Replication>(target.kept(find));
}

Replication::Request request_of(const client::Target& target, const link::Method& method, Pattern pattern,
                                const ReplicatedOptions& options, Bytes payload) {
  CallOptions as_call;
  as_call.deadline = options.deadline;
  const client::Context context(target, as_call, method.info);
  return {.method = method.info.name,
          .index = method.info.index,
          .pattern = pattern,
          .require = options.require,
          .deadline = context.deadline,
          .payload = std::move(payload)};
}

}  // namespace

void start(const client::Target& target, const link::Method& method, replication::Pattern pattern,
           const ReplicatedOptions& options, Bytes payload, const std::stop_token& stop,
           Callback<Finished> done) {
  const auto of = attempt([&] { return replication_of(target, method); });
  if (!of) return done(of.failure());
  of.value()->start(request_of(target, method, pattern, options, std::move(payload)), {options.stop, stop},
                    [core = target.core(), done = std::move(done)](mf::Outcome<Finished>&& ended) mutable {
                      core->complete([done = std::move(done), ended = std::move(ended)]() mutable {
                        done(std::move(ended));
                      });
                    });
}

mf::Outcome<Finished> call(const client::Target& target, const link::Method& method,
                           replication::Pattern pattern, const ReplicatedOptions& options, Bytes payload) {
  struct Ended {
    link::Waiter waiter;
    mf::Outcome<Finished> outcome;
  };
  const auto ended = std::make_shared<Ended>();
  replication_of(target, method)
      ->start(request_of(target, method, pattern, options, std::move(payload)), {options.stop},
              [ended](mf::Outcome<Finished>&& outcome) {
                ended->outcome = std::move(outcome);
                ended->waiter.finish();
              });
  ended->waiter.wait();
  return std::move(ended->outcome);
}

std::optional<Failure> failure_of(const link::Method& method, const replication::Outcome& outcome) {
  const auto code = static_cast<Code>(outcome.status);
  if (code == Code::ok) return std::nullopt;
  if (code == Code::declared && outcome.error < method.errors.size()) {
    codec::Reader reader(outcome.payload.span());
    const auto error = method.errors[outcome.error].decode(reader);
    return error ? Failure::of(*error) : undecodable_result(method, reader);
  }
  const bool known = outcome.status > 1 && outcome.status <= kLastCode;
  return may_have_run(known ? code : Code::protocol_error, std::string(outcome.payload.text()));
}

Failure undecodable_result(const link::Method& method, const codec::Reader& reader) {
  return may_have_run(Code::decode_error,
                      link::full_name(method) + ": what its replicas answered: " + reader.error().message());
}

namespace detail {

namespace {

using Next = client::ClientWay::Next;

/// The options that interceptors read and change: a replicated call has no metadata.
CallOptions as_call(const ReplicatedOptions& options) {
  CallOptions shown;
  shown.deadline = options.deadline;
  return shown;
}

/// The options of the request that follows.
ReplicatedOptions as_changed(const ReplicatedOptions& options, const Next& next) {
  auto changed = options;
  changed.deadline = next.options.deadline;
  return changed;
}

/// Notes one request, whose answer may be missing.
void note_request(const Next& next, std::size_t request_bytes) {
  (*next.facts)->add(1, nullptr, request_bytes, 0);
}

/// One request of a call with interceptors, which is answered later. The caller has noted it.
void start_answered(const AnyMethod& method, const client::Target& target, const ReplicatedOptions& options,
                    const Next& next, Bytes payload, AnswerDone&& done, const std::stop_token& stop) {
  replicated::start(
      target, method.method, method.pattern, as_changed(options, next), std::move(payload), stop,
      [&decode = *method.decode, done = std::move(done)](mf::Outcome<Finished>&& finished) mutable {
        done(decode(std::move(finished)));
      });
}

class StartedWay final : public client::LaterWay {
 public:
  StartedWay(const AnyMethod& method, const client::Target& target, const ReplicatedOptions& options,
             Bytes payload, AnswerDone done, const std::stop_token& stop)
      : LaterWay(target, as_call(options), method.method.info, CallKind::replicated, method.outcome.mark,
                 std::move(done), stop),
        method_(method),
        options_(options),
        payload_(std::move(payload)) {
    way().set_arguments({.get = &request, .source = this});
  }

 private:
  static const void* request(const void* source, std::shared_ptr<void>& kept) {
    const auto& self = *static_cast<const StartedWay*>(source);
    if (!kept) {
      codec::Reader reader(self.payload_.span());
      kept = link::decoded_request(self.method_.request, reader);
    }
    return kept.get();
  }
  void make(const Next& next, AnswerDone done, const std::stop_token& stop, bool /*last*/) override {
    note_request(next, payload_.size());
    start_answered(method_, target(), options_, next, payload_, std::move(done), stop);
  }

  const AnyMethod& method_;
  const ReplicatedOptions options_;
  const Bytes payload_;
};

}  // namespace

void call_intercepted(const AnyMethod& method, const client::Target& target, const ReplicatedOptions& options,
                      mf::detail::ArgumentSource arguments, FunctionRef<Bytes()> encode,
                      FunctionRef<void(const ReplicatedOptions&, Bytes, void* outcome)> go_on,
                      void* outcome) {
  const auto shown = as_call(options);
  client::ClientWay way(target, shown, method.method.info, CallKind::replicated, 1);
  way.set_arguments(arguments);
  way.begin();
  const auto encoded = [&](const Next& next) {
    auto payload = attempt(encode);
    if (payload) note_request(next, payload.value().size());
    return payload;
  };
  const auto go_on_with = [&](const Next& next, void* into) {
    auto payload = encoded(next);
    if (!payload) return method.outcome.put(into, payload.failure());
    go_on(as_changed(options, next), std::move(payload).value(), into);
  };
  const auto start = [&](const Next& next, AnswerDone done, const std::stop_token& stop) {
    auto payload = encoded(next);
    if (!payload) return done(payload.failure());
    start_answered(method, target, options, next, std::move(payload).value(), std::move(done), stop);
  };
  way.run(method.outcome, outcome, go_on_with, start);
}

void start_intercepted(const AnyMethod& method, const client::Target& target,
                       const ReplicatedOptions& options, Bytes payload, AnswerDone done,
                       const std::stop_token& stop) {
  std::make_shared<StartedWay>(method, target, options, std::move(payload), std::move(done), stop)->begin();
}

}  // namespace detail

}  // namespace mf::replicated
