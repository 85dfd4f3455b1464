#include "server/connection.hpp"

#include <algorithm>

#include "mf/core/options.hpp"

namespace mf::server {
namespace {

// Larger payloads are decoded on a worker, whatever the offer says: they must not hold up other connections.
constexpr std::size_t kMostInline = 4096;
// Cancels that are remembered: most are of calls that have ended already. With more the oldest are forgotten,
// and such a call simply runs.
constexpr std::size_t kMostCancelled = 4096;

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
  const auto count = binding.methods.size();
  routes_.bind(first_route, count, std::move(binding));
  return {Code::ok, {}};
}

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
  auto& binding = *target.binding;
  const auto method = binding.methods[target.method];
  const auto tier = static_cast<Tier>(event.header.encoding());
  const auto left = protocol::decode_deadline(event.header.deadline());
  const auto deadline = left == kInfinite ? kNever : deadline_after(now, left);
  std::unique_lock lock(mutex_);
  const bool through_lane =
      binding.lane_runs || (event.header.oneway() && binding.offer->where == Where::worker);
  if (!through_lane && binding.offer->where == Where::io_thread && event.payload.size() <= kMostInline) {
    lock.unlock();
    return run(binding, std::move(ticket), method, tier, event.payload, deadline);
  }
  auto job = std::make_unique<Job>(std::move(ticket), event.keep());
  job->method = method;
  job->tier = tier;
  job->deadline = deadline;
  job->binding = &binding;
  if (!through_lane && !event.header.oneway()) {
    tasks_.emplace_back(
        [self = shared_from_this(), job = std::move(job)]() mutable { self->run(std::move(job)); });
    return;
  }
  binding.lane.push_back(std::move(job));
  if (binding.lane_runs) return;
  binding.lane_runs = true;
  tasks_.emplace_back([self = shared_from_this(), &binding] { self->run_lane(binding); });
}

void Connection::run_lane(Binding& binding) {
  for (;;) {
    std::unique_ptr<Job> job;
    {
      const std::scoped_lock lock(mutex_);
      if (binding.lane.empty()) {
        binding.lane_runs = false;
        return;
      }
      job = std::move(binding.lane.front());
      binding.lane.pop_front();
    }
    if (job->ticket.oneway()) {
      run(std::move(job));
    } else {
      directory_.workers().submit(
          [self = shared_from_this(), job = std::move(job)]() mutable { self->run(std::move(job)); });
    }
  }
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
  if (job->deadline != kNever && std::chrono::steady_clock::now() >= job->deadline) {
    return job->ticket.fail(Code::deadline_exceeded, Execution::not_executed,
                            "the deadline passed while the call waited for a worker");
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
  servant.dispatch(incoming);
}

}  // namespace mf::server
