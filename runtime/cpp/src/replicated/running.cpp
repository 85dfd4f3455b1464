#include "replicated/running.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "mf/core/agent.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/random.hpp"
#include "mf/replication.client.hpp"
#include "mf/server/stream.hpp"
#include "mf/transport/waiting.hpp"
#include "replicated/replication.hpp"

namespace mf::replicated {
namespace {

using Link = replication::methods::ReplicaLink;

constexpr std::chrono::milliseconds kPause{200};
constexpr std::chrono::milliseconds kDrain{500};
constexpr std::chrono::seconds kPatience{2};
// Messages that are read of one link before others have their turn.
constexpr int kAtOnce = 256;

Error invalid(const std::string& what) {
  return {Code::invalid_argument, Execution::not_executed, what};
}

std::string base_of(const ServiceInfo& service, const ReplicaOptions& options) {
  if (options.controller.empty()) throw invalid("a replica needs a controller");
  const auto agent = sent_agent(service, options.agent);
  if (const auto refusal = agent_refusal(service, agent)) throw invalid(*refusal);
  return group_agent(service.name, agent);
}

link::HandlerFailures::Texts texts_of(bool sent) noexcept {
  return sent ? link::HandlerFailures::Texts::sent : link::HandlerFailures::Texts::hidden;
}

}  // namespace

/// What a replica offers to clients and to the others.
class Running::Offered final : public replication::ReplicaAsyncServant {
 public:
  explicit Offered(std::weak_ptr<Running> replica) : replica_(std::move(replica)) {}

  /// Callers differ by what they say that they are.
  [[nodiscard]] Authorized authorized() const noexcept override { return Authorized::by_servant; }

  void dispatch(server::Incoming& in) override {
    if (in.method() != Link::kInfo.index) return ReplicaAsyncServant::dispatch(in);
    auto request = fresh<Link::Request>();
    if (!server::detail::begin_stream<Link>(in, request)) return;
    const auto replica = replica_.lock();
    auto& who = request.who;
    if (!replica)
      return in.ticket().fail(Code::shutting_down, Execution::not_executed, "the replica has stopped");
    if (who.client.has_value() == who.member.has_value() || (who.member && !replica->is_other(*who.member)))
      return in.ticket().fail(Code::invalid_argument, Execution::not_executed,
                              "a link is a client's, or another member's of the group");
    if (const auto* const access = replica->access())
      if (const auto no =
              who.member ? access->denied_member(in.info(), *who.member) : access->denied_client(in.info()))
        return in.ticket().fail(no->code, no->execution, no->message);
    const auto call = in.ticket().call();
    call->set_results(Link::kResultElementTier, mf::link::kMethod<Link>);
    const auto answers = server::detail::stream_answers(
        in, mf::link::kMethod<Link>,
        std::unique_ptr<server::detail::Encoder>(new server::detail::EncoderOf<void, Link::kResultTier>(1)));
    auto peer = who.client ? PeerId(*who.client) : PeerId(std::move(*who.member));
    replica->linked(std::make_shared<IncomingLink>(
        IncomingLink{.peer = std::move(peer),
                     .wire = std::make_shared<Wire>(call, call->input(), call->output()),
                     .ended = Responder<void>(answers, 0)}));
  }

 private:
  void group(replication::ReplicaGroupRequest /*request*/, Responder<replication::Group> responder) override {
    const auto replica = replica_.lock();
    if (!replica) return responder.respond(not_executed(Code::shutting_down, "the replica has stopped"));
    auto found = replica->group();
    if (const auto* const access = replica->access())
      if (auto no = access->denied_both(current_call(), found.members))
        return responder.respond(std::move(*no));
    responder.respond(std::move(found));
  }
  // dispatch() does it all: it needs the call.
  void link(replication::ReplicaLinkRequest /*request*/, StreamReader<Message> /*messages*/,
            StreamWriter<Message> /*out*/, Responder<void> /*responder*/) override {}

