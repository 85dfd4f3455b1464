#include "mf/link/warm_blocks.hpp"

#include <chrono>
#include <new>
#include <utility>

namespace mf::link {
namespace {

struct Cooler {
  transport::Reactor* reactor;  // on whose thread this runs, and which drops it when it ends
  CoolsBlocks duty;

  void operator()() {
    if (duty.cool()) go_on(reactor, std::move(duty));
  }
  static void go_on(transport::Reactor* reactor, CoolsBlocks duty) {
    reactor->at(std::chrono::steady_clock::now() + std::chrono::seconds(1),
                Cooler{.reactor = reactor, .duty = std::move(duty)});
  }
};

}  // namespace

void warm_blocks_by(transport::Reactor& reactor) noexcept {
  if (!warm_blocks()) return;
  try {
    Cooler::go_on(&reactor, CoolsBlocks());
  } catch (const std::bad_alloc&) {  // then the duty was dropped, and nothing is kept
  }
}

}  // namespace mf::link
