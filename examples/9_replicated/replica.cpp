// One replica of the key-value service: writes come through the group, reads through an ordinary server.
//
//   kv-replica mf://127.0.0.1:7400 a a,b,c
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kv.server.hpp"
#include "mf/codec/value.hpp"
#include "mf/replicated/replica.hpp"
#include "mf/server/server.hpp"

namespace {

constexpr std::size_t kLongest = 1'000;

/// The same at all replicas, as each applies the same writes in the same order. Writes come on the replica's
/// thread, reads on the server's.
class Values final : public kv::StoreServant, public mf::Snapshots {
 public:
  // Each flow has a type of request of its own, with the same fields.
  void on_apply_put_no_versioning(const mf::Version& /*version*/,
                                  const kv::StorePutNoVersioningRequest& request) override {
    put(request);
  }
  void on_apply_put_version_request(const mf::Version& /*version*/,
                                    const kv::StorePutVersionRequestRequest& request) override {
    put(request);
  }
  void on_apply_put_message_returns_version(
      const mf::Version& /*version*/, const kv::StorePutMessageReturnsVersionRequest& request) override {
    put(request);
  }
  void on_apply_put_one_hop(const mf::Version& /*version*/,
                            const kv::StorePutOneHopRequest& request) override {
    put(request);
  }
  void on_apply_put_one_hop_ack_client(const mf::Version& /*version*/,
                                       const kv::StorePutOneHopAckClientRequest& request) override {
    put(request);
  }
  void on_apply_put_wait_for_version(const mf::Version& /*version*/,
                                     const kv::StorePutWaitForVersionRequest& request) override {
    put(request);
  }
  void on_apply_put_chain(const mf::Version& /*version*/, const kv::StorePutChainRequest& request) override {
    put(request);
  }

  std::optional<std::string> get(const std::string& key) override {
    const std::scoped_lock lock(mutex_);
    const auto found = state_.values.find(key);
    if (found == state_.values.end()) return std::nullopt;
    return found->second;
  }
  std::uint64_t size() override {
    const std::scoped_lock lock(mutex_);
    return state_.values.size();
  }

  // With these a replica can follow however long it was away.

  mf::Bytes on_snapshot() override {
    const std::scoped_lock lock(mutex_);
    return mf::to_bytes(state_);
  }
  void on_restore(const std::optional<mf::Bytes>& snapshot) override {
    auto state = snapshot ? mf::from_bytes<kv::State>(*snapshot).value() : kv::State();
    const std::scoped_lock lock(mutex_);
    state_ = std::move(state);
  }

  /// Of all values: FNV-1a, as replica.py has it.
  std::uint32_t checksum() {
    std::uint32_t sum = 0x811C9DC5U;
    const std::scoped_lock lock(mutex_);
    for (const auto& [key, value] : state_.values) {
      for (const char each : key + "=" + value + "\n")
        sum = (sum ^ static_cast<std::uint8_t>(each)) * 0x01000193U;
    }
    return sum;
  }

 private:
  template <class Request>
  void put(const Request& request) {
    if (request.value.size() > kLongest) throw kv::TooLong(kLongest);
    const std::scoped_lock lock(mutex_);
    state_.values[request.key] = request.value;
  }

  std::mutex mutex_;
  kv::State state_;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "kv-replica CONTROLLER MEMBER MEMBERS\n";
    return 2;
  }
  const std::string controller = argv[1];
  const std::string member = argv[2];
  const auto values = std::make_shared<Values>();
  mf::Replica replica(values, {.controller = controller, .member = member, .members = split(argv[3])});
  replica.start();
  while (!replica.until_serving(std::chrono::seconds(5)))
    std::cout << member << " waits for the others" << std::endl;
  // Only now: a client that reads here finds what the group has.
  mf::Server server({.controller = controller});
  server.offer(values, {.labels = {{"member", member}}});
  server.start();
  std::cout << member << " serves" << std::endl;
  server.run();
  std::printf("%s has %llu values, with the checksum %08x\n", member.c_str(),
              static_cast<unsigned long long>(values->size()), values->checksum());
}
