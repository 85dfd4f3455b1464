#include "server/connection.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mf/core/blocking.hpp"
#include "mf/core/options.hpp"
#include "mf/core/peer.hpp"
#include "mf/core/text.hpp"
#include "mf/protocol/metadata.hpp"
#include "server/preemption.hpp"

namespace mf::server {
namespace {

// How many workers run calls that had to wait for room.
constexpr std::size_t kHeldAtOnce = 8;

// The rough clock is late by less.
constexpr auto kRoughAtMost = std::chrono::milliseconds(20);

constexpr std::string_view kCancelled = "cancelled before it was started";
constexpr std::string_view kIdTwice = "the id of a call that is in flight was used again";
constexpr std::string_view kTooLate = "the deadline passed while the call waited to be run";

/// The placement that learns from the run of this request.
Placement* placement_of(const Offer& offer, std::uint16_t method, const protocol::Event& event) {
  if (offer.where != Where::adaptive || event.header.stream() ||
      !Placement::measures(event.payload.size(), event.count))
    return nullptr;
  return &offer.placements[method];
}

/// Earlier handlers of the same turn may have taken long. `now`: the time, if it is known. Otherwise the
/// rough clock says that a deadline is still far away, which is all that most calls need.
bool has_passed(TimePoint deadline, TimePoint now) noexcept {
  if (now != TimePoint{}) return now >= deadline;
  return deadline - rough_now() <= kRoughAtMost && mf::now() >= deadline;
}

}  // namespace

// If dropped before it runs, it drops the lane, whose calls hold the connection.
class Connection::LaneTask {
 public:
  explicit LaneTask(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  LaneTask(LaneTask&&) noexcept = default;
  LaneTask& operator=(LaneTask&&) = delete;
  ~LaneTask() {
    if (connection_) connection_->drop_lane();
  }
  void operator()() { std::exchange(connection_, nullptr)->run_lane(); }

 private:
  std::shared_ptr<Connection> connection_;
};

struct Connection::Job final : QueuedCall {
  Job(std::shared_ptr<Connection> of, Ticket with, Bytes bytes, TimePoint until)
      : QueuedCall(until, of->number_, with.id(), with.oneway()),
        id(with.id()),
        slot(with.oneway()),
        connection(std::move(of)),
        ticket(std::move(with)),
        payload(std::move(bytes)),
        deadline(until) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() override {
    if (table) table->remove(id, &slot);
  }

  void go(std::unique_ptr<QueuedCall> self, std::shared_ptr<Gate> gate) override {
    ticket.set_gate(std::move(gate));
    connection->submit_now(mine(std::move(self)));
  }
  void end(std::unique_ptr<QueuedCall> self, End why) override {
    auto job = mine(std::move(self));
    const bool lane = ticket.oneway();
    const auto of = connection;
    const auto bound = binding;
    job->finish(why);
    job.reset();
    if (!lane) return;
    of->end_oneway(*bound);
    of->directory_.workers().submit(LaneTask(of));
  }
  void finish(End why) {
    if (why == End::cancelled) return ticket.refuse(Code::cancelled, kCancelled);
    if (why == End::stopped) return;  // which a dropped ticket answers, too
    Counters::add(counters().expired, ticket.count());
    ticket.fail(Code::deadline_exceeded, Execution::not_executed, kTooLate);
  }
  [[nodiscard]] Counters& counters() const { return binding->offer->counters[method]; }

  const std::uint32_t id;
  Slot slot;
  std::shared_ptr<Calls> table;            // the slot's table, if it is in one
  std::shared_ptr<Connection> connection;  // set until it runs
  Ticket ticket;
  Bytes payload;
  std::uint16_t method = 0;
  Tier tier = Tier::memcpy;
  const TimePoint deadline;
  std::shared_ptr<Binding> binding;
  Placement* placement = nullptr;  // learns from this run; may be null
  std::shared_ptr<Gate> gate;      // to be asked again: the call was held, and released its slot

