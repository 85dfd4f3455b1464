#include "server/connection.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "mf/core/options.hpp"

namespace mf::server {
namespace {

// Larger payloads are decoded on a worker, whatever the offer says: they must not hold up other connections.
constexpr std::size_t kMostInline = 4096;
// Cancels that are remembered: most are of calls that have ended already. With more they are forgotten, and
// calls that were cancelled simply run.
constexpr std::size_t kMostCancelled = 4096;
constexpr std::string_view kTooLate = "the deadline passed while the call waited to be run";

bool expired(TimePoint deadline) {
  return deadline != kNever && std::chrono::steady_clock::now() >= deadline;
}

}  // namespace

std::pair<Code, std::string> Connection::on_bind(std::uint16_t first_route, const protocol::Bind& bind) {
  if (!routes_.free(first_route, bind.methods.size())) {
    return {Code::protocol_error, "BIND of routes that are bound already, or of too many"};
  }
  auto found = directory_.find(bind);
  if (!found) return {found.failure().code, found.failure().message};
  Binding binding;
  binding.offer = found.value();
  const auto& service = binding.offer->servant->service();
  for (const auto method : bind.methods) {
    const auto at = std::ranges::find(service.methods, method);
    if (at == service.methods.end()) {
      return {Code::unknown_method, std::string(service.name) + " has no method " + std::string(method)};
    }
    binding.methods.push_back(static_cast<std::uint16_t>(at - service.methods.begin()));
  }
  {
    const std::scoped_lock lock(mutex_);
    binding.oneways = &oneways_[binding.offer.get()];
  }
  const auto count = binding.methods.size();
  routes_.bind(first_route, count, std::move(binding));
  return {Code::ok, {}};
}

// Dropped unrun, it drops the lane, whose calls hold the connection.
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

void Connection::on_request(const protocol::Event& event, TimePoint now) {
  const auto link = link_.lock();
  if (!link) return;
  Ticket ticket(link, protocol::ReplyHead::to(event), event.payload.size(), event.header.oneway());
  const auto target = routes_.find(event.header.route);
  if (target.binding == nullptr) [[unlikely]] {
    return ticket.fail(Code::unknown_method, Execution::not_executed,
                       "the route is not bound on this connection");
  }
  if (draining_.load(std::memory_order_acquire)) [[unlikely]] {
    return ticket.fail(Code::shutting_down, Execution::not_executed,
                       "the server is stopping; use another instance");
  }
  const auto& binding = *target.binding;
  const auto method = binding->methods[target.method];
  const auto tier = static_cast<Tier>(event.header.encoding());
  const auto left = protocol::decode_deadline(event.header.deadline());
  const auto deadline = left == kInfinite ? kNever : deadline_after(now, left);
  const bool oneway = ticket.oneway();
  const bool here = binding->offer->where == Where::io_thread && event.payload.size() <= kMostInline;
  std::unique_lock lock(mutex_);
  const bool queue = oneway ? !here || lane_runs_ : *binding->oneways != 0;
  if (here && !queue) {
    lock.unlock();
    // Handlers before it in the same turn may have taken their time.
    if (expired(deadline)) return ticket.fail(Code::deadline_exceeded, Execution::not_executed, kTooLate);
    return run(*binding, std::move(ticket), method, tier, event.payload, deadline);
  }
  auto job = std::make_unique<Job>(std::move(ticket), event.keep());
  job->method = method;
  job->tier = tier;
  job->deadline = deadline;
  job->binding = binding;
  if (!queue) {
    tasks_.emplace_back(
        [self = shared_from_this(), job = std::move(job)]() mutable { self->run(std::move(job)); });
    return;
  }
  if (oneway) ++*binding->oneways;
  lane_.push_back(std::move(job));
  if (!std::exchange(lane_runs_, true)) tasks_.emplace_back(LaneTask(shared_from_this()));
}

void Connection::run_lane() {
  for (;;) {
    std::unique_ptr<Job> job;
    {
      const std::scoped_lock lock(mutex_);
      if (lane_.empty()) {
        lane_runs_ = false;
        return;
      }
      job = std::move(lane_.front());
      lane_.pop_front();
    }
    if (directory_.stopped()) return drop_lane();
    if (job->ticket.oneway()) {
      auto& waiting = *job->binding->oneways;
      run(std::move(job));
      const std::scoped_lock lock(mutex_);
      --waiting;
    } else {
      directory_.workers().submit(
          [self = shared_from_this(), job = std::move(job)]() mutable { self->run(std::move(job)); });
    }
  }
}

void Connection::drop_lane() {
  std::deque<std::unique_ptr<Job>> dropped;  // destroyed after unlocking: their tickets answer
  const std::scoped_lock lock(mutex_);
  dropped.swap(lane_);
}

void Connection::on_cancel(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  if (cancelled_.size() >= kMostCancelled) cancelled_.clear();
  cancelled_.insert(id);
}

bool Connection::was_cancelled(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  return !cancelled_.empty() && cancelled_.erase(id) != 0;
}

void Connection::on_turn_end() {
  if (!tasks_.empty()) directory_.workers().submit(tasks_);
}

void Connection::run(std::unique_ptr<Job> job) {
  if (was_cancelled(job->ticket.id())) {
    return job->ticket.fail(Code::cancelled, Execution::not_executed, "cancelled before it was started");
  }
  if (expired(job->deadline)) {
    return job->ticket.fail(Code::deadline_exceeded, Execution::not_executed, kTooLate);
  }
  run(*job->binding, std::move(job->ticket), job->method, job->tier, job->payload.span(), job->deadline);
}

void Connection::run(Binding& binding, Ticket ticket, std::uint16_t method, Tier tier,
                     std::span<const std::byte> payload, TimePoint deadline) {
  auto& servant = *binding.offer->servant;
  const auto link = link_.lock();
  const auto client = link ? std::uint64_t{link->client_id()} : 0;
  const CallInfo info{.service = servant.service().name,
                      .agent = binding.offer->agent,
                      .peer = peer_,
                      .request_id = client << 32U | ticket.id(),
                      .connection = number_,
                      .deadline = deadline};
  Incoming incoming(std::move(ticket), method, tier, payload, info, directory_.log());
  try {
    servant.dispatch(incoming);
  } catch (const std::exception& error) {  // no memory, mostly
    incoming.ticket().fail(Code::internal, Execution::unknown, error.what());
  }
}

}  // namespace mf::server
