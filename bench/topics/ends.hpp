// How bench/topics/chain.py drives a publisher and a subscriber, over their stdin and stdout. Numbers of
// messages begin at 0 in each run.
//
//   publisher:                               subscriber, with one or more subscriptions:
//   -> its port
//   <- hello        until the next line:     <- meet
//      a message every 10 ms that counts     -> met          once all subscriptions have had one
//      for nothing
//                                            <- expect SIZE COUNT [timed]
//                                            -> ready
//   <- publish SIZE COUNT                    -> {"ended_ns": …}   once all have had all of them, in order
//   -> {"began_ns": …}     or, in its place:
//   <- pace SIZE COUNT                       -> {"ended_ns": …, "one_way_us": …}   after expect SIZE COUNT
//   timed
//      one message every 200 us
//
// A message of SIZE bytes: | number (8) | when it was sent, if there is room (8) | 7, 7, … |.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/commands.hpp"

namespace bench_topics {

using bench_rpc::check;
using bench_rpc::now_ns;

inline constexpr std::uint64_t kHello = UINT64_MAX;
inline constexpr std::size_t kHead = sizeof(std::uint64_t);
inline constexpr std::size_t kStamped = 2 * kHead;
inline constexpr auto kPace = std::chrono::microseconds(200);

/// A message without its number.
[[nodiscard]] inline std::vector<std::byte> message_of(std::size_t size) {
  check(size >= kHead, "a message has at least 8 bytes");
  return std::vector<std::byte>(size, std::byte{7});
}

inline void set_head(std::byte* message, std::size_t size, std::uint64_t number) {
  std::memcpy(message, &number, sizeof number);
  if (size < kStamped) return;
  const auto now = now_ns();
  std::memcpy(message + kHead, &now, sizeof now);
}

/// What a system does to publish.
class Sender {
 public:
  Sender() = default;
  virtual ~Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  virtual void send(std::span<const std::byte> message) = 0;
  /// Nothing may wait to be sent any more.
  virtual void flush() {}
  /// Messages 0 to count - 1, as fast as it goes.
  virtual void send_all(std::size_t size, std::uint64_t count) {
    auto message = message_of(size);
    for (std::uint64_t number = 0; number < count; ++number) {
      std::memcpy(message.data(), &number, sizeof number);
      send(message);
    }
    flush();
  }
};

namespace detail {

[[nodiscard]] inline bool line_comes(std::chrono::milliseconds within) {
  pollfd stdin_of{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&stdin_of, 1, static_cast<int>(within.count())) > 0;
}

inline void say_hello(Sender& sender) {
  auto message = message_of(kHead);
  std::memcpy(message.data(), &kHello, sizeof kHello);
  while (!line_comes(std::chrono::milliseconds(10))) {
    sender.send(message);
    sender.flush();
  }
}

inline void pace(Sender& sender, std::size_t size, std::uint64_t count) {
  auto message = message_of(size);
  auto at = std::chrono::steady_clock::now();
  for (std::uint64_t number = 0; number < count; ++number) {
    std::this_thread::sleep_until(at += kPace);
    set_head(message.data(), size, number);
    sender.send(message);
    sender.flush();
  }
}

}  // namespace detail

/// Serves until stdin ends.
inline int publish_on_command(unsigned port, Sender& sender) {
  std::ios::sync_with_stdio(true);  // so that nothing waits in a buffer that poll() does not see
  std::setvbuf(stdin, nullptr, _IONBF, 0);
  std::printf("%u\n", port);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string command;
    std::size_t size = 0;
    std::uint64_t count = 0;
    in >> command >> size >> count;
    if (command == "hello") {
      detail::say_hello(sender);
      continue;
    }
    const auto began = now_ns();
    if (command == "pace") {
      detail::pace(sender, size, count);
    } else {
      sender.send_all(size, count);
    }
    std::printf("{\"began_ns\": %lld}\n", static_cast<long long>(began));
    std::fflush(stdout);
  }
  return 0;
}

