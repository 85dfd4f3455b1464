// A named process: sends flexible messages, and has a mailbox.
//
//   process.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}});
//   process.send({{"dest", "workers/*"}, {"stop", true}}, {.when_full = mf::flex::Full::fail});
//   mf::flex::Message m = process.recv({{"src", "B"}, {"tag", "output"}});
//   if (auto m = process.poll(10ms, {{"tag", 42}})) …
//   mf::Outcome<mf::flex::Message> m = co_await process.async_recv(pattern, token);
//   auto printing = process.regcb([](const mf::flex::Message& m) { … }, {{"tag", "log"}});
//
// `src` and `dest` are the runtime's: a send without `dest`, or with `src`, is refused. Any number of threads
// may do all this at once: each message goes to one of those who ask. A process leaves when this is
// destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "mf/core/async.hpp"
#include "mf/core/options.hpp"
#include "mf/flex/message.hpp"
#include "mf/flex/pattern.hpp"
#include "mf/flex/sent.hpp"

namespace mf::flex {

class ProcessCore;
struct Registration;

struct ProcessOptions {
  /// It is also reached as a member of these.
  std::vector<std::string> groups{};
  /// What its sends do where there is no room on the way.
  Full when_full = Full::block;
  /// Called for each message that is not delivered, where that is learnt: it must not block. Without it they
  /// are logged and kept: see Process::undelivered().
  std::function<void(const Undelivered&)> on_undelivered{};
  /// What may wait in its mailbox, of which one sender has at most half.
  std::size_t max_messages = 65'536;
  std::size_t max_bytes = std::size_t{64} << 20U;
};

struct SendOptions {
  /// If it is not set, as the process does.
  std::optional<Full> when_full{};
  /// How long it waits for room.
  std::chrono::nanoseconds timeout = kDefaultDeadline;
};

/// A callback that is registered, until this is destroyed. Then it is not called any more, once a call that
/// runs has ended, unless that call destroys it; what it was to be called with goes back to the mailbox.
class [[nodiscard]] Registered {
 public:
  Registered(std::shared_ptr<ProcessCore> process, std::shared_ptr<Registration> registration) noexcept
      : process_(std::move(process)), registration_(std::move(registration)) {}
  Registered(Registered&&) noexcept = default;
  Registered& operator=(Registered&& other) noexcept {
    unregister();
    process_ = std::move(other.process_);
    registration_ = std::move(other.registration_);
    return *this;
  }
  ~Registered() { unregister(); }

  /// May be called twice.
  void unregister();
  /// How often it was called, and how often it, or a function of its pattern, has thrown.
  [[nodiscard]] std::size_t calls() const;
  [[nodiscard]] std::size_t raised() const;

 private:
  std::shared_ptr<ProcessCore> process_;
  std::shared_ptr<Registration> registration_;
};

class Process {
 public:
  explicit Process(std::shared_ptr<ProcessCore> core) noexcept : core_(std::move(core)) {}
  Process(Process&&) noexcept = default;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  [[nodiscard]] const std::string& name() const noexcept;

  /// Sends a message to the process `dest`, or to all members of the group of "GROUP/*", and returns when it
  /// is on its way; messages to one process arrive in the order in which they were sent.
  ///
  /// Where there is no room on the way, it does what `when_full` says. Throws Error(INVALID_ARGUMENT) with
  /// the path of what does not travel, MESSAGE_TOO_LARGE, OVERLOADED (fail) and DEADLINE_EXCEEDED (block);
  /// all of them NOT_EXECUTED.
  Sent send(Attributes attributes, const SendOptions& options = {});
  /// The same without waiting; completes with Outcome<Sent>.
  template <class Token>
  auto async_send(Attributes attributes, const SendOptions& options, Token&& token) {
    return Completes<std::decay_t<Token>, Sent>::initiate(
        std::forward<Token>(token), [core = core_, attributes = std::move(attributes), options](
                                        Callback<Sent> done, const std::stop_token& stop = {}) mutable {
          start_send(core, std::move(attributes), options, std::move(done), stop);
        });
  }
  template <class Token>
  auto async_send(Attributes attributes, Token&& token) {
    return async_send(std::move(attributes), SendOptions{}, std::forward<Token>(token));
  }
  /// Messages of this process that were not delivered, the latest 1,024, since this was last asked.
  [[nodiscard]] std::vector<Undelivered> undelivered();

  /// The first message that matches, for which it waits at most 30 s, or so long (mf::kInfinite). Throws
  /// Error(DEADLINE_EXCEEDED), Error(CANCELLED) when the process has left, Error(INVALID_ARGUMENT) for
  /// criteria that no message can meet, and what a function among the criteria throws.
  Message recv(const Pattern& pattern = {}) { return recv(kDefaultDeadline, pattern); }
  Message recv(std::chrono::nanoseconds timeout, const Pattern& pattern = {});
  /// The same; nothing if none has come in that time.
  [[nodiscard]] std::optional<Message> poll(std::chrono::nanoseconds timeout, const Pattern& pattern = {});
  /// The same without waiting.
  [[nodiscard]] std::optional<Message> recv_nb(const Pattern& pattern = {});
  /// Whether recv_nb() would find a message.
  [[nodiscard]] bool peek(const Pattern& pattern = {});
  /// Completes with Outcome<Message>. What is cancelled takes nothing.
  template <class Token>
  auto async_recv(std::chrono::nanoseconds timeout, const Pattern& pattern, Token&& token) {
    return Completes<std::decay_t<Token>, Message>::initiate(
        std::forward<Token>(token),
        [core = core_, pattern, timeout](Callback<Message> done, const std::stop_token& stop = {}) {
          start_recv(core, timeout, pattern, std::move(done), stop);
        });
  }
  template <class Token>
  auto async_recv(const Pattern& pattern, Token&& token) {
    return async_recv(kDefaultDeadline, pattern, std::forward<Token>(token));
  }
  /// Calls a function with each message that matches, those that wait already included, one after the other
  /// on a thread of the process's own. What matches by values and kinds goes there before anybody else; where
  /// a function of the pattern decides, the callback is one of those who ask. What it throws is logged.
  Registered regcb(std::function<void(const Message&)> function, const Pattern& pattern = {});
  /// How many messages wait.
  [[nodiscard]] std::size_t waiting() const;

  /// Closes the mailbox and gives up the name: those who wait are told, and so are the senders of what was
  /// not taken. May be called twice.
  void leave();

 private:
  static void start_send(const std::shared_ptr<ProcessCore>& core, Attributes&& attributes,
                         const SendOptions& options, Callback<Sent> done, const std::stop_token& stop);
  static void start_recv(const std::shared_ptr<ProcessCore>& core, std::chrono::nanoseconds timeout,
                         const Pattern& pattern, Callback<Message> done, const std::stop_token& stop);

  std::shared_ptr<ProcessCore> core_;
};

}  // namespace mf::flex
