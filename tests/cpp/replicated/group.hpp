// Three replicas of the journal over real connections, through a controller, in this process.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "journal.client.hpp"
#include "mf/replicated/call.hpp"
#include "mf/replicated/replica.hpp"
#include "replicated/pages.hpp"
#include "support/running_controller.hpp"
#include "support/wait.hpp"

namespace mftest {

using Names = std::vector<std::string>;
using Result = mf::Replicated<std::uint64_t>;

inline const Names kNames{"a", "b", "c"};
inline const mf::ReplicatedOptions kAll{.require = mf::Require::all};

/// Three replicas, each with a servant of its own.
class Group {
 public:
  explicit Group(mf::ReplicaSettings settings = {}) : settings_(settings), client(where()), journal(at("s")) {
    for (const auto& name : kNames) start(name);
    for (const auto& [name, replica] : replicas) EXPECT_TRUE(replica->until_serving(kLong)) << name;
  }

  [[nodiscard]] std::string where() const { return controller_.address().str(); }
  void start(const std::string& name) {
    pages[name] = make();
    replicas[name] = std::make_unique<mf::Replica>(pages[name], options(name));
    replicas[name]->start();
  }
  [[nodiscard]] mf::ReplicaOptions options(const std::string& name) const {
    mf::ReplicaOptions options;
    options.controller = where();
    options.member = name;
    options.members = kNames;
    options.agent = "s";
    options.settings = settings_;
    options.log = mf::Log(log, mf::Level::warning);
    return options;
  }
  void stop(const std::string& name) { replicas.erase(name); }

  /// Once exactly one gives out the versions.
  [[nodiscard]] std::string leader() const {
    std::string found;
    EXPECT_TRUE(eventually([&] {
      std::size_t count = 0;
      for (const auto& [name, replica] : replicas) {
        if (!replica->leads()) continue;
        found = name;
        ++count;
      }
      return count == 1;
    }));
    return found;
  }
  [[nodiscard]] std::string another() const {
    const auto leads = leader();
    return *std::find_if(kNames.begin(), kNames.end(), [&](const auto& each) { return each != leads; });
  }

  const std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();  // of all replicas

 private:
  [[nodiscard]] journal::JournalClient at(std::string_view shelf) {
    return journal::JournalClient(client).at(shelf);
  }

  RunningController controller_;
  const mf::ReplicaSettings settings_;

 public:
  mf::Client client;
  journal::JournalClient journal;
  std::function<std::shared_ptr<Pages>()> make = [] { return std::make_shared<Pages>(); };
  std::map<std::string, std::shared_ptr<Pages>> pages;
  std::map<std::string, std::unique_ptr<mf::Replica>> replicas;
};

using Call =
    std::function<Result(const journal::JournalClient&, const std::string&, const mf::ReplicatedOptions&)>;

/// By all patterns that give versions.
inline std::vector<Call> calls() {
  return {[](auto& to, auto& text, auto& options) { return to.version_request(text, options); },
          [](auto& to, auto& text, auto& options) { return to.message_returns_version(text, options); },
          [](auto& to, auto& text, auto& options) { return to.one_hop(text, options); },
          [](auto& to, auto& text, auto& options) { return to.one_hop_ack_client(text, options); },
          [](auto& to, auto& text, auto& options) { return to.wait_for_version(text, options); },
          [](auto& to, auto& text, auto& options) { return to.chain(text, options); }};
}

}  // namespace mftest
