// A node: the flexible processes of one program, and the server, client and connections that they share.
//
//   mf::flex::Node node("mf://localhost:7400");
//   auto a = node.process("A");
//   a.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}});
//
// Two nodes share one connection for all of their processes. A process may outlive its node, but it has left
// then. See docs/flexible.md.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/core/log.hpp"
#include "mf/flex/process.hpp"
#include "mf/transport/tls.hpp"

namespace mf::flex {

class NodeCore;

struct NodeOptions {
  /// As in ServerOptions.
  std::string listen = "tcp://127.0.0.1:0";
  std::string advertise{};
  /// How this node verifies other nodes and identifies itself, as a server and as a client.
  TlsOptions tls{};
  /// How long the destination of a message may be unknown or unreachable.
  std::chrono::nanoseconds patience = std::chrono::seconds(5);
  /// An access file (mf/access/rules.hpp), by which other nodes may send to the processes of this one
  /// (`send NAME`), and be the processes that they send as (`register mf.flex.Mailbox per NAME`). What it
  /// does not allow is denied. Mistakes in it are thrown as INVALID_ARGUMENT.
  access::File access{};
  /// How often it is looked for whether the access file and the files of `tls` were replaced.
  std::chrono::milliseconds reload_interval{30'000};
  Log log{};
};

class Node {
 public:
  /// A local node: its processes reach only each other, and it does not listen.
  explicit Node(const NodeOptions& options = {});
  /// `where`: "mf://host:port" of a controller, "relay://host:port", the addresses of other nodes separated
  /// by commas, or "" if this node connects to no others, and they connect to it. Throws
  /// Error(INVALID_ARGUMENT) for an invalid address, and UNAVAILABLE if the node cannot listen.
  explicit Node(std::string_view where, const NodeOptions& options = {});
  Node(Node&&) noexcept = default;
  Node& operator=(Node&&) = delete;
  ~Node();  // close()

  /// Creates a process with this name, or with a UUID if it is empty. Throws Error(INVALID_ARGUMENT) for an
  /// invalid name and for one that is in use on this node.
  [[nodiscard]] Process process(std::string name = {}, const ProcessOptions& options = {});
  /// The members of a group that are known now, as "GROUP/NAME". If there is none, the call waits for the
  /// first one, for at most NodeOptions::patience.
  [[nodiscard]] std::vector<std::string> members(const std::string& group);
  /// The names of the processes of this node.
  [[nodiscard]] std::vector<std::string> processes() const;
  /// Where other nodes reach this one; empty for a local node.
  [[nodiscard]] std::string address() const;

  /// See Server::reload().
  bool reload();

  /// All processes leave. Waits for at most `timeout` until the messages that they sent have arrived in
  /// mailboxes; the others are undelivered. May be called twice.
  void close(std::chrono::nanoseconds timeout = std::chrono::seconds(5));

 private:
  std::shared_ptr<NodeCore> core_;
};

}  // namespace mf::flex