  const std::weak_ptr<Running> replica_;
};

Running::Running(std::shared_ptr<Servant> servant, std::shared_ptr<Applies> applies,
                 std::shared_ptr<Snapshots> snapshots, ReplicaOptions options)
    : servant_(std::move(servant)),
      applies_(std::move(applies)),
      snapshots_(std::move(snapshots)),
      options_(std::move(options)),
      base_(base_of(servant_->service(), options_)),
      failures_(std::make_shared<link::HandlerFailures>(options_.log, texts_of(options_.error_texts))),
      machine_(options_.member, options_.members, schema_of(servant_->service()), random_uuid(),
               snapshots_ != nullptr, options_.settings),
      schemas_(servant_->service()) {
  if (options_.access)
    access_.emplace(options_.access, servant_->service(), sent_agent(servant_->service(), options_.agent),
                    options_.log);
}

Running::~Running() = default;

// Beginning and end

void Running::start() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(started_, true)) throw invalid("the replica was started already");
  }
  thread_ = std::make_unique<transport::Workers>(1, options_.log);
  ServerOptions serving;
  serving.listen = options_.listen;
  serving.controller = options_.controller;
  serving.advertise = options_.advertise;
  serving.tls = options_.tls;
  if (options_.controller.find("mf+tls://") != std::string::npos) serving.controller_tls = options_.tls;
  serving.workers = 1;
  serving.drain_timeout = kDrain;
  serving.access = options_.access;  // it offers the replica alone, which decides by itself
  serving.reload_interval = options_.reload_interval;
  serving.log = options_.log;
  server_.emplace(std::move(serving));
  ClientOptions calling;
  calling.tls = options_.tls;
  calling.log = options_.log;
  client_ = std::make_unique<Client>(options_.controller, std::move(calling));
  core_ = client_->core();
  const auto offered = std::make_shared<Offered>(weak_from_this());
  server_->offer(offered, {.agent = base_ + machine_.me(), .where = Where::io_thread});
  server_->offer(offered, {.agent = base_, .where = Where::io_thread});
  server_->start();
  open_links();
  post([this] { seek_lead(); });
  tick_later();
}

void Running::open_links() {
  const client::Target replicas(core_, replication::methods::kReplicaService);
  replication::Peer me;
  me.member = machine_.me();
  for (const auto& other : machine_.others()) {
    const auto on_thread = [weak = weak_from_this()](UniqueFunction<void(Running&)> work) {
      if (const auto self = weak.lock())
        self->post([running = self.get(), work = std::move(work)]() mutable { work(*running); });
    };
    links_.emplace(
        other,
        std::make_shared<OutgoingLink>(
            core_, replicas.at(base_ + other), me,
            OutgoingLink::Events{
                .opened =
                    [on_thread, other] {
                      on_thread([other](Running& self) {
                        self.machine_.connected(other, mf::now());
                        self.learn_from(other);
                      });
                    },
                .readable = [on_thread,
                             other] { on_thread([other](Running& self) { self.read_other(other); }); },
                .closed =
                    [on_thread, other] {
                      on_thread([other](Running& self) { self.machine_.disconnected(other, mf::now()); });
                    }}));
  }
  for (const auto& [other, link] : links_) link->begin();
}

void Running::stop() {
  if (thread_id_.load() == std::this_thread::get_id())
    throw invalid(
        "a replica cannot stop within its on_apply, for whose end it waits: stop it from elsewhere");
  {
    const std::scoped_lock lock(mutex_);
    if (!started_ || std::exchange(stopped_, true)) return;
  }
  seeks_.request_stop();
  if (thread_) thread_->stop();  // from here on nothing runs on it
  lead_.reset();
  for (const auto& [other, link] : links_) link->leave();
  for (const auto& link : incoming_) link->ended.respond({});
  incoming_.clear();
  clients_.clear();
  if (server_) server_->stop();
  client_.reset();
  changed_.notify_all();
}

bool Running::reload() {
  {
    const std::scoped_lock lock(mutex_);
    if (!started_ || stopped_) return true;
  }
  return server_->reload();
}

void Running::post(UniqueFunction<void()> work) {
  // The thread is stopped before anything that is used here goes.
  thread_->submit([this, work = std::move(work)]() mutable {
    thread_id_.store(std::this_thread::get_id());
    work();
    carry_out();
  });
}

void Running::tick_later() {
  core_->reactor().at(mf::now() + kTick, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->post([running = self.get()] { running->machine_.tick(mf::now()); });
    self->tick_later();
  });
}

// What users see

Running::Status Running::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

