// bench-patterns-client CONTROLLER: the client, as `program.py client` is one. For each line `FLOW BYTES
// WINDOW COUNT` of its standard input it makes so many calls, of which so many are under way at a time, and
// says how many seconds they took. One at a time is a blocking call; more than one are asynchronous.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "mf/client/client.hpp"
#include "patterns.client.hpp"

namespace {

using patterns::SinkClient;
using Done = std::function<void(mf::Outcome<mf::Replicated<void>>&&)>;

const mf::ReplicatedOptions kAll{.require = mf::Require::all};

struct Flow {
  std::function<void(const SinkClient&, const mf::Bytes&)> call;
  std::function<void(const SinkClient&, const mf::Bytes&, Done)> start;
};

template <auto kCall, class Start>
Flow flow(Start start) {
  return {.call = [](const SinkClient& sink, const mf::Bytes& data) { (sink.*kCall)(data, kAll); },
          .start = start};
}

#define FLOW(name)                                                                               \
  {#name, flow<&SinkClient::name>([](const SinkClient& sink, const mf::Bytes& data, Done done) { \
     sink.async_##name(data, kAll, std::move(done));                                             \
   })}
const std::map<std::string, Flow> kFlows{
    FLOW(no_versioning), FLOW(version_request),    FLOW(message_returns_version),
    FLOW(one_hop),       FLOW(one_hop_ack_client), FLOW(wait_for_version),
    FLOW(chain)};
#undef FLOW

/// Calls of which each that ends begins the next.
class Window : public std::enable_shared_from_this<Window> {
 public:
  Window(const Flow& flow, const SinkClient& sink, const mf::Bytes& data, std::size_t count)
      : flow_(flow), sink_(sink), data_(data), to_begin_(count), to_end_(count) {}

  void run(std::size_t under_way) {
    for (std::size_t i = 0; i < under_way; ++i) begin();
    all_.get_future().get();
  }

 private:
  void begin() {
    {
      const std::scoped_lock lock(mutex_);
      if (to_begin_ == 0) return;
      --to_begin_;
    }
    flow_.start(sink_, data_, [self = shared_from_this()](auto&& outcome) { self->end(outcome); });
  }
  void end(const mf::Outcome<mf::Replicated<void>>& outcome) {
    if (!outcome) {
      std::cerr << "a call failed: " << outcome.failure().message << std::endl;
      std::_Exit(1);
    }
    begin();
    const std::scoped_lock lock(mutex_);
    if (--to_end_ == 0) all_.set_value();
  }

  const Flow& flow_;
  const SinkClient& sink_;
  const mf::Bytes& data_;
  std::mutex mutex_;
  std::size_t to_begin_;
  std::size_t to_end_;
  std::promise<void> all_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mf::Client client(argv[1]);
  const SinkClient sink(client);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string name;
    std::size_t size = 0;
    std::size_t window = 0;
    std::size_t count = 0;
    in >> name >> size >> window >> count;
    const auto& flow = kFlows.at(name);
    const mf::Bytes data(std::string(size, '\0'));
    const auto began = std::chrono::steady_clock::now();
    if (window == 1) {
      for (std::size_t i = 0; i < count; ++i) flow.call(sink, data);
    } else {
      std::make_shared<Window>(flow, sink, data, count)->run(window);
    }
    std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() << std::endl;
  }
}
