// Two processes of a node that is for itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mf/flex/flex.hpp"
#include "support/wait.hpp"

namespace mftest {

inline const mf::flex::NodeOptions kQuiet{.log = mf::Log(mf::Level::off)};

/// What was thrown, as Error::what() says it.
inline std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const mf::Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

struct InOneNode {
  explicit InOneNode(const mf::flex::ProcessOptions& of_b = {}, const mf::flex::ProcessOptions& of_a = {})
      : a(node.process("A", of_a)), b(node.process("B", of_b)) {}

  /// From A to B.
  void send_all(const std::vector<mf::flex::Attributes>& messages) {
    for (auto each : messages) {
      each.set("dest", "B");
      (void)a.send(std::move(each));
    }
  }
  /// The `n` of all that waits for B.
  [[nodiscard]] std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> all;
    while (const auto message = b.poll()) all.push_back((*message)["n"].to<std::int64_t>());
    return all;
  }
  [[nodiscard]] static std::string refusal(const std::function<void()>& call) { return refusal_of(call); }

  mf::flex::Node node{kQuiet};
  mf::flex::Process a;
  mf::flex::Process b;
};

}  // namespace mftest
