// A WebSocket: the values of one call, in both directions, or the messages of one topic. Each message is a
// JSON object in text.
//
//   client: {"arguments": {…}, "agent": "books", "deadline": "5s", "token": "v4.public.…"}   the first one
//           {"agents": "*", "overflow": "block", "replay": 10, "token": …}                   or this, of a
//           topic
//           {"value": …}, at last {"end": null}                        if the method takes a stream of values
//   door:   {"value": …}, at last {"end": RESULT} or {"problem": {…}}, and then it closes
//
// What a message wants is decided here; the stream under it is that of session_of.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/calls.hpp"
#include "http/core.hpp"
#include "http/feed.hpp"
#include "http/problem.hpp"
#include "http/visit.hpp"
#include "http/visitor.hpp"

namespace mf::http {

class Conversation : public Guest, public std::enable_shared_from_this<Conversation> {
 public:
  using Then = UniqueFunction<void()>;

  Conversation(Core& core, Visitor visitor, Visit visit)
      : core_(core), visitor_(std::move(visitor)), visit_(std::move(visit)) {}

  void look(TimePoint now) override;
  void drain() override;
  void close() override;
  [[nodiscard]] const std::string& peer() const noexcept override { return visitor_.peer(); }

 protected:
  /// Reads the next message, with which on_text() is called; on_lost() if there is none.
  virtual void read() = 0;
  /// Writes whole frames. `then` is called when all is written, and never if that fails.
  virtual void write(std::string_view frames, Then then) = 0;
  /// Since when the same bytes wait for the peer to read them; nothing: none do.
  [[nodiscard]] virtual std::optional<TimePoint> writes_since() const = 0;
  /// Closes with a code of RFC 6455.
  virtual void say_goodbye(std::uint16_t code, std::string_view why) = 0;
  virtual void shut() = 0;
  /// Whether the certificate of the peer, if there is one, is still accepted.
  [[nodiscard]] virtual bool trusted() = 0;

  void ready();
  void on_text(std::string&& text);
  void on_lost();
  [[nodiscard]] Core& core() noexcept { return core_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }

 private:
  void leave();
  void open(std::string_view text);
  [[nodiscard]] std::optional<Problem> read_opening(std::string_view text);
  void on_described(const Descriptions::Known& known, const std::shared_ptr<Caller>& caller);
  void begin_call(const Callee& callee);
  void begin_feed(const Descriptions::Known& topic, const std::shared_ptr<Caller>& caller);
  void on_value(std::string_view text);
  void pump();
  void pump_feed();
  void on_message(Outcome<topics::Receiver::Taken>&& taken);
  void end(const Answer& answer);
  void drop_work();

  Core& core_;
  Visitor visitor_;
  Visit visit_;
  std::string arguments_ = "{}";
  bool entered_ = false;
  bool closed_ = false;
  bool opened_ = false;
  bool ending_ = false;
  bool sent_all_ = false;               // the client's values
  std::optional<std::string> waiting_;  // a message that has come before the call has begun
  TimePoint until_ = kNever;
  std::shared_ptr<Caller> caller_;  // while its call runs: those that nothing holds are ended
  Running running_;
  std::shared_ptr<Streaming> streaming_;
  std::unique_ptr<Feed> feed_;
};

}  // namespace mf::http
