// extending-peer serve | call URL | local, with extending.mfidl; programs/extending_peer.py is the same in
// Python. A server offers one vault, and a caller calls it as each of the services that it serves.
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "extending.client.hpp"
#include "extending.server.hpp"
#include "mf/light/light.hpp"
#include "mf/server/server.hpp"
#include "say.hpp"

namespace {

using interop_test::say;
using interop_test::text;

class Vault final : public extending::VaultServant {
 public:
  void put(const std::string& key, std::int64_t value) override { values_[key] = value; }
  std::int64_t get(const std::string& key) override {
    const auto found = values_.find(key);
    if (found == values_.end()) throw extending::Missing(key);
    return found->second;
  }
  extending::StoreStatsResult stats() override {
    std::int64_t sum = 0;
    for (const auto& [key, value] : values_) sum += value;
    return {.keys = static_cast<std::uint32_t>(values_.size()), .sum = sum};
  }
  void scan(mf::StreamWriter<std::string>& out) override {
    for (const auto& [key, value] : values_) out.write(key);
  }
  std::uint32_t restore(const std::map<std::string, std::int64_t>& values) override {
    values_ = values;
    return static_cast<std::uint32_t>(values.size());
  }
  bool is_locked() override { return true; }

 private:
  std::map<std::string, std::int64_t> values_;
};

void serve() {
  mf::Server server({.listen = "tcp://127.0.0.1:0", .workers = 1});
  server.offer(std::make_shared<Vault>(), {.agent = "a"});
  server.start();
  std::cout << server.address().str() << std::endl;
  server.run();
}

void report(const char* what, const std::string& value) {
  say({{"what", text(what)}, {"value", text(value)}});
}

void call(mf::Client& client) {
  const auto store = extending::StoreClient(client).at("a");
  const auto backup = extending::BackupClient(client).at("a");
  const auto vault = extending::VaultClient(client).at("a");
  store.put("x", 1);
  const std::vector<extending::StorePutRequest> more = {{"y", 2}, {"z", 4}};
  for (const auto& outcome : backup.put_batch(more).results()) outcome.value();
  report("get", std::to_string(vault.get("y")));
  try {
    (void)store.get("nothing");
  } catch (const extending::Missing& missing) {
    report("missing", missing.key);
  }
  const auto stats = vault.stats();
  report("stats", std::to_string(stats.keys) + " " + std::to_string(stats.sum));
  std::string keys;
  for (const auto& key : store.scan()) keys += key;
  report("scan", keys);
  report("restore", std::to_string(backup.restore({{"w", 8}})));
  report("everywhere",
         std::to_string(extending::StoreClient(client).on({"a"}).get("w").at(0).outcome.value()));
  report("locked", vault.is_locked() ? "yes" : "no");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "serve") {
    serve();
  } else if (mode == "call" && argc == 3) {
    mf::Client client(argv[2]);
    call(client);
  } else if (mode == "local") {
    mf::Light light;
    light.offer(std::make_shared<Vault>(), {.agent = "a"});
    mf::Client client(light);
    call(client);
  } else {
    return 2;
  }
}