/// All subscriptions of a process.
class Arrivals {
 public:
  /// One subscription; used by one thread at a time.
  class Of {
   public:
    explicit Of(Arrivals& all) : all_(all) {}

    /// `rest`: the bytes behind the number.
    void take(std::uint64_t number, std::span<const std::byte> rest) {
      if (!counts(number)) return;
      check(kHead + rest.size() == all_.size_.load(std::memory_order_relaxed), "a message has another size");
      check(rest.empty() || rest.back() == std::byte{7}, "a message has other bytes");
      if (rest.size() >= kHead && all_.timed_.load(std::memory_order_relaxed)) {
        std::int64_t sent = 0;
        std::memcpy(&sent, rest.data(), sizeof sent);
        us_.push_back(static_cast<double>(now_ns() - sent) / 1e3);
      }
      came(number);
    }
    void take(std::span<const std::byte> message) {
      std::uint64_t number = 0;
      check(message.size() >= kHead, "a message is too short");
      std::memcpy(&number, message.data(), sizeof number);
      take(number, message.subspan(kHead));
    }
    /// All that was expected has come, by the count of another object.
    void finish() { all_.one_more(all_.done_); }

   private:
    friend class Arrivals;

    [[nodiscard]] bool counts(std::uint64_t number) {
      if (number != kHello) return true;
      if (!std::exchange(met_, true)) all_.one_more(all_.met_);
      return false;
    }
    void came(std::uint64_t number) {
      if (number == 0) next_ = 0;
      check(number == next_, "a message is lost, or comes out of order");
      if (++next_ == all_.count_.load(std::memory_order_relaxed)) all_.one_more(all_.done_);
    }

    Arrivals& all_;
    bool met_ = false;
    std::uint64_t next_ = 0;
    std::vector<double> us_{};
  };

  explicit Arrivals(std::size_t subscriptions) {
    for (std::size_t i = 0; i < subscriptions; ++i) each_.push_back(std::make_unique<Of>(*this));
  }
  [[nodiscard]] Of& operator[](std::size_t number) noexcept { return *each_[number]; }
  [[nodiscard]] std::size_t size() const noexcept { return each_.size(); }
  /// How many messages are expected.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  /// Until stdin ends.
  int obey() {
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream in(line);
      std::string command;
      std::size_t size = 0;
      std::uint64_t count = 0;
      std::string timed;
      in >> command >> size >> count >> timed;
      if (command == "meet") {
        wait_for(met_);
        std::puts("met");
      } else {
        expect(size, count, !timed.empty());
        std::puts("ready");
        std::fflush(stdout);
        wait_for(done_);
        std::puts(figures().c_str());
      }
      std::fflush(stdout);
    }
    return 0;
  }

 private:
  void expect(std::size_t size, std::uint64_t count, bool timed) {
    for (auto& each : each_) each->us_.clear();
    timed_ = timed;
    size_ = size;
    count_ = count;
    const std::scoped_lock lock(mutex_);
    done_ = 0;
  }
  [[nodiscard]] std::string figures() const {
    auto said = "{\"ended_ns\": " + std::to_string(ended_);
    if (timed_) {
      std::vector<double> us;
      for (const auto& each : each_) us.insert(us.end(), each->us_.begin(), each->us_.end());
      const auto middle = us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2);
      std::nth_element(us.begin(), middle, us.end());
      said += ", \"one_way_us\": " + std::to_string(*middle);
    }
    return said + "}";
  }
  void one_more(std::size_t& counter) {
    const std::scoped_lock lock(mutex_);
    ended_ = now_ns();
    ++counter;
    changed_.notify_all();
  }
  void wait_for(const std::size_t& counter) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return counter == each_.size(); });
  }

  std::vector<std::unique_ptr<Of>> each_{};
  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<bool> timed_{false};
  std::mutex mutex_{};  // all below
  std::condition_variable changed_{};
  std::size_t met_ = 0;
  std::size_t done_ = 0;
  std::int64_t ended_ = 0;
};

}  // namespace bench_topics
