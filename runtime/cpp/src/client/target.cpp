#include "mf/client/target.hpp"

#include <algorithm>
#include <cstring>

#include "client/attempt.hpp"
#include "client/target_state.hpp"
#include "mf/client/async_call.hpp"
#include "mf/client/failures.hpp"
#include "mf/client/scratch.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/blocking.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/handler_wait.hpp"
#include "mf/link/converting.hpp"
#include "mf/protocol/metadata.hpp"

namespace mf::client {

Target::Target(const Client& client, const ServiceInfo& service) : Target(client.core(), service) {}

Target::Target(const std::shared_ptr<Core>& core, const ServiceInfo& service)
    : Target(State::of(core, service, std::nullopt)) {}

Target::Target(const std::shared_ptr<Core>& core, const ServiceInfo& service, const Instance& instance)
    : Target(State::at(core, service, instance)) {}

Target::Target(std::shared_ptr<State> state) : state_(std::move(state)) {
  local_ = {.servants = state_->core->servants().get(),
            .agent = state_->shown,
            .forwarded = state_->core->options().forward_metadata,
            .owner = &state_->servant};
  interceptors_ = state_->core->interceptors();
  if (in_process() && local_.servants->interceptors()) local_.interceptors = &local_.servants->interceptors();
}

Target Target::past() const {
  Target past(*this);
  past.interceptors_ = nullptr;
  return past;
}

void CallFacts::add(int attempts, std::shared_ptr<link::ClientLink> link, std::size_t request_bytes,
                    std::size_t reply_bytes) {
  const std::scoped_lock lock(mutex_);
  attempts_ += static_cast<std::uint32_t>(attempts);
  request_bytes_ += request_bytes;
  reply_bytes_ += reply_bytes;
  if (link) link_ = std::move(link);
  any_.store(true, std::memory_order_release);
}

void CallFacts::write_to(CallEnd& end) const {
  if (!any_.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock(mutex_);
  end.attempts = std::max<std::uint32_t>(attempts_, 1);
  end.request_bytes = request_bytes_;
  end.reply_bytes = reply_bytes_;
  if (link_) end.peer = link_->peer();
}

Target Target::at(std::string_view agent) const {
  return Target(State::of(state_->core, *state_->service, std::string(agent)));
}

Target Target::any() const {
  return Target(State::of(state_->core, *state_->service, std::nullopt));
}

const ServiceInfo& Target::service() const noexcept {
  return *state_->service;
}

const std::shared_ptr<Core>& Target::core() const noexcept {
  return state_->core;
}

const std::optional<std::string>& Target::agent() const noexcept {
  return state_->agent;
}

std::shared_ptr<Shared> Target::kept(FunctionRef<std::shared_ptr<Shared>()> find) const {
  {
    const std::scoped_lock lock(state_->mutex);
    if (auto known = state_->kept.lock()) return known;
  }
  auto found = find();
  const std::scoped_lock lock(state_->mutex);
  state_->kept = found;
  return found;
}

Interfaces Target::find_interfaces() const {
  const auto found = local_servant()->interfaces();
  plain_servant_.store(found.plain);
  if (found.plain == nullptr) async_servant_.store(found.async);
  return found;
}

link::LocalBatch Target::local_batch() const {
  if (!in_process()) return {};
  const auto found = interfaces();
  return {.plain = found.plain, .async = found.async, .target = local_};
}

std::shared_ptr<Servant> Target::shared_servant() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->servant;
}

std::shared_ptr<const LocalServants> Target::servants() const {
  return state_->core->servants();
}

Servant* Target::local_servant() const {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->servant) {
    state_->servant =
        state_->core->servants()->find(state_->service->name, state_->agent ? &*state_->agent : nullptr);
    if (!state_->servant) {
      state_->no_server(*state_->core->servants()).raise();
    }
  }
  return state_->servant.get();
}

Outcome<Route> Target::route(const MethodInfo& method, TimePoint deadline,
                             const std::stop_token& stop) const {
  if (state_->core->inherited()) [[unlikely]]
    return inherited_client();
  if (auto route = state_->ready_route(method)) [[likely]]
    return route;
  auto found = state_->wait_for_route(method, deadline, stop);
  if (!found.route) return std::move(found.failure);
  return std::move(found.route);
}

namespace {

/// A blocking call that may be stopped: its thread sleeps, so that the stopping thread can wake it.
class StoppableCall final : public AsyncCall {
 public:
  using AsyncCall::AsyncCall;

  link::Waiter waiter;
  link::Reply reply;

 private:
  void end(link::Reply&& ended) override {
    reply = std::move(ended);
    reply.keep();
    waiter.finish();
  }
  [[nodiscard]] bool runs_anywhere() const noexcept override { return true; }
};

protocol::RequestHead with_metadata(protocol::RequestHead head, const CallContext& context) {
  if (context.metadata != nullptr) head.flags |= protocol::kMetadata;
  return head;
}

void encode_request(Gathered& payload, Encode encode, const CallContext& context) {
  encode(payload);
  if (context.metadata != nullptr) prepend_metadata(payload, *context.metadata);
}

}  // namespace

void prepend_metadata(Gathered& payload, const Metadata& metadata) {
  const auto size = protocol::metadata_size(metadata);
  protocol::write_metadata(payload.prepend(size), metadata);
}

Context::Context(const Target& target, const CallOptions& options, const MethodInfo& method, TimePoint made,
                 const std::shared_ptr<CallFacts>* call_facts) {
  now = made;
  facts = call_facts;
  deadline = deadline_after(now, effective_deadline(options.deadline, method.deadline));
  if (!options.metadata.empty()) metadata = &options.metadata;
  reply_metadata = options.reply_metadata;
  stop = &options.stop;
  const auto& outer = current_call();
  deadline = std::min(deadline, outer.deadline);
  if (outer.handle.get() == nullptr) [[likely]]
    return;
  composed_ =
      mf::detail::passed_on(options.metadata, outer, target.state()->core->options().forward_metadata);
  metadata = composed_.empty() ? nullptr : &composed_;
}

