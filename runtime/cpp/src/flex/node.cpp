#include "mf/flex/node.hpp"

#include "flex/node_core.hpp"

namespace mf::flex {

Node::Node(const NodeOptions& options) : core_(std::make_shared<NodeCore>(nullptr, options)) {}

Node::Node(std::string_view where, const NodeOptions& options) {
  const std::string text(where);
  core_ = std::make_shared<NodeCore>(&text, options);
}

Node::~Node() {
  if (core_) close();
}

Process Node::process(std::string name, const ProcessOptions& options) {
  return Process(core_->process(std::move(name), options));
}

std::vector<std::string> Node::members(const std::string& group) {
  return core_->members(group, true);
}

std::vector<std::string> Node::processes() const {
  return core_->processes();
}

bool Node::reload() {
  return core_->reload();
}

std::string Node::address() const {
  return core_->address();
}

void Node::close(std::chrono::nanoseconds timeout) {
  core_->close(timeout);
}

}  // namespace mf::flex