 private:
  static std::unique_ptr<Job> mine(std::unique_ptr<QueuedCall> self) {
    return std::unique_ptr<Job>(static_cast<Job*>(self.release()));
  }
};

Connection::Connection(Directory& directory, const std::shared_ptr<link::ServerLink>& link,
                       std::uint64_t number, std::shared_ptr<Rights> rights)
    : directory_(directory),
      link_(link),
      rights_(std::move(rights)),
      peer_(link->peer()),
      number_(number),
      calls_(std::make_shared<Calls>(link->limits().max_streams, link->limits().stream_window)) {}

Connection::~Connection() = default;

Connection::Answer Connection::on_bind(std::uint16_t first_route, const protocol::Bind& bind) {
  now_ = {};
  if (!std::exchange(used_, true)) directory_.on_used(number_);
  if (!routes_.free(first_route, bind.methods.size())) {
    return std::pair(Code::protocol_error,
                     std::string("BIND of routes that are bound already, or of too many"));
  }
  if (!bind.via.empty()) relayed_ = true;
  const auto link = link_.lock();
  if (!link) return std::pair(Code::shutting_down, std::string("the connection has ended"));
  if (const auto most = link->limits().max_bindings; routes_.bindings() >= most) {
    return std::pair(Code::overloaded, std::to_string(most) +
                                           " services and agents are bound on this connection, which is all "
                                           "that this server holds: UNBIND one");
  }
  auto found = directory_.find(bind, peer_, rights_ == nullptr);
  if (found) return bind_to(first_route, bind, found.value(), false);
  if (found.failure().code == Code::unknown_service && forwarding_) return forwarding_bind(first_route, bind);
  if (found.failure().code == Code::unknown_agent && rights_ &&
      directory_.authorized(bind.service) == Authorized::at_bind) {
    Binding none;  // a peer without rights does not learn which agents there are
    if (auto refusal = authorize(none, bind, bind.agent)) return refusal;
  }
  return std::pair(found.failure().code, found.failure().message);
}

Connection::Answer Connection::bind_to(std::uint16_t first_route, const protocol::Bind& bind,
                                       std::shared_ptr<const Offer> offer, bool lone) {
  Binding binding;
  binding.offer = std::move(offer);
  const auto& service = binding.offer->service();
  for (const auto method : bind.methods) {
    const auto at = std::ranges::find(service.methods, method);
    if (at == service.methods.end()) {
      return std::pair(Code::unknown_method,
                       std::string(service.name) + " has no method " + std::string(method));
    }
    binding.methods.push_back(static_cast<std::uint16_t>(at - service.methods.begin()));
  }
  const auto authorized = binding.offer->servant->authorized();
  if (authorized == Authorized::at_bind) {
    if (auto refusal = authorize(binding, bind, binding.offer->agent)) return refusal;
    for (const auto& [position, denial] : binding.denied) binding.methods[position] = kDenied;
  } else if (rights_ && authorized == Authorized::by_servant) {
    rights_->decided_elsewhere();
  }
  if (lone) {
    binding.lone = std::make_shared<std::size_t>(0);
    binding.oneways = binding.lone.get();
  } else {
    const std::scoped_lock lock(mutex_);
    binding.oneways = &oneways_[binding.offer.get()];
  }
  const auto count = binding.methods.size();
  routes_.bind(first_route, count, std::move(binding));
  return std::pair(Code::ok, std::string());
}

Connection::Answer Connection::forwarding_bind(std::uint16_t first_route, const protocol::Bind& bind) {
  const auto offered = std::make_shared<const Offer*>(nullptr);
  auto answered = [weak = weak_from_this(), first_route, offered](Code code, std::string_view why) {
    const auto self = weak.lock();
    if (!self) return;
    const auto* const bound = self->routes_.bound_at(first_route);
    if (bound == nullptr || bound->offer.get() != *offered) return;  // taken back in the meantime
    if (code != Code::ok) (void)self->routes_.unbind(first_route);
    if (const auto link = self->link_.lock()) link->send_bound(first_route, code, why);
  };
  try {
    auto servant = forwarding_->serve(bind, std::move(answered));
    if (!servant) return forward_bind(first_route, bind);
    const auto methods = servant->service().methods.size();
    auto offer = std::make_shared<const Offer>(Offer{.servant = std::move(servant),
                                                     .agent = {},
                                                     .where = Where::worker,
                                                     .labels = {},
                                                     .registered = false,
                                                     .placements = nullptr,
                                                     .counters = std::make_unique<Counters[]>(methods),
                                                     .gates = {}});
    *offered = offer.get();
    auto bound = bind_to(first_route, bind, std::move(offer), true);
    if (bound && bound->first == Code::ok) return std::nullopt;
    return bound;
  } catch (const Error& error) {
    return std::pair(error.code(), error.message());
  }
}

// Requests that arrive before the answer wait for it.
Connection::Answer Connection::forward_bind(std::uint16_t first_route, const protocol::Bind& bind) {
  Binding binding;
  if (auto refusal = authorize(binding, bind, bind.agent)) return refusal;
  binding.forwarded = forwarding_->on_bind(
      bind, [weak = weak_from_this(), first_route](const Forwarded* of, Code code, std::string_view why) {
        const auto self = weak.lock();
        if (!self) return;
        const auto* const bound = self->routes_.bound_at(first_route);
        if (bound == nullptr || bound->forwarded.get() != of) return;  // taken back in the meantime
        if (code != Code::ok) (void)self->routes_.unbind(first_route);
        if (const auto link = self->link_.lock()) link->send_bound(first_route, code, why);
      });
  routes_.bind(first_route, bind.methods.size(), std::move(binding));
  return std::nullopt;
}

std::optional<const ServiceInfo*> Connection::on_describe(const protocol::Describe& asked) {
  const auto* const found = directory_.describe(asked.service);
  if (found == nullptr && forwarding_ && forwarding_->on_describe(asked)) return std::nullopt;
  return found;
}

void Connection::on_greeted() {
  if (const auto link = link_.lock()) {
    identity_ = link->identity();
    relayed_ = link->hello().passed.has_value();
  }
  account_ = identity_.known() ? identity_.name : std::string(host_of(peer_));
  if (auto* const forwarder = directory_.forwarder()) {
    const auto link = link_.lock();
    auto forwarding = link ? forwarder->connected(link) : nullptr;
    const std::scoped_lock lock(mutex_);
    forwarding_ = std::move(forwarding);
  }
  directory_.on_greeted(number_);
}

bool Connection::passes_on(const protocol::Event& begun) {
  if (begun.header.oneway() || begun.header.stream() || draining_.load(std::memory_order_acquire))
    return false;
  const auto target = routes_.find(begun.header.route);
  return target.binding != nullptr && (*target.binding)->forwarded != nullptr &&
         (*target.binding)->denied.empty();
}

void Connection::on_request(const protocol::Event& event, TimePoint now) {
  Ticket ticket(link_.lock(), protocol::ReplyHead::to(event), event.size(), event.header.oneway());
  if (!ticket.link()) [[unlikely]]
    return;
  const auto target = routes_.find(event.header.route);
  if (target.binding == nullptr) [[unlikely]] {
    return ticket.fail(Code::unknown_method, Execution::not_executed,
                       "the route is not bound on this connection");
  }
  if (draining_.load(std::memory_order_acquire) &&
      static_cast<std::int32_t>(event.header.id - latest_.load(std::memory_order_relaxed)) > 0) [[unlikely]] {
    return ticket.fail(Code::shutting_down, Execution::not_executed,
                       "the server is stopping; use another instance");
  }
  const auto& binding = *target.binding;
  if (binding->forwarded) {
    if (!binding->denied.empty()) [[unlikely]] {
      const auto found = binding->denied.find(target.method);
      if (found != binding->denied.end()) return deny(std::move(ticket), found->second);
    }
    ticket.leave();
    return forwarding_->on_request(*binding->forwarded, target.method, event, now);
  }
  const auto method = binding->methods[target.method];
  if (method == kDenied) [[unlikely]] {
    return deny(std::move(ticket), binding->denied.at(target.method));
  }
  if (auto* const tally = binding->offer->counters[method].tally; tally != nullptr) [[unlikely]]
    ticket.observe(tally, now);
  const auto tier = static_cast<Tier>(event.header.encoding());
  const auto left = protocol::decode_deadline(event.header.deadline());
  const auto deadline = left == kInfinite ? kNever : deadline_after(now, left);
  if ((event.header.stream() || event.header.metadata()) &&
      !make_live(ticket, event, deadline, binding->offer->service(), method)) [[unlikely]]
    return;
  const bool oneway = ticket.oneway();
  if (now != turn_) {
    turn_ = now_ = now;
    spare_ = ticket.link()->has_spare();
    took_ = {};
  }
  auto* const placement = placement_of(*binding->offer, method, event);
  const bool here = spare_ && !event.header.stream() &&
                    (placement != nullptr ? placement->promoted() && took_ < Placement::kSlow
                                          : binding->offer->where == Where::io_thread &&
                                                event.payload.size() <= Placement::kMostBytes);
  bool queue = false;
  bool behind = false;  // there are others that it must not overtake
  if (oneway || oneways_open_.load(std::memory_order_acquire) != 0) {
    const std::scoped_lock lock(mutex_);
    behind = oneway ? lane_runs_ : *binding->oneways != 0;
    queue = behind || (oneway && !here);
  }
  const auto& gates = binding->offer->gates;
  std::shared_ptr<Gate> gate;
  auto entry = Admission::Entry::runs;
  if (!gates.empty() && gates[method] != nullptr) [[unlikely]] {
    gate = gates[method];
    entry = gate->admission().enter(*gate, now, !behind);
    if (entry == Admission::Entry::refused)
      return refuse(std::move(ticket), *binding->offer, method, *gate, now);
    if (entry == Admission::Entry::runs) ticket.set_gate(std::move(gate));
  }
  if (here && !queue && entry == Admission::Entry::runs) {
    return run_here(binding, std::move(ticket), method, tier, event.payload, event.owner, deadline,
                    placement);
  }
  now_ = {};
  auto job = std::make_unique<Job>(shared_from_this(), std::move(ticket), event.keep(), deadline);
  if (entry == Admission::Entry::waits) job->set_place(std::move(gate));
  job->method = method;
  job->tier = tier;
  job->binding = binding;
  job->placement = placement;
  if (job->ticket.call()) {
    job->ticket.call()->on_queued();
  } else if (!oneway) {
    const auto& service = binding->offer->service();
    job->slot.service = service.name;
    job->slot.method = service.methods[method];
    if (!calls_->add(job->ticket.id(), &job->slot)) {
      return job->ticket.fail(Code::protocol_error, Execution::not_executed, kIdTwice);
    }
    (void)job->slot.machine.on(protocol::ServerCallEvent::queued);
    job->ticket.set_slot(&job->slot);
    job->table = calls_;
  }
  if (!queue && !oneway)
    return job->has_place() ? directory_.admission().queue(std::move(job)) : submit(std::move(job));
  const std::scoped_lock lock(mutex_);
  if (oneway) {
    ++*binding->oneways;
    ++oneways_open_;
  }
  lane_.push_back(std::move(job));
  if (!std::exchange(lane_runs_, true)) tasks_.emplace_back(LaneTask(shared_from_this()));
}

void Connection::refuse(Ticket ticket, const Offer& offer, std::uint16_t method, const Gate& gate,
                        TimePoint now) {
  auto& counters = offer.counters[method];
  const auto why = directory_.admission().refusal(gate);
  if (!ticket.oneway()) {
    Counters::add(counters.refused, ticket.count());
    return ticket.fail(Code::overloaded, Execution::not_executed, why);
  }
  if (const auto calls = counters.on_dropped(ticket.count(), now); calls != 0) {
    const auto& service = offer.service();
    directory_.log().write(Level::warning, "oneway_calls_dropped",
                           {{"service", service.name},
                            {"agent", offer.agent},
                            {"method", service.methods[method]},
                            {"peer", peer_},
                            {"calls", calls},
                            {"reason", why}});
  }
  ticket.done();
}

Connection::Answer Connection::authorize(Binding& binding, const protocol::Bind& bind,
                                         std::string_view agent) const {
  if (bind.service == kAdmin) return administer(bind);
  if (!rights_) return std::nullopt;
  Denial denial{.service = std::string(bind.service), .agent = std::string(agent), .method = {}};
  for (std::size_t i = 0; i < bind.methods.size(); ++i) {
    const auto decision = rights_->may_call(identity_, bind.service, agent, bind.methods[i]);
    if (decision.allowed) continue;
    denial.method = bind.methods[i];
    denial.line = decision.line;
    binding.denied.emplace(static_cast<std::uint16_t>(i), denial);
  }
  if (bind.methods.empty() || binding.denied.size() != bind.methods.size()) return std::nullopt;
  denial.method = "*";
  return std::pair(Code::permission_denied, denied(denial, true));
}

Connection::Answer Connection::administer(const protocol::Bind& bind) const {
  for (const auto method : bind.methods) {
    const auto decision = rights_ ? rights_->may_administer(identity_, peer_, method, relayed_)
                                  : directory_.access().may_administer(identity_, peer_, method, relayed_);
    if (decision.allowed) continue;
    const Denial denial{.service = std::string(bind.service),
                        .agent = {},
                        .method = std::string(method),
                        .line = decision.line};
    return std::pair(Code::permission_denied, denied(denial, true));
  }
  return std::nullopt;
}

// Each denied method is logged once for a BIND, when it is called first.
void Connection::deny(Ticket ticket, Denial& denial) const {
  ticket.fail(Code::permission_denied, Execution::not_executed,
              denied(denial, !std::exchange(denial.logged, true)));
}

std::string Connection::denied(const Denial& denial, bool logged) const {
  if (logged)
    directory_.log().write(Level::warning, "call_denied",
                           {{"peer", peer_},
                            {"identity", identity_.str()},
                            {"service", denial.service},
                            {"agent", denial.agent},
                            {"method", denial.method},
                            {"line", denial.line}});
  return identity_.str() + " may not call " + (denial.method == "*" ? "" : "this method of ") +
         denial.service + (denial.agent.empty() ? "" : " for agent \"" + shortened(denial.agent) + "\"");
}

void Connection::count_here(Counters& counters, std::uint32_t calls) {
  if (counted_ != &counters) {
    if (count_ != 0) Counters::add(counted_->executed, std::exchange(count_, 0));
    counted_ = &counters;
  }
  count_ += calls;
}

bool Connection::make_live(Ticket& ticket, const protocol::Event& event, TimePoint deadline,
                           const ServiceInfo& service, std::uint16_t method) {
  if (event.metadata_fault != nullptr) {
    ticket.fail(Code::decode_error, Execution::not_executed, event.metadata_fault);
    return false;
  }
  const auto& link = ticket.link();
  if (event.header.stream() && calls_->streams >= link->limits().max_streams) {
    ticket.fail(
        Code::overloaded, Execution::not_executed,
        std::to_string(link->limits().max_streams) + " calls with a stream are open on this connection");
    return false;
  }
  auto call = std::make_shared<Call>(link, calls_, ticket.head(), ticket.oneway(), deadline);
  call->set_method(service.name, service.methods[method]);
  if (event.header.metadata()) call->set_metadata(protocol::read_metadata(event.metadata));
  if (!ticket.oneway() && !call->begin()) {
    ticket.fail(Code::protocol_error, Execution::not_executed, kIdTwice);
    return false;
  }
  if (event.header.stream())
    call->open_streams({.stream_window = link->limits().stream_window,
                        .credit = link->peer_stream_window(),
                        .max_payload = link->limits().max_payload});
  ticket.set_call(std::move(call));
  return true;
}

void Connection::submit(std::unique_ptr<Job> job) {
  if (job->ticket.call() && job->ticket.call()->has_streams()) return submit_stream(std::move(job));
  transport::Workers::Task task = [job = std::move(job)]() mutable {
    const auto self = std::exchange(job->connection, nullptr);
    self->run(std::move(job));
  };
  tasks_.emplace_back(std::move(task));
}

void Connection::submit_stream(std::unique_ptr<Job> job) {
  auto& shares = directory_.stream_shares();
  if (!shares.take(account_)) {
    const auto why = std::to_string(shares.used()) + " of at most " + std::to_string(shares.most()) +
                     " handlers of streams run on this server, " + std::to_string(shares.of(account_)) +
                     " of them for " + account_;
    const auto& service = job->binding->offer->service();
    directory_.log().write(Level::warning, "stream_refused",
                           {{"peer", peer_},
                            {"service", service.name},
                            {"method", service.methods[job->method]},
                            {"reason", why}});
    Counters::add(job->counters().refused, job->ticket.count());
    return job->ticket.fail(Code::overloaded, Execution::not_executed, why);
  }
  directory_.stream_threads().submit(
      [job = std::move(job), taken = Shares::Taken(shares, account_)]() mutable {
        const auto self = std::exchange(job->connection, nullptr);
        self->run(std::move(job));
      });
}

void Connection::submit_now(std::unique_ptr<Job> job) {
  if (job->ticket.call() && job->ticket.call()->has_streams()) return submit_stream(std::move(job));
  directory_.workers().submit([job = std::move(job)]() mutable {
    const auto self = std::exchange(job->connection, nullptr);
    if (job->ticket.oneway()) return self->run_lane(std::move(job));
    self->run(std::move(job));
  });
}

void Connection::run_lane() {
  run_lane(nullptr);
}

void Connection::run_lane(std::unique_ptr<Job> first) {
  for (;;) {
    auto job = std::move(first);
    if (!job) {
      const std::scoped_lock lock(mutex_);
      if (lane_.empty()) {
        lane_runs_ = false;
        return;
      }
      job = std::move(lane_.front());
      lane_.pop_front();
    }
    if (directory_.stopped()) return drop_lane();
    const bool oneway = job->ticket.oneway();
    if (job->has_place()) {
      directory_.admission().queue(std::move(job));
      if (oneway) return;  // the lane waits until it has a slot
    } else if (oneway) {
      const auto binding = job->binding;  // an UNBIND may remove it meanwhile
      run(std::move(job));
      end_oneway(*binding);
    } else {
      submit_now(std::move(job));
    }
  }
}

void Connection::end_oneway(const Binding& binding) {
  const std::scoped_lock lock(mutex_);
  --*binding.oneways;
  --oneways_open_;
}

void Connection::drop_lane() {
  std::list<std::unique_ptr<Job>> dropped;  // destroyed after unlocking: their tickets answer
  const std::scoped_lock lock(mutex_);
  dropped.swap(lane_);
}

void Connection::on_cancel(std::uint32_t id) {
  now_ = {};
  if (forwarding_ && forwarding_->on_cancel(id)) return;
  calls_->on_cancel(id);
  if (auto& admission = directory_.admission(); admission.has_limits()) admission.cancel(number_, id);
}

void Connection::on_stream(const protocol::Event& event) {
  now_ = {};
  if (forwarding_ && forwarding_->on_stream(event)) return;
  const auto call = calls_->find(event.header.id);
  if (!call) {
    if (const auto link = link_.lock()) link->count_late_frame();
    return;
  }
  switch (event.type) {
    case protocol::EventType::data:
      return call->on_data(event);
    case protocol::EventType::end:
      return call->on_end();
    default:
      return call->on_credit(event.credit);
  }
}

// Calls with replies need not start in the order in which they were sent; one-way calls, which must, queue no
// replies and are never held. A held call with a slot releases it, so that connections that read their
// replies need not wait for it, and asks again once there is room.
bool Connection::hold(std::unique_ptr<Job>& job) {
  const auto link = link_.lock();
  if (!link || !link->full() || job->ticket.oneway() ||
      (job->ticket.call() && job->ticket.call()->has_streams()))
    return false;
  job->gate = job->ticket.give_back_slot();
  {
    const std::scoped_lock lock(mutex_);
    held_.push_back(std::move(job));
  }
  // There may be room by now, and no other thread would check.
  if (!link->awaits_room()) directory_.workers().submit([self = shared_from_this()] { self->run_held(); });
  return true;
}

// On a worker: one after another, as long as there is room.
void Connection::run_held() {
  for (;;) {
    std::unique_ptr<Job> job;
    {
      const std::scoped_lock lock(mutex_);
      if (held_.empty()) return;
      job = std::move(held_.front());
      held_.pop_front();
    }
    if (job->gate && !enter_again(job)) continue;
    if (hold(job)) return;
    run(std::move(job));
  }
}

// False if it waits for a slot again, was refused, or its deadline has passed.
bool Connection::enter_again(std::unique_ptr<Job>& job) {
  auto gate = std::exchange(job->gate, nullptr);
  const auto now = mf::now();
  if (now >= job->deadline) {
    job->finish(QueuedCall::End::expired);
    return false;
  }
  switch (directory_.admission().enter(*gate, now, true)) {
    case Admission::Entry::runs:
      job->ticket.set_gate(std::move(gate));
      return true;
    case Admission::Entry::waits:
      job->set_place(std::move(gate));
      job->connection = shared_from_this();
      directory_.admission().queue(std::move(job));
      return false;
    case Admission::Entry::refused:
      break;
  }
  refuse(std::move(job->ticket), *job->binding->offer, job->method, *gate, now);
  return false;
}

void Connection::on_room() {
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < std::min(held_.size(), kHeldAtOnce); ++i) {
      directory_.workers().submit([self = shared_from_this()] { self->run_held(); });
    }
  }
  for (const auto& call : calls_->live()) call->on_room();
  if (const auto forwarding = shared_forwarding()) forwarding->on_room();
}

