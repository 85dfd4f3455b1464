// A named process: sends flexible messages, and has a mailbox.
//
//   process.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}});
//   process.send({{"dest", "workers/*"}, {"stop", true}}, {.when_full = mf::flex::Full::fail});
//   mf::flex::Message m = process.recv({{"src", "B"}, {"tag", "output"}});
//   if (auto m = process.poll(10ms, {{"tag", 42}})) …
//   mf::Outcome<mf::flex::Message> m = co_await process.async_recv(pattern, token);
//   auto printing = process.on_message([](const mf::flex::Message& m) { … }, {{"tag", "log"}});
//
// The attributes `src` and `dest` are reserved: a send without `dest`, or with `src`, is refused. All
// functions are thread-safe; each message goes to exactly one receiving call or callback. The process leaves
// when this object is destroyed.
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
  /// The groups that the process is a member of.
  std::vector<std::string> groups{};
  /// What send() does if there is no room for the message.
  Full when_full = Full::block;
  /// Called for each message that is not delivered, on the thread that learns it: it must not block. Without
  /// it those messages are logged and kept: see Process::undelivered().
  std::function<void(const Undelivered&)> on_undelivered{};
  /// The bounds of the mailbox; each sender may use at most half of both.
  std::size_t max_messages = 65'536;
  std::size_t max_bytes = std::size_t{64} << 20U;
};

struct SendOptions {
  /// If it is not set, ProcessOptions::when_full applies.
  std::optional<Full> when_full{};
  /// How long the call waits for room.
  std::chrono::nanoseconds timeout = kDefaultDeadline;
};

/// A registered callback; the destructor unregisters it. The destructor waits for a running call to end,
/// unless that call itself runs it. Messages that were assigned to the callback go back to the mailbox.
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
  /// How often the callback was called, and how often it, or a function of its pattern, has thrown.
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

  /// Sends a message to the process `dest`, or to all members of the group of "GROUP/*", and returns before
  /// it is received; messages to one process arrive in the order in which they were sent.
  ///
  /// `when_full` says what happens if there is no room. Throws Error(INVALID_ARGUMENT) with the path of an
  /// attribute that cannot be encoded, MESSAGE_TOO_LARGE, OVERLOADED (fail) and DEADLINE_EXCEEDED (block);
  /// all of them NOT_EXECUTED.
  Sent send(Attributes attributes, const SendOptions& options = {});
  /// The asynchronous send(); completes with Outcome<Sent>.
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
  /// The latest 1,024 messages of this process that were not delivered since the last call.
  [[nodiscard]] std::vector<Undelivered> undelivered();

  /// Takes the first message that matches; waits for at most `timeout` (30 s; mf::kInfinite). Throws
  /// Error(DEADLINE_EXCEEDED), Error(CANCELLED) when the process has left, Error(INVALID_ARGUMENT) for
  /// criteria that no message can meet, and what a function among the criteria throws.
  Message recv(const Pattern& pattern = {}) { return recv(kDefaultDeadline, pattern); }
  Message recv(std::chrono::nanoseconds timeout, const Pattern& pattern = {});
  /// The same, but returns nothing on a timeout.
  [[nodiscard]] std::optional<Message> poll(std::chrono::nanoseconds timeout, const Pattern& pattern = {});
  /// The same; never waits.
  [[nodiscard]] std::optional<Message> poll(const Pattern& pattern = {});
  /// The same, as MPI names it.
  [[nodiscard]] std::optional<Message> recv_nb(const Pattern& pattern = {}) { return poll(pattern); }
  /// Whether poll() would find a message.
  [[nodiscard]] bool peek(const Pattern& pattern = {});
  /// Completes with Outcome<Message>. A cancelled call takes no message.
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
  /// Calls `function` with each message that matches, including messages that wait already, one at a time, on
  /// a thread of the mailbox. It has precedence over receiving calls, unless the pattern contains a
  /// function: then it competes with them. Exceptions of `function` are logged.
  Registered on_message(std::function<void(const Message&)> function, const Pattern& pattern = {});
  /// The same, as the report of 2009 names it.
  Registered regcb(std::function<void(const Message&)> function, const Pattern& pattern = {}) {
    return on_message(std::move(function), pattern);
  }
  /// The number of messages in the mailbox.
  [[nodiscard]] std::size_t waiting() const;

  /// Closes the mailbox and gives up the name: waiting calls fail as CANCELLED, and messages that were not
  /// taken are reported to their senders as undelivered. May be called twice.
  void leave();

 private:
  static void start_send(const std::shared_ptr<ProcessCore>& core, Attributes&& attributes,
                         const SendOptions& options, Callback<Sent> done, const std::stop_token& stop);
  static void start_recv(const std::shared_ptr<ProcessCore>& core, std::chrono::nanoseconds timeout,
                         const Pattern& pattern, Callback<Message> done, const std::stop_token& stop);

  std::shared_ptr<ProcessCore> core_;
};

}  // namespace mf::flex
