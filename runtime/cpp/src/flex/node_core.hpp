// The implementation of a node: its processes by name, a server that offers them, a client, and the ways to
// remote mailboxes.
//
// Thread-safe. No function is called under the lock.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "flex/arrivals.hpp"
#include "flex/process_core.hpp"
#include "mf/client/client.hpp"
#include "mf/flex/node.hpp"
#include "mf/server/server.hpp"

namespace mf::flex {

class NodeCore final : public Office, public std::enable_shared_from_this<NodeCore> {
 public:
  /// Null for a local node.
  NodeCore(const std::string* where, const NodeOptions& options);
  ~NodeCore() override;
  NodeCore(const NodeCore&) = delete;
  NodeCore& operator=(const NodeCore&) = delete;

  [[nodiscard]] std::shared_ptr<ProcessCore> process(std::string name, const ProcessOptions& options);
  [[nodiscard]] std::vector<std::string> processes() const;
  [[nodiscard]] std::string address() const;
  bool reload();
  void close(std::chrono::nanoseconds timeout);

  [[nodiscard]] std::shared_ptr<ProcessCore> local(const std::string& dest) override;
  [[nodiscard]] std::shared_ptr<Outgoing> way(const std::string& dest) override;
  [[nodiscard]] std::vector<std::string> members(const std::string& group, bool wait) override;
  void leave(const std::shared_ptr<ProcessCore>& process) override;

 private:
  [[nodiscard]] static std::vector<std::string> agents_of(const ProcessCore& process);
  void offer(const std::shared_ptr<ProcessCore>& process);
  void withdraw(const ProcessCore& process);
  void forget(const Outgoing& way);

  const std::chrono::nanoseconds patience_;
  const std::shared_ptr<const MailAccess> access_;  // null: other nodes may do everything
  Client client_;
  std::unique_ptr<Server> server_;  // null for a local node
  std::mutex offering_;             // serializes calls of the server; locked before mutex_
  mutable std::mutex mutex_;        // all below
  std::map<std::string, std::shared_ptr<ProcessCore>> local_;  // by name, and by "GROUP/NAME"
  std::map<std::string, std::shared_ptr<Arrivals>> arrivals_;
  std::map<std::string, std::shared_ptr<Arrivals>> slots_;  // of names without a process
  std::map<std::string, std::shared_ptr<Outgoing>> ways_;
  bool closed_ = false;
};

}  // namespace mf::flex