void Connection::on_drain(std::uint32_t latest) {
  latest_.store(latest, std::memory_order_relaxed);
  draining_.store(true, std::memory_order_release);
  if (const auto forwarding = shared_forwarding()) forwarding->on_drain();
}

// On any thread.
std::shared_ptr<Forwarding> Connection::shared_forwarding() {
  const std::scoped_lock lock(mutex_);
  return forwarding_;
}

void Connection::end_forwarding() {
  auto forwarding = shared_forwarding();
  if (const auto link = link_.lock(); link && forwarding)
    link->post([forwarding = std::move(forwarding)] { forwarding->close(); });
}

void Connection::count_open(std::map<std::string, std::size_t>& by_method) const {
  calls_->count(by_method);
}

void Connection::end_streams() {
  for (const auto& call : calls_->live()) call->shut_down();
  end_forwarding();
}

void Connection::on_closed() {
  calls_->on_lost();
  end_forwarding();
  if (auto& admission = directory_.admission(); admission.has_limits()) admission.cancel_all(number_);
  {
    std::list<std::unique_ptr<Job>> dropped;  // destroyed after unlocking: their tickets answer
    const std::scoped_lock lock(mutex_);
    dropped.swap(held_);
  }
  directory_.on_closed(number_);
}

void Connection::on_turn_end() {
  if (forwarding_) forwarding_->on_turn_end();
  if (count_ != 0) Counters::add(counted_->executed, std::exchange(count_, 0));
  if (!tasks_.empty()) directory_.workers().submit(tasks_);
}