bool Running::until_serving(TimePoint until) const {
  blocking();
  std::unique_lock lock(mutex_);
  const auto decided = [&] { return status_.serves || stopped_; };
  if (until == kNever) {
    changed_.wait(lock, decided);
  } else {
    (void)transport::wait_until(changed_, lock, until, decided);
  }
  return status_.serves;
}

void Running::publish() {
  Status now;
  now.serves = machine_.is_normal();
  now.leads = machine_.leads();
  if (const auto* const head = machine_.log().head_at(machine_.applied())) now.version = head->version;
  const std::scoped_lock lock(mutex_);
  now.stuck = stuck_;
  const bool news = now.serves && !status_.serves;
  status_ = std::move(now);
  if (news) changed_.notify_all();
}

// Links

bool Running::is_other(const std::string& member) const {
  const auto& others = machine_.others();
  return std::find(others.begin(), others.end(), member) != others.end();
}

void Running::linked(std::shared_ptr<IncomingLink> link) {
  post([this, link = std::move(link)] {
    incoming_.insert(link);
    if (const auto* const client = std::get_if<Uuid>(&link->peer)) {
      if (const auto before = clients_.find(*client); before != clients_.end())
        end(std::shared_ptr(before->second));
      clients_.emplace(*client, link);
      machine_.connected(link->peer, mf::now());
    }
    read(link);
  });
}

void Running::read(const std::shared_ptr<IncomingLink>& link) {
  if (!incoming_.contains(link)) return;
  const auto again = [weak = weak_from_this(), of = std::weak_ptr(link)] {
    const auto self = weak.lock();
    const auto from = of.lock();
    if (self && from) self->post([running = self.get(), from] { running->read(from); });
  };
  Message message;
  for (int i = 0; i < kAtOnce; ++i) {
    switch (link->wire->next(message)) {
      case Wire::Got::message:
        machine_.receive(link->peer, std::move(message), mf::now());
        break;
      case Wire::Got::nothing:
        return link->wire->when_ready(again);
      case Wire::Got::ended:
        return end(link);
    }
  }
  again();
}

void Running::end(const std::shared_ptr<IncomingLink>& link) {
  if (incoming_.erase(link) == 0) return;
  wires_touched_.erase(link->wire.get());
  if (const auto* const client = std::get_if<Uuid>(&link->peer)) {
    const auto found = clients_.find(*client);
    if (found != clients_.end() && found->second == link) {
      clients_.erase(found);
      machine_.disconnected(link->peer, mf::now());
    }
  }
  link->ended.respond({});
}

/// Nothing comes: each side speaks on the link that it has opened. But its end is seen so.
void Running::read_other(const std::string& member) {
  const auto found = links_.find(member);
  if (found == links_.end()) return;
  for (Message message; found->second->next(message);) {
  }
}

// Effects

/// All that the machine asks for now.
void Running::carry_out() {
  for (auto effects = machine_.take(); !effects.empty(); effects = machine_.take()) {
    for (auto& effect : effects) {
      if (auto* const send_it = std::get_if<Send>(&effect)) {
        send(send_it->to, std::move(send_it->message));
      } else if (const auto* const resign = std::get_if<Resign>(&effect)) {
        options_.log.write(Level::info, "replica_resigns",
                           {{"group", base_}, {"member", machine_.me()}, {"reason", resign->reason}});
        lead_.reset();
        seek_lead_later();
      } else if (const auto* const distrust = std::get_if<Distrust>(&effect)) {
        options_.log.write(Level::warning, "replica_distrusts",
                           {{"group", base_},
                            {"member", machine_.me()},
                            {"sender", distrust->member},
                            {"reason", distrust->reason}});
      } else if (const auto* const stuck = std::get_if<Stuck>(&effect)) {
        options_.log.write(Level::error, "replica_stuck",
                           {{"group", base_}, {"member", machine_.me()}, {"reason", stuck->reason}});
        stuck_ = stuck->reason;
      } else {
        jobs_.push_back(std::move(effect));
      }
    }
    while (!working_ && !jobs_.empty() && is_ready()) begin_job();
  }
  for (auto* const wire : std::exchange(wires_touched_, {})) wire->flush();
  for (auto* const link : std::exchange(links_touched_, {})) link->flush();
  publish();
}

