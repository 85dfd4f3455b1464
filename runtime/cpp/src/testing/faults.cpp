#include "mf/testing/faults.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/protocol/frame.hpp"
#include "mf/testing/clock.hpp"
#include "mf/transport/memory_port.hpp"

namespace mf::testing {
namespace {

using transport::IoResult;
using transport::IoState;

// What a writer may leave inside of a stream before it has to wait.
constexpr std::size_t kMostHeld = std::size_t{1} << 20U;
constexpr std::size_t kOperations = 5;

enum class What : std::uint8_t { nothing, refuse, cut, stall, drop, delay };

struct Fault {
  What what = What::nothing;
  Operation at{};
  std::size_t left = 0;  // operations until it happens
  std::size_t times = 1;
  std::chrono::nanoseconds passes{};
};

struct Plan {
  std::mutex mutex;
  std::vector<Fault> faults;
  std::array<std::size_t, kOperations> seen{};

  /// What happens to the next operation, which may count as two.
  Fault next(std::initializer_list<Operation> counts_as) {
    const std::scoped_lock lock(mutex);
    Fault found;
    for (const auto operation : counts_as) {
      ++seen[static_cast<std::size_t>(operation)];
      for (auto& fault : faults) {
        if (fault.at != operation || --fault.left > 0) continue;
        if (found.what == What::nothing) found = fault;
        fault.left = 1;
        --fault.times;
      }
    }
    std::erase_if(faults, [](const Fault& fault) { return fault.times == 0; });
    return found;
  }
};

/// What the two ends of a connection share.
struct Connection {
  std::atomic<bool> ended{false};  // by either of them
};

/// Lets time pass for faults, on a thread of its own: the threads that read and write go on meanwhile, and
/// answer pings.
class Mover {
 public:
  ~Mover() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }
  /// At most until `connection` has ended: what is called after that begins with all of its time.
  void pass(std::chrono::nanoseconds time, std::shared_ptr<const Connection> connection,
            std::function<void()> then) {
    const std::scoped_lock lock(mutex_);
    due_.push_back({time, std::move(connection), std::move(then)});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_all();
  }

 private:
  struct Due {
    std::chrono::nanoseconds time;
    std::shared_ptr<const Connection> connection;
    std::function<void()> then;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return over_ || !due_.empty(); });
      if (due_.empty()) return;
      const auto due = std::move(due_.front());
      due_.pop_front();
      lock.unlock();
      if (on_test_time()) detail::advance_installed(due.time, [&] { return due.connection->ended.load(); });
      due.then();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Due> due_;
  std::thread thread_;
  bool over_ = false;
};

/// One end of a connection: what it writes is looked at frame by frame. Written by one thread at a time.
class FaultyEnd final : public transport::Stream {
 public:
  FaultyEnd(std::unique_ptr<Stream> inner, std::shared_ptr<Connection> connection, std::shared_ptr<Plan> plan,
            std::shared_ptr<Mover> mover, bool client)
      : inner_(std::move(inner)),
        connection_(std::move(connection)),
        plan_(std::move(plan)),
        mover_(std::move(mover)),
        client_(client) {}
  ~FaultyEnd() override {
    const std::scoped_lock lock(held_->mutex);
    held_->end = nullptr;
  }

  IoResult read(std::span<std::byte> into, transport::Wait wait) noexcept override {
    return inner_->read(into, wait);
  }
  IoResult write(std::span<const IoSlice> slices) noexcept override {
    const std::scoped_lock lock(held_->mutex);
    std::size_t taken = 0;
    if (out_.size() < kMostHeld) {
      for (const auto& slice : slices) {
        if (!take(std::span(slice.data, slice.size))) return {.state = IoState::closed};
        taken += slice.size;
      }
    }
    auto result = flush();
    if (result.state == IoState::ok || result.state == IoState::would_block) result.bytes = taken;
    return result;
  }
  void handled() noexcept override { inner_->handled(); }
  [[nodiscard]] bool has_input() const noexcept override { return inner_->has_input(); }
  [[nodiscard]] bool has_output() const noexcept override {
    const std::scoped_lock lock(held_->mutex);
    return held_->delays == 0 && !out_.empty();
  }
  void wait_ready(bool read, bool write, std::chrono::milliseconds timeout) noexcept override {
    inner_->wait_ready(read, write, timeout);
  }
  void set_coarse_timeout(std::chrono::microseconds timeout) noexcept override {
    inner_->set_coarse_timeout(timeout);
  }
  [[nodiscard]] std::size_t unacknowledged() const noexcept override { return inner_->unacknowledged(); }
  [[nodiscard]] bool allow_interrupts() noexcept override { return inner_->allow_interrupts(); }
  void interrupt() noexcept override { inner_->interrupt(); }
  void shutdown() noexcept override {
    connection_->ended = true;
    inner_->shutdown();
  }
  void close() noexcept override {
    connection_->ended = true;
    {
      const std::scoped_lock lock(held_->mutex);
      held_->end = nullptr;
    }
    inner_->close();
  }
  [[nodiscard]] int fd() const noexcept override { return inner_->fd(); }
  [[nodiscard]] const std::string& peer() const noexcept override { return inner_->peer(); }