/// A call on the thread that reads its connection; on that thread's stack.
class Connection::Here {
 public:
  Here(Connection& connection, const std::shared_ptr<Binding>& binding, Placement* placement,
       bool oneway) noexcept
      : connection_(connection), binding_(&binding), placement_(placement), oneway_(oneway) {
    connection.here_ = this;
  }
  ~Here() {
    if (!left_) {
      connection_.here_ = nullptr;
    } else if (oneway_) {
      end_lane();
    }
  }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

  void set(Incoming& incoming) noexcept { incoming_ = &incoming; }
  [[nodiscard]] bool left() const noexcept { return left_ != nullptr; }

  /// The call waits, and other threads continue to read.
  void leave() {
    left_ = *binding_;
    if (placement_ != nullptr) placement_->waited();
    if (oneway_) {
      const std::scoped_lock lock(connection_.mutex_);
      ++*left_->oneways;
      ++connection_.oneways_open_;
      connection_.lane_runs_ = true;
    } else if (incoming_ != nullptr) {
      (void)incoming_->live_call();  // so that its client can cancel it
    }
  }

 private:
  void end_lane() {
    connection_.end_oneway(*left_);
    {
      const std::scoped_lock lock(connection_.mutex_);
      if (connection_.lane_.empty()) {
        connection_.lane_runs_ = false;
        return;
      }
    }
    connection_.directory_.workers().submit(LaneTask(connection_.shared_from_this()));
  }

