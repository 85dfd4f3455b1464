#include "flex/node_core.hpp"

#include <algorithm>
#include <set>

#include "mf/codec/flex/tags.hpp"
#include "mf/core/agent.hpp"
#include "mf/core/random.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kMostWays = 4096;
constexpr std::size_t kMostSlots = 4096;
// Of a node that has never been reached. A way asks again, as long as it is patient.
constexpr std::chrono::milliseconds kWaitForServer{500};
// Of one connection: a stream for each sender and mailbox.
constexpr std::uint32_t kMostStreams = 512;
// With which each of them begins: half of what a connection may have ahead, so that those that carry much can
// grow.
constexpr std::uint32_t kFirstWindow = 8 * 1024;

Client client_of(const std::string* where, const NodeOptions& options) {
  ClientOptions of_client;
  of_client.wait_for_server = kWaitForServer;
  of_client.tls = options.tls;
  of_client.log = options.log;
  if (where == nullptr || where->empty())
    return Client(std::make_shared<StaticResolver>(std::vector<Address>{}), std::move(of_client));
  return Client(*where, std::move(of_client));
}

/// Nodes register through relays as at controllers.
std::string controller_of(const std::string& where) {
  std::string controllers;
  if (where.empty()) return {};
  for (auto address : Address::parse_list(where)) {
    if (address.scheme == "relay") address.scheme = "mf";
    if (address.scheme == "relay+tls") address.scheme = "mf+tls";
    if (!address.of_controller()) return {};
    controllers += (controllers.empty() ? "" : ",") + address.str();
  }
  return controllers;
}

std::shared_ptr<const MailAccess> access_of(const NodeOptions& options) {
  if (!options.access) return nullptr;
  (void)options.access.rules();  // throws if it cannot be used
  return std::make_shared<const MailAccess>(options.access, options.log);
}

std::unique_ptr<Server> server_of(const std::string* where, const NodeOptions& options) {
  if (where == nullptr) return nullptr;
  ServerOptions of_server;
  of_server.listen = options.listen;
  of_server.controller = controller_of(*where);
  of_server.advertise = options.advertise;
  if (of_server.controller.find("mf+tls://") != std::string::npos) of_server.controller_tls = options.tls;
  if (options.listen.find("tls://") != std::string::npos) of_server.tls = options.tls;
  of_server.max_streams = kMostStreams;
  of_server.stream_window = kFirstWindow;
  of_server.drain_timeout = std::chrono::seconds(2);
  of_server.access = options.access;  // it offers mailboxes alone, which decide by `send` and `register`
  of_server.reload_interval = options.reload_interval;
  of_server.log = options.log;
  return std::make_unique<Server>(std::move(of_server));
}

void check_name(const std::string& name) {
  if (name.empty() || name.size() > kLongestName || !is_utf8(name) ||
      name.find_first_of("/*") != std::string::npos)
    refuse("a name has 1 to " + std::to_string(kLongestName) +
           " bytes of UTF-8, and neither '/' nor '*': " + quoted(shortened(name)));
}

Error is_closed() {
  return {Code::cancelled, Execution::not_executed, "the node is closed"};
}

}  // namespace

NodeCore::NodeCore(const std::string* where, const NodeOptions& options)
    : patience_(options.patience),
      access_(access_of(options)),
      client_(client_of(where, options)),
      server_(server_of(where, options)) {
  if (!server_) return;
  server_->start();
  (void)client_.core()->resolver().offers(
      methods::kMailboxService.name);  // begins to watch: groups are found there
}

NodeCore::~NodeCore() = default;

std::string NodeCore::address() const {
  return server_ ? server_->address().str() : "";
}

bool NodeCore::reload() {
  return !server_ || server_->reload();
}

std::vector<std::string> NodeCore::processes() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> all;
  for (const auto& [name, process] : local_)
    if (name == process->name()) all.push_back(name);
  return all;
}

std::vector<std::string> NodeCore::agents_of(const ProcessCore& process) {
  std::vector<std::string> all{process.name()};
  for (const auto& group : process.groups()) all.push_back(group + "/" + process.name());
  return all;
}

std::shared_ptr<ProcessCore> NodeCore::process(std::string name, const ProcessOptions& options) {
  if (name.empty()) name = agent_text(random_uuid());
  check_name(name);
  for (const auto& group : options.groups) check_name(group);
  const auto made = std::make_shared<ProcessCore>(weak_from_this(), std::move(name), options, client_.core());
  const std::scoped_lock one_at_a_time(offering_);
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) throw is_closed();
    if (local_.contains(made->name())) refuse("this node has a process " + quoted(made->name()) + " already");
    for (const auto& agent : agents_of(*made)) local_.emplace(agent, made);
  }
  if (!server_) return made;
  try {
    offer(made);
  } catch (...) {  // the name is free again
    withdraw(*made);
    throw;
  }
  return made;
}