 private:
  /// False: the connection was cut.
  bool take(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (left_ == 0) {
        const auto part = std::min(bytes.size(), protocol::kHeaderSize - header_.size());
        header_.insert(header_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(part));
        bytes = bytes.subspan(part);
        if (header_.size() < protocol::kHeaderSize) return true;
        if (!begin_frame()) return false;
        continue;
      }
      const auto part = std::min(bytes.size(), left_);
      keep(bytes.first(part));
      left_ -= part;
      bytes = bytes.subspan(part);
    }
    return true;
  }

  bool begin_frame() {
    const auto header = protocol::decode_header(header_.data());
    const auto fault = next(header.type);
    dropped_ = stalled_ || fault.what == What::drop || fault.what == What::stall;
    stalled_ = stalled_ || fault.what == What::stall;
    if (fault.what == What::cut) {
      (void)flush();
      shutdown();
      return false;
    }
    if (fault.what == What::delay) {
      (void)flush();
      ++held_->delays;
    }
    if (fault.passes.count() != 0)
      mover_->pass(fault.passes, connection_, [held = held_, delay = fault.what == What::delay] {
        if (delay) held->go_on();
      });
    keep(header_);
    left_ = std::max(protocol::padded(header.size), protocol::kHeaderSize) - protocol::kHeaderSize;
    header_.clear();
    return true;
  }

  Fault next(protocol::FrameType type) {
    const auto of_calls = client_ ? protocol::FrameType::request : protocol::FrameType::reply;
    const auto any = client_ ? Operation::write : Operation::read;
    if (type != of_calls) return plan_->next({any});
    return plan_->next({any, client_ ? Operation::request : Operation::reply});
  }

  void keep(std::span<const std::byte> bytes) {
    if (!dropped_) out_.insert(out_.end(), bytes.begin(), bytes.end());
  }

  IoResult flush() noexcept {
    while (!out_.empty() && held_->delays == 0) {
      const IoSlice slice{out_.data(), out_.size()};
      const auto result = inner_->write(std::span(&slice, 1));
      if (result.state != IoState::ok) return result;
      out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    }
    return {};
  }

  /// What a delay still has to do with this end when its time has passed.
  struct Held {
    explicit Held(FaultyEnd* of) : end(of) {}
    void go_on() {
      const std::scoped_lock lock(mutex);
      --delays;
      while (end != nullptr && delays == 0 && end->flush().state == IoState::would_block)
        end->inner_->wait_ready(false, true, std::chrono::milliseconds(1));
    }
    std::mutex mutex;
    FaultyEnd* end;  // null: it is closed
    int delays = 0;
  };

  const std::unique_ptr<Stream> inner_;
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<Plan> plan_;
  const std::shared_ptr<Mover> mover_;
  const bool client_;
  const std::shared_ptr<Held> held_ = std::make_shared<Held>(this);
  std::vector<std::byte> out_;
  std::vector<std::byte> header_;  // of the frame that begins, as far as it has come
  std::size_t left_ = 0;           // of the frame
  bool dropped_ = false;
  bool stalled_ = false;
};

}  // namespace

class Faults::Guard final : public transport::MemoryGuard {
 public:
  Outcome<Ends> connecting(Ends ends) override {
    if (plan->next({Operation::connect}).what == What::refuse) {
      return not_executed(Code::unavailable, "connection refused");
    }
    if (!ends.first) return ends;
    const auto connection = std::make_shared<Connection>();
    return Ends{std::make_unique<FaultyEnd>(std::move(ends.first), connection, plan, mover, true),
                std::make_unique<FaultyEnd>(std::move(ends.second), connection, plan, mover, false)};
  }
  void add(const Fault& fault) {
    if (fault.left == 0 || fault.times == 0) {
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "operations are counted from 1, and a fault happens at least once");
    }
    if (fault.passes.count() != 0 && !on_test_time()) {
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "that time passes needs a mf::testing::FakeClock");
    }
    if ((fault.at == Operation::connect) != (fault.what == What::refuse)) {
      throw Error(Code::invalid_argument, Execution::not_executed,
                  "what can happen to a connect is refuse(), and to nothing else");
    }
    const std::scoped_lock lock(plan->mutex);
    plan->faults.push_back(fault);
  }

  const std::shared_ptr<Plan> plan = std::make_shared<Plan>();
  const std::shared_ptr<Mover> mover = std::make_shared<Mover>();
};

Faults::Faults(const std::string& name) : guard_(std::make_shared<Guard>()) {
  transport::set_memory_guard(name, guard_);
}

Faults::~Faults() = default;

void Faults::refuse(std::size_t nth, std::size_t times) {
  guard_->add({.what = What::refuse, .at = Operation::connect, .left = nth, .times = times});
}

void Faults::cut(Operation what, std::size_t nth) {
  guard_->add({.what = What::cut, .at = what, .left = nth});
}

void Faults::stall(Operation what, std::size_t nth, std::chrono::nanoseconds passes) {
  guard_->add({.what = What::stall, .at = what, .left = nth, .passes = passes});
}

void Faults::drop(Operation what, std::size_t nth, std::chrono::nanoseconds passes) {
  guard_->add({.what = What::drop, .at = what, .left = nth, .passes = passes});
}

void Faults::delay(Operation what, std::chrono::nanoseconds passes, std::size_t nth) {
  guard_->add({.what = What::delay, .at = what, .left = nth, .passes = passes});
}

std::size_t Faults::seen(Operation what) const {
  const std::scoped_lock lock(guard_->plan->mutex);
  return guard_->plan->seen[static_cast<std::size_t>(what)];
}

}  // namespace mf::testing