  Connection& connection_;
  const std::shared_ptr<Binding>* const binding_;  // in the routes, from which it may be removed
  Placement* const placement_;
  const bool oneway_;
  Incoming* incoming_ = nullptr;
  std::shared_ptr<Binding> left_;
};

void Connection::on_handed_over() noexcept {
  now_ = {};
  try {
    if (auto* const here = std::exchange(here_, nullptr)) here->leave();
    on_turn_end();  // calls started in this turn must not wait
  } catch (...) {   // no memory or no thread: then it cannot be cancelled
  }
}

void Connection::run_here(const std::shared_ptr<Binding>& binding, Ticket&& ticket, std::uint16_t method,
                          Tier tier, std::span<const std::byte> payload, const Bytes& owner,
                          TimePoint deadline, Placement* placement) {
  const auto* const clock = directory_.clock();
  const bool measured = placement != nullptr;
  if (measured && turn_ != watched_) watch_preemption(watched_ = turn_);
  if (measured && clock == nullptr && now_ == TimePoint{}) now_ = mf::now();
  auto& counters = binding->offer->counters[method];
  if (deadline != kNever && has_passed(deadline, now_)) [[unlikely]] {
    Counters::add(counters.expired, ticket.count());
    return ticket.fail(Code::deadline_exceeded, Execution::not_executed, kTooLate);
  }
  if (ticket.call() && !ticket.call()->start()) return ticket.refuse(Code::cancelled, kCancelled);
  count_here(counters, ticket.count());
  const auto began = clock != nullptr ? clock->now() : now_;
  Here here(*this, binding, placement, ticket.oneway());
  run(*binding, std::move(ticket), method, tier, payload, owner, deadline, &here);
  if (here.left()) return;
  now_ = {};
  if (!measured) return;
  const auto ended = clock != nullptr ? clock->now() : mf::now();
  if (clock == nullptr) now_ = ended;
  const auto took = ended - began;
  took_ += took;
  if (took > Placement::kSlow && clock == nullptr && was_preempted(took, Placement::kSlow)) return;
  placement->ran_here(took);
}

