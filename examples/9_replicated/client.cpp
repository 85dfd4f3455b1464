// Writes and reads values.
//
//   kv-client mf://127.0.0.1:7400 put colour green chain all
//   kv-client mf://127.0.0.1:7400 get colour
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "kv.client.hpp"
#include "mf/client/client.hpp"

namespace {

using Put = mf::Replicated<void> (kv::StoreClient::*)(const std::string&, const std::string&,
                                                      const mf::ReplicatedOptions&) const;

const std::map<std::string, Put> kFlows{
    {"no_versioning", &kv::StoreClient::put_no_versioning},
    {"version_request", &kv::StoreClient::put_version_request},
    {"message_returns_version", &kv::StoreClient::put_message_returns_version},
    {"one_hop", &kv::StoreClient::put_one_hop},
    {"one_hop_ack_client", &kv::StoreClient::put_one_hop_ack_client},
    {"wait_for_version", &kv::StoreClient::put_wait_for_version},
    {"chain", &kv::StoreClient::put_chain}};

int usage() {
  std::cerr << "kv-client CONTROLLER put KEY VALUE [FLOW [one|majority|all]]\nkv-client CONTROLLER get KEY\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 3) return usage();
  try {
    mf::Client client(given[0]);
    const kv::StoreClient store(client);
    if (given[1] == "get") {
      std::cout << store.get(given[2]).value_or("nothing") << std::endl;
      return 0;
    }
    const auto flow = kFlows.find(given.size() > 4 ? given[4] : "one_hop_ack_client");
    auto require = mf::Require::majority;
    if (given.size() < 4 || flow == kFlows.end()) return usage();
    if (given.size() > 5 && !mf::replication::from_name(given[5], require)) return usage();
    const auto done = (store.*flow->second)(given[2], given[3], {.require = require});
    std::cout << "version " << done.version.epoch << "." << done.version.counter << ", applied by";
    for (const auto& each : done.applied) std::cout << " " << each;
    std::cout << std::endl;
  } catch (const kv::TooLong& error) {
    std::cerr << "a value has at most " << error.most << " bytes\n";
    return 1;
  } catch (const mf::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
