// bench-patterns-replica CONTROLLER MEMBER a,b,c: a replica, as `program.py replica` is one. It says `true`
// when it serves, and ends when its standard input does.
#include <chrono>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "mf/replicated/replica.hpp"
#include "patterns.server.hpp"

namespace {

using mf::Version;

/// It does nothing with a message, like the seed's servers.
class Sink final : public patterns::SinkServant {
 public:
  void on_apply_no_versioning(const Version&, const patterns::SinkNoVersioningRequest&) override {}
  void on_apply_version_request(const Version&, const patterns::SinkVersionRequestRequest&) override {}
  void on_apply_message_returns_version(const Version&,
                                        const patterns::SinkMessageReturnsVersionRequest&) override {}
  void on_apply_one_hop(const Version&, const patterns::SinkOneHopRequest&) override {}
  void on_apply_one_hop_ack_client(const Version&, const patterns::SinkOneHopAckClientRequest&) override {}
  void on_apply_wait_for_version(const Version&, const patterns::SinkWaitForVersionRequest&) override {}
  void on_apply_chain(const Version&, const patterns::SinkChainRequest&) override {}
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  mf::Replica replica(std::make_shared<Sink>(),
                      {.controller = argv[1], .member = argv[2], .members = split(argv[3])});
  replica.start();
  std::cout << (replica.until_serving(std::chrono::seconds(60)) ? "true" : "false") << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
}