void Connection::run(std::unique_ptr<Job> job) {
  if (hold(job)) [[unlikely]]
    return;
  auto& ticket = job->ticket;
  const auto* const clock = directory_.clock();
  auto* const placement = job->placement;
  TimePoint now{};
  if (job->deadline != kNever || (placement != nullptr && clock == nullptr)) now = mf::now();
  if (job->deadline != kNever && now >= job->deadline) {
    Counters::add(job->counters().expired, ticket.count());
    ticket.fail(Code::deadline_exceeded, Execution::not_executed, kTooLate);
  } else if (ticket.call()
                 ? !ticket.call()->start()
                 : ticket.slot() != nullptr && job->slot.machine.on(protocol::ServerCallEvent::started) !=
                                                   protocol::ServerCallStep::run) {
    ticket.refuse(Code::cancelled, kCancelled);
  } else {
    const auto items = ticket.count();
    Counters::add(job->counters().executed, items);
    const auto waits = mf::detail::waits_announced;
    const auto began = clock != nullptr ? clock->now() : now;
    run(*job->binding, std::move(ticket), job->method, job->tier, job->payload.span(), job->payload,
        job->deadline);
    if (placement == nullptr) return;
    if (mf::detail::waits_announced != waits) return placement->waited();
    placement->ran_on_worker((clock != nullptr ? clock->now() : mf::now()) - began, items);
  }
}