void Running::send(const PeerId& to, Message message) {
  if (const auto* const member = std::get_if<std::string>(&to)) {
    const auto link = links_.find(*member);
    if (link == links_.end()) return;
    link->second->send(std::move(message));
    links_touched_.insert(link->second.get());
  } else if (const auto client = clients_.find(std::get<Uuid>(to)); client != clients_.end()) {
    client->second->wire->send(std::move(message));
    wires_touched_.insert(client->second->wire.get());
  }
}

/// One request to the servant. This thread handles its end if it ends at once, else the thread that ends it.
class Running::Job final : public std::enable_shared_from_this<Running::Job> {
 public:
  explicit Job(std::weak_ptr<Running> of) : of_(std::move(of)) {}

  /// On any thread.
  void done(replication::Outcome&& outcome) {
    {
      const std::scoped_lock lock(mutex_);
      if (!left_) {
        outcome_ = std::move(outcome);
        return;
      }
    }
    const auto running = of_.lock();
    if (running)
      running->post([self = running.get(), outcome = std::move(outcome)]() mutable {
        self->job_done(std::move(outcome));
      });
  }
  /// Nothing: it is told later.
  std::optional<replication::Outcome> leave() {
    const std::scoped_lock lock(mutex_);
    left_ = !outcome_;
    return std::move(outcome_);
  }

 private:
  const std::weak_ptr<Running> of_;
  std::mutex mutex_;
  bool left_ = false;
  std::optional<replication::Outcome> outcome_;
};

// Schemas

replication::Group Running::group() const {
  replication::Group group;
  group.members = options_.members;
  const std::scoped_lock lock(mutex_);
  group.schemas = schemas_.texts();
  return group;
}

/// Asks another member for the schemas that it knows.
void Running::learn_from(const std::string& member) {
  if (!learning_.insert(member).second) return;
  CallOptions options;
  options.deadline = kPatience;
  client::start<replication::methods::ReplicaGroup>(
      client::Target(core_, replication::methods::kReplicaService).at(base_ + member).past(), options,
      [weak = weak_from_this(), member](mf::Outcome<replication::Group>&& group) {
        if (const auto self = weak.lock())
          self->post([running = self.get(), member, group = std::move(group)] {
            running->learning_.erase(member);
            if (group) running->learn(member, group.value().schemas);
          });
      });
}

void Running::learn(const std::string& member, const std::vector<replication::Schema>& schemas) {
  std::set<Uuid> wanted;
  for (const auto& job : jobs_)
    if (const auto* const message = std::get_if<Apply>(&job)) wanted.insert(message->body.schema);
  const std::scoped_lock lock(mutex_);
  schemas_.learn(member, schemas, wanted);
  machine_.accept(schemas_.known());
}

/// Can the servant be asked? A message of a schema that is not known yet waits, and all behind it do.
bool Running::is_ready() {
  const auto* const apply = std::get_if<Apply>(&jobs_.front());
  if (apply == nullptr || apply->body.schema == schemas_.own()) return true;
  if (schemas_.knows(apply->body.schema)) return true;
  for (const auto& other : machine_.others()) learn_from(other);
  return false;
}

/// The servant cannot apply what others have applied.
void Running::give_up(const Apply& message, const std::string& why) {
  jobs_.clear();
  working_ = false;
  machine_.give_up("message " + std::to_string(message.version.counter) + " of its group: " + why);
}

const std::variant<AdaptedMessages, std::string>& Running::adapted_messages(const Uuid& schema) {
  const std::scoped_lock lock(mutex_);
  return schemas_.messages_of(schema);
}

void Running::apply(const Apply& message) {
  const auto job = std::make_shared<Job>(weak_from_this());
  std::string_view method = message.body.method;
  auto payload = message.body.payload;
  UniqueFunction<void(replication::Outcome&&)> done = [job](replication::Outcome&& outcome) {
    job->done(std::move(outcome));
  };
  if (message.body.schema != schemas_.own()) {
    const auto& how = adapted_messages(message.body.schema);
    if (const auto* const why = std::get_if<std::string>(&how)) return give_up(message, *why);
    const auto& messages = std::get<AdaptedMessages>(how);
    const auto index = messages.index_of(method);
    if (!index) return give_up(message, "its schema has no method '" + message.body.method + "'");
    if (const auto refused = messages.request(*index, method, payload))
      return give_up(message, refused->message);
    done = [job, messages, index = *index](replication::Outcome&& outcome) {
      if (const auto lost = messages.outcome(index, outcome))
        outcome = {.status = static_cast<std::uint8_t>(lost->code),
                   .error = 0,
                   .payload = Bytes(std::string(lost->message))};
      job->done(std::move(outcome));
    };
  }
  applies_->apply_replicated({.method = method,
                              .version = message.version,
                              .payload = std::move(payload),
                              .done = std::move(done),
                              .failures = failures_});
  if (auto outcome = job->leave()) job_done(std::move(*outcome));
}

