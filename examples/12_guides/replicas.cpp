#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "guide.client.hpp"
#include "guide.server.hpp"
#include "mf/replicated/replica.hpp"

namespace {

const std::vector<std::string> kMembers{"a", "b", "c"};

class Ledger final : public guide::LedgerServant {
 public:
  std::int32_t on_apply_lend(const mf::Version&, const guide::LedgerLendRequest& request) override {
    const std::lock_guard lock(mutex_);
    return --left_[request.title];
  }
  std::int32_t left(const std::string& title) {
    const std::lock_guard lock(mutex_);
    return left_[title];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::int32_t> left_{{"Emma", 3}};
};

}  // namespace

int main(int, char** arguments) {
  const std::string controller = arguments[1];
  std::vector<std::shared_ptr<Ledger>> ledgers;
  std::vector<std::unique_ptr<mf::Replica>> replicas;
  for (const auto& member : kMembers) {  // each in a process of its own, usually
    auto& ledger = ledgers.emplace_back(std::make_shared<Ledger>());
    mf::ReplicaOptions options{.controller = controller, .member = member, .members = kMembers};
    replicas.emplace_back(std::make_unique<mf::Replica>(ledger, options))->start();
  }
  mf::Client client(controller);
  const guide::LedgerClient ledger(client);
  auto done = ledger.lend("Emma", {.require = mf::Require::all});
  std::sort(done.applied.begin(), done.applied.end());
  std::cout << "left: " << done.value << " applied by";
  for (const auto& member : done.applied) std::cout << ' ' << member;
  done = ledger.lend("Emma", {.require = mf::Require::all});
  std::cout << "\nleft: " << done.value << " at the replicas:";
  for (const auto& each : ledgers) std::cout << ' ' << each->left("Emma");
  std::cout << '\n';
}
