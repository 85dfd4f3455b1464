// A node: the flexible processes of one program, and what they share: a server, a client, connections.
//
//   mf::flex::Node node("mf://localhost:7400");
//   auto a = node.process("A");
//   a.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}});
//
// Two nodes share one connection, however many processes they have. Processes may outlive their node: then
// they have left. See docs/flexible.md.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/log.hpp"
#include "mf/flex/process.hpp"
#include "mf/transport/tls.hpp"

namespace mf::flex {

class NodeCore;

struct NodeOptions {
  /// As ServerOptions has them.
  std::string listen = "tcp://127.0.0.1:0";
  std::string advertise{};
  /// How others are verified and what is shown to them, of both sides of a connection.
  TlsOptions tls{};
  /// How long the process to which a message goes may be nowhere, or unreachable.
  std::chrono::nanoseconds patience = std::chrono::seconds(5);
  Log log{};
};

class Node {
 public:
  /// For itself: its processes reach each other, and nobody listens.
  explicit Node(const NodeOptions& options = {});
  /// `where`: "mf://host:port" of a controller, "relay://host:port", the addresses of other nodes with commas
  /// between them, or "", if it knows nobody and is only to be found. Throws Error(INVALID_ARGUMENT) for what
  /// is no address, and UNAVAILABLE if it cannot listen.
  explicit Node(std::string_view where, const NodeOptions& options = {});
  Node(Node&&) noexcept = default;
  Node& operator=(Node&&) = delete;
  ~Node();  // close()

  /// A process with this name, or with a UUID, which other nodes can send to. Throws Error(INVALID_ARGUMENT)
  /// for a name that is none, or taken on this node.
  [[nodiscard]] Process process(std::string name = {}, const ProcessOptions& options = {});
  /// The members of a group that are known now, as "GROUP/NAME". While there is none, it waits for the first
  /// as long as for a process.
  [[nodiscard]] std::vector<std::string> members(const std::string& group);
  /// The names of its processes.
  [[nodiscard]] std::vector<std::string> processes() const;
  /// Where other nodes reach this one; empty for one that is for itself.
  [[nodiscard]] std::string address() const;

  /// Its processes leave. Waits at most so long until what they have sent has come to its mailboxes; what has
  /// not is not delivered. May be called twice.
  void close(std::chrono::nanoseconds timeout = std::chrono::seconds(5));

 private:
  std::shared_ptr<NodeCore> core_;
};

}  // namespace mf::flex