void Running::begin_job() {
  const auto effect = std::move(jobs_.front());
  jobs_.pop_front();
  working_ = true;
  const auto of_state = [&](auto&& function) -> replication::Outcome {
    const auto made = outcome_of(function);
    if (made) return {.status = 0, .error = 0, .payload = made.value()};
    const auto& failure = made.failure();
    return {.status = static_cast<std::uint8_t>(failure.code),
            .error = 0,
            .payload = Bytes(std::string(failure.message))};
  };
  if (const auto* const message = std::get_if<Apply>(&effect)) {
    apply(*message);
  } else if (const auto* const restore = std::get_if<RestoreState>(&effect)) {
    job_done(of_state([&]() -> Bytes {
      snapshots_->on_restore(restore->snapshot);
      return {};
    }));
  } else {
    job_done(of_state([&] { return snapshots_->on_snapshot(); }));
  }
}

void Running::job_done(replication::Outcome outcome) {
  working_ = false;
  machine_.done(std::move(outcome), mf::now());
}

// The lead

void Running::seek_lead() {
  if (std::exchange(seeking_, true)) return;
  const Offered self{weak_from_this()};  // what the lead is of: the service
  server_->async_lead(
      self, {.agent = base_, .stop = seeks_.get_token()},
      [weak = weak_from_this()](mf::Outcome<Lead>&& lead) {
        const auto running = weak.lock();
        if (!running) return;
        running->post([self = running.get(), lead = std::move(lead)]() mutable {
          self->seeking_ = false;
          if (!lead) return self->seek_lead_later();
          self->lead_ = std::move(lead).value();
          const auto epoch = self->lead_->epoch();
          self->lead_->async_lost([weak = self->weak_from_this(), epoch](mf::Outcome<void>&&) {
            const auto of = weak.lock();
            if (of) of->post([it = of.get(), epoch] { it->lead_ended(epoch); });
          });
          self->machine_.lead(epoch, mf::now());
        });
      });
}

// It goes on giving out versions until it hears of a later epoch: the controller may just be away.
void Running::lead_ended(std::uint64_t epoch) {
  if (!lead_ || lead_->epoch() != epoch) return;
  lead_.reset();
  seek_lead_later();
}

void Running::seek_lead_later() {
  core_->reactor().at(mf::now() + kPause, [weak = weak_from_this()] {
    if (const auto self = weak.lock())
      self->post([running = self.get()] {
        if (!running->lead_) running->seek_lead();
      });
  });
}

}  // namespace mf::replicated

namespace mf {

Replica::Replica(std::shared_ptr<Servant> servant, std::shared_ptr<replicated::Applies> applies,
                 std::shared_ptr<Snapshots> snapshots, ReplicaOptions options) {
  try {
    running_ = std::make_shared<replicated::Running>(std::move(servant), std::move(applies),
                                                     std::move(snapshots), std::move(options));
  } catch (const std::invalid_argument& wrong) {
    throw Error(Code::invalid_argument, Execution::not_executed, wrong.what());
  }
}

Replica::~Replica() {
  stop();
}

void Replica::start() {
  running_->start();
}

void Replica::stop() {
  running_->stop();
}

bool Replica::reload() {
  return running_->reload();
}

bool Replica::serves() const {
  return running_->status().serves;
}

bool Replica::until_serving(std::chrono::nanoseconds timeout) const {
  return running_->until_serving(deadline_after(now(), timeout));
}

bool Replica::leads() const {
  return running_->status().leads;
}

Version Replica::version() const {
  return running_->status().version;
}

std::string Replica::stuck() const {
  return running_->status().stuck;
}

}  // namespace mf