void NodeCore::offer(const std::shared_ptr<ProcessCore>& process) {
  std::shared_ptr<Arrivals> arrivals;
  {
    const std::scoped_lock lock(mutex_);
    const auto slot = slots_.find(process->name());
    arrivals = slot == slots_.end() ? std::make_shared<Arrivals>(process->name(), access_) : slot->second;
    if (slot != slots_.end()) slots_.erase(slot);
    arrivals_[process->name()] = arrivals;
  }
  arrivals->open(process);
  for (const auto& agent : agents_of(*process))
    server_->offer(arrivals, {.agent = agent, .where = Where::io_thread, .alone = agent == process->name()});
}

void NodeCore::leave(const std::shared_ptr<ProcessCore>& process) {
  const std::scoped_lock one_at_a_time(offering_);
  withdraw(*process);
}

// With offering_ held. Some agents of the process may not have been offered.
void NodeCore::withdraw(const ProcessCore& process) {
  std::shared_ptr<Arrivals> arrivals;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& agent : agents_of(process)) local_.erase(agent);
    if (const auto found = arrivals_.find(process.name()); found != arrivals_.end()) {
      arrivals = std::move(found->second);
      arrivals_.erase(found);
      slots_[process.name()] = arrivals;
      if (slots_.size() > kMostSlots) slots_.erase(slots_.begin());
    }
  }
  if (!arrivals) return;
  for (const auto& agent : agents_of(process)) {
    try {
      server_->withdraw(*arrivals, agent);
    } catch (const Error&) {  // it was not offered
    }
  }
  arrivals->close();
}

std::shared_ptr<ProcessCore> NodeCore::local(const std::string& dest) {
  const std::scoped_lock lock(mutex_);
  const auto found = local_.find(dest);
  return found == local_.end() ? nullptr : found->second;
}

std::shared_ptr<Outgoing> NodeCore::way(const std::string& dest) {
  const std::scoped_lock lock(mutex_);
  if (!server_)
    throw Error(Code::unknown_agent, Execution::not_executed,
                "this node has no process " + quoted(dest) + ", and has no other nodes to ask");
  const auto found = ways_.find(dest);
  if (found != ways_.end() && !found->second->closed())
    return found->second;  // one that ends is forgotten soon
  if (closed_) throw is_closed();
  if (found == ways_.end() && ways_.size() >= kMostWays)
    throw Error(Code::overloaded, Execution::not_executed,
                "this node sends to " + std::to_string(kMostWays) + " processes already");
  return ways_[dest] = std::make_shared<Outgoing>(
             client_.core(), dest,
             [weak = weak_from_this()](const Outgoing& ended) {
               if (const auto self = weak.lock()) self->forget(ended);
             },
             patience_);
}

void NodeCore::forget(const Outgoing& way) {
  std::shared_ptr<Outgoing> gone;
  const std::scoped_lock lock(mutex_);
  const auto found = ways_.find(way.dest());
  if (found == ways_.end() || found->second.get() != &way) return;
  gone = std::move(found->second);
  ways_.erase(found);
}

std::vector<std::string> NodeCore::members(const std::string& group, bool wait) {
  const auto prefix = group + "/";
  std::set<std::string> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, process] : local_)
      if (name.starts_with(prefix)) all.insert(name);
  }
  if (!server_) return {all.begin(), all.end()};
  auto& resolver = client_.core()->resolver();
  const auto until = deadline_after(mf::now(), patience_);
  auto known = resolver.offers(methods::kMailboxService.name);
  for (;;) {
    for (const auto& [agent, instances] : known->agents)
      if (agent.starts_with(prefix) && !instances.empty()) all.insert(agent);
    if (!all.empty() || !wait || !resolver.knows_agents() || mf::now() >= until)
      return {all.begin(), all.end()};
    blocking();
    known = resolver.wait_for_change(methods::kMailboxService.name, known, until);
  }
}

void NodeCore::close(std::chrono::nanoseconds timeout) {
  std::set<std::shared_ptr<ProcessCore>> processes;
  std::map<std::string, std::shared_ptr<Outgoing>> ways;
  {
    const std::scoped_lock one_at_a_time(offering_);
    const std::scoped_lock lock(mutex_);
    if (std::exchange(closed_, true)) return;
    for (const auto& [name, process] : local_) processes.insert(process);
  }
  for (const auto& each : processes) each->leave();
  {
    const std::scoped_lock lock(mutex_);
    ways = ways_;
  }
  const auto until = deadline_after(mf::now(), timeout);
  const Error error(Code::cancelled, Execution::not_executed, "the node was closed");
  for (const auto& [dest, way] : ways) (void)way->await_arrived(until);
  for (const auto& [dest, way] : ways) way->close(error);
  if (server_) server_->stop();
  client_.core()->close();
}

}  // namespace mf::flex
