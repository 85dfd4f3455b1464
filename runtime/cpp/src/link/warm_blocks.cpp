#include "mf/link/warm_blocks.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "mf/core/clock.hpp"

namespace mf::link {
namespace {

/// Runs on the reactor's thread, which may outlive the reactor by a turn.
struct Cooler {
  std::weak_ptr<transport::Reactor> reactor;
  CoolsBlocks duty;

  void operator()() {
    if (!duty.cool()) return;
    if (const auto still = reactor.lock()) go_on(still, std::move(duty));
  }
  static void go_on(const std::shared_ptr<transport::Reactor>& reactor, CoolsBlocks duty) {
    reactor->at(mf::now() + std::chrono::seconds(1), Cooler{.reactor = reactor, .duty = std::move(duty)});
  }
};

}  // namespace

void warm_blocks_by(const std::shared_ptr<transport::Reactor>& reactor) noexcept {
  if (!warm_blocks()) return;
  try {
    Cooler::go_on(reactor, CoolsBlocks());
  } catch (const std::bad_alloc&) {  // then the duty was dropped, and nothing is kept
  }
}

}  // namespace mf::link