void Target::call(link::ReplySlot& slot, const MethodInfo& method, const protocol::RequestHead& head,
                  Encode encode, const CallContext& context) const {
  if (state_->core->inherited()) [[unlikely]] {
    slot.reply = link::Reply::failed(inherited_client(), link::Ended::refused);
    return;
  }
  const mf::detail::HandlerWait wait;
  if (wait.refused()) [[unlikely]] {
    slot.reply = link::Reply::failed(wait.refusal(Execution::not_executed), link::Ended::refused);
    return;
  }
  if (context.stop != nullptr && context.stop->stop_possible()) [[unlikely]]
    return call_stoppable(slot, method, head, encode, context);
  Scratch scratch;
  protocol::Call call({.idempotent = method.idempotent, .stream = false}, context.deadline,
                      state_->core->retry_budget());
  if (method.ordered && (head.flags & protocol::kBulk) != 0) call.keep_order();
  auto sent = with_metadata(head, context);
  Route route;
  auto now = context.now;
  for (auto step = call.begin(); !call.ended();) {
    if (step == protocol::CallStep::resolve) {
      if (call.refusal() != nullptr) [[unlikely]] {
        step = state_->rest(call, route, slot.reply);
        if (call.ended()) break;
      }
      route = state_->find_route(method, call, step, slot.reply, now);
      continue;
    }
    encode_request(scratch.payload(), encode, context);
    const bool chosen = route.chosen() && !method.oneway;
    const auto began = chosen && now == TimePoint{} ? mf::now() : now;
    sent.route = route.of(method);
    if (route.adaptation() != nullptr) [[unlikely]] {
      call_adapted(slot, route, method, sent, scratch.payload(), context.deadline);
      now = {};
    } else if (method.oneway) {
      slot.reply = route.link->send_oneway(sent, scratch.payload(), context.deadline);
    } else {
      route.link->call(slot, sent, scratch.payload(), context.deadline, std::exchange(now, TimePoint()));
    }
    if (chosen) [[unlikely]]
      state_->learn(route, method, sent.count, slot.reply, began);
    step = settle(call, slot.reply);
  }
  if (context.facts != nullptr) [[unlikely]]
    (*context.facts)
        ->add(call.attempt(), std::move(route.link), scratch.payload().size(), slot.reply.payload.size());
  if (slot.reply.metadata && context.reply_metadata != nullptr)
    *context.reply_metadata = std::move(*slot.reply.metadata);
}

void Target::call_adapted(link::ReplySlot& slot, const Route& route, const MethodInfo& method,
                          protocol::RequestHead head, Gathered& payload, TimePoint deadline) {
  const auto adapted = link::adapted_request(*route.adaptation(), method.index);
  if (adapted) {
    if (auto ended = adapted->send(payload, head)) {
      slot.reply = std::move(*ended);
      return;
    }
  }
  auto& sent = adapted ? adapted->payload() : payload;
  if (method.oneway) {
    slot.reply = route.link->send_oneway(head, sent, deadline);
  } else {
    route.link->call(slot, head, sent, deadline);
  }
  if (adapted) adapted->receive(slot.reply);
}

void Target::call_stoppable(link::ReplySlot& slot, const MethodInfo& method,
                            const protocol::RequestHead& head, Encode encode,
                            const CallContext& context) const {
  Gathered payload;
  encode_request(payload, encode, context);
  const auto call = std::make_shared<StoppableCall>(*this, method, with_metadata(head, context),
                                                    std::move(payload), context);
  AsyncCall::stop_with(call, *context.stop);
  AsyncCall::launch(call);
  call->waiter.wait();
  slot.reply = std::move(call->reply);
}

ScatterTarget::ScatterTarget(const Target& target, std::vector<std::string> agents)
    : target_(target), agents_(std::move(agents)) {}

ScatterTarget::ScatterTarget(const Target& target) : target_(target) {}

std::vector<std::pair<std::string, Target>> ScatterTarget::targets(TimePoint deadline) const {
  std::vector<std::pair<std::string, Target>> targets;
  const auto add = [&](const std::string& agent) {
    targets.emplace_back(shown_agent(target_.service(), agent), target_.at(agent));
  };
  if (agents_) {
    for (const auto& agent : *agents_) add(agent);
    return targets;
  }
  auto& core = *target_.state_->core;
  const auto& service = target_.service();
  if (core.servants()) {
    for (const auto& agent : core.servants()->agents(service.name)) add(agent);
  } else {
    auto& resolver = core.resolver();
    if (!resolver.knows_agents()) {
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "everywhere() needs a controller (mf://host:port), which lists the agents of " +
                      std::string(service.name) + "; name them with on({…})");
    }
    auto offers = resolver.offers(service.name);
    auto until = deadline;
    while (offers->agents.empty() && mf::now() < until) {
      if (offers->answered) {
        until = std::min(until, deadline_after(mf::now(), core.options().wait_for_server));
      }
      blocking();
      offers = resolver.wait_for_change(service.name, offers, until);
    }
    for (const auto& [agent, instances] : offers->agents) {
      if (instances.empty())
        core.set_seen(service.name, agent);  // it was there and has gone: do not wait for it
      add(agent);
    }
  }
  if (targets.empty()) {
    throw Error(Code::unavailable, Execution::not_executed, "no server offers " + std::string(service.name));
  }
  return targets;
}

}  // namespace mf::client