void Connection::run(const Binding& binding, Ticket&& ticket, std::uint16_t method, Tier tier,
                     std::span<const std::byte> payload, const Bytes& owner, TimePoint deadline, Here* here) {
  auto& servant = *binding.offer->servant;
  const std::uint64_t client = ticket.link()->client_id();
  ticket.begin();
  const auto id = ticket.id();
  Incoming incoming(std::move(ticket), calls_, method, tier, payload, owner,
                    {.service = binding.offer->service().name,
                     .agent = binding.offer->agent,
                     .peer = peer_,
                     .request_id = client << 32U | id,
                     .connection = number_,
                     .deadline = deadline,
                     .of_peer = &identity_},
                    directory_.failures());
  std::shared_ptr<const mf::detail::InterceptorList> tapped;
  if (const auto& taps = binding.offer->taps; taps && taps->draws()) [[unlikely]] {
    tapped = taps->list();
    incoming.set_interceptors(tapped, binding.offer);
  } else {
    incoming.set_interceptors(binding.offer->interceptors, binding.offer);
  }
  if (here != nullptr) here->set(incoming);
  try {
    servant.dispatch(incoming);
  } catch (...) {  // no memory, mostly
    log_escaped_exception(directory_.log(), "a call's dispatch");
    incoming.ticket().fail(Code::internal, Execution::unknown,
                           "the server has failed: its log has the reason");
  }
}

}  // namespace mf::server
