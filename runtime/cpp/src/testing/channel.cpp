#include "mf/testing/channel.hpp"

#include <atomic>
#include <utility>

namespace mf::testing {
namespace {

ServerOptions listening_at(const std::string& address, ServerOptions options) {
  options.listen = address;
  return options;
}

}  // namespace

std::string new_name() {
  static std::atomic<unsigned> names{0};
  return "testing-" + std::to_string(++names);
}

Channel::Channel(std::shared_ptr<Servant> servant, ChannelOptions options)
    : address_("memory:" + new_name()),
      faults_(address_.substr(7)),
      server_(listening_at(address_, std::move(options.server))),
      client_(address_, std::move(options.client)) {
  server_.offer(std::move(servant), std::move(options.offer));
  server_.start();
}

}  // namespace mf::testing
