// A StreamOut that is joined to a StreamIn, without a connection.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "mf/core/failure.hpp"
#include "mf/link/stream.hpp"
#include "support/wait.hpp"

namespace mf::link {

inline constexpr std::size_t kMostValue = std::size_t{1} << 20;

/// Joins a StreamOut to a StreamIn: sent data are received on the sending thread. Events that end the call
/// are recorded.
class Joint final : public StreamPort {
 public:
  explicit Joint(std::uint32_t window = 16'384, std::shared_ptr<protocol::WindowBudget> budget =
                                                    std::make_shared<protocol::WindowBudget>(0, 0, 0))
      : in(*this, window, std::move(budget), kMostValue), out(*this, window, kMostValue) {}

  void send_data(std::uint16_t count, Buffer&& payload, std::uint8_t /*flags*/) override {
    if (breaks) throw std::bad_alloc();
    protocol::Event event;
    event.header.flags = static_cast<std::uint8_t>(Tier::febird);
    event.header.size = static_cast<std::uint32_t>(protocol::kHeaderSize + payload.size());
    event.count = count;
    event.payload = payload.span();
    ++frames;
    largest = std::max(largest, payload.size());
    done(in.on_data(event));
  }
  void send_credit(std::uint32_t bytes) override { done(out.on_credit(bytes)); }
  void send_end() override { done(in.on_end(nullptr)); }
  void send_cancel() override { ++cancels; }
  bool has_room() override { return room; }
  void flush() override {}
  void write_soon() override { ++soons; }
  void wait(Waiter& waiter, TimePoint until) override { waiter.wait_until(until); }
  TimePoint wait_until() override { return deadline; }
  Failure out_of_time() override { return mf::may_have_run(Code::deadline_exceeded, "late"); }
  Failure ended_here() override { return mf::not_executed(Code::invalid_argument, "over"); }
  void at(TimePoint, UniqueFunction<void()>) override {}

  void done(StreamEvent event) {
    if (event.failure) failures.push_back(*event.failure);
    if (event.credit != 0) done(out.on_credit(event.credit));
    if (event.write) out.write_pending();
    event.complete();
  }

  StreamIn in;
  StreamOut out;
  TimePoint deadline = mftest::soon();
  std::atomic<bool> room{true};
  bool breaks = false;  // nothing can be sent any more
  std::atomic<int> frames{0};
  std::size_t largest = 0;
  int soons = 0;
  int cancels = 0;
  std::vector<Failure> failures;
};

}  // namespace mf::link
