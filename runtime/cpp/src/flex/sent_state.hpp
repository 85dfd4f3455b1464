// The state of a sent message, shared by its Sent and by the ways that carry it. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mf/client/core.hpp"
#include "mf/flex/sent.hpp"

namespace mf::flex {

/// The mailbox of another node, as that node last reported it.
struct Receiver {
  explicit Receiver(std::string of) : name(std::move(of)) {}

  const std::string name;
  std::atomic<bool> is_full{false};  // it has no room for the next message

  /// The end of the text of a failure for lack of room.
  [[nodiscard]] std::string why_full() const;
};

class SentState {
 public:
  SentState(std::size_t copies, std::shared_ptr<client::Core> core)
      : core_(std::move(core)), copies_(copies), under_way_(copies) {}

  void one_taken() { one_ended(std::nullopt, false); }
  void one_dropped() { one_ended(std::nullopt, true); }
  void one_failed(const Error& error, const Message& message) { one_ended(std::pair(error, message), false); }

  /// The message goes to another node. The known state of the mailbox there explains a delay.
  void add_receiver(std::shared_ptr<const Receiver> receiver);
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] bool done() const;
  void wait(std::chrono::nanoseconds timeout);
  void when_done(Callback<void> done);

 private:
  void one_ended(std::optional<std::pair<Error, Message>> failed, bool dropped);
  /// Throws Undelivered.
  void result() const;
  [[nodiscard]] Error late(std::chrono::nanoseconds timeout) const;

  const std::shared_ptr<client::Core> core_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t copies_;
  std::size_t under_way_;
  std::vector<std::pair<Error, Message>> failed_;
  std::vector<Callback<void>> told_;
  std::vector<std::shared_ptr<const Receiver>> receivers_;
};

}  // namespace mf::flex
