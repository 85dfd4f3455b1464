// One message of calls on its way through a servant, and the duty to answer it.
//
// Ticket    answers the message, once, from any thread; one that is dropped unanswered says SHUTTING_DOWN,
// not executed. Movable. Incoming  the message as dispatch() sees it: payload, count, method, ticket. Lives
// on the stack of the thread that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "mf/core/buffer.hpp"
#include "mf/core/current_call.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/core/service.hpp"
#include "mf/link/server_link.hpp"

namespace mf::server {

class Ticket {
 public:
  Ticket(std::shared_ptr<link::ServerLink> link, const protocol::ReplyHead& head, std::size_t payload_size,
         bool oneway)
      : link_(std::move(link)), head_(head), payload_size_(payload_size), oneway_(oneway) {}
  Ticket(Ticket&& other) noexcept = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (link_)
      fail(Code::shutting_down, Execution::not_executed, "the server stopped before it ran the call");
  }

  [[nodiscard]] std::uint32_t count() const noexcept { return head_.count; }
  [[nodiscard]] std::uint32_t id() const noexcept { return head_.id; }
  [[nodiscard]] bool oneway() const noexcept { return oneway_; }

  /// `status`: protocol::kStatusOk or kStatusMixed. A large payload is moved out of the buffer.
  void answer(std::uint16_t status, Tier tier, Buffer& payload);
  void fail(Code code, Execution execution, std::string_view message);
  /// Of a one-way call, which nobody waits for.
  void done();

 private:
  std::shared_ptr<link::ServerLink> link_;  // null once answered
  protocol::ReplyHead head_;
  std::size_t payload_size_;
  bool oneway_;
};

class Incoming {
 public:
  Incoming(Ticket ticket, std::uint16_t method, Tier tier, std::span<const std::byte> payload,
           const CallInfo& info, const Log& log)
      : ticket_(std::move(ticket)), method_(method), tier_(tier), payload_(payload), info_(info), log_(log) {}

  [[nodiscard]] std::uint16_t method() const noexcept { return method_; }
  [[nodiscard]] Tier tier() const noexcept { return tier_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return ticket_.count(); }
  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
  [[nodiscard]] const CallInfo& info() const noexcept { return info_; }
  [[nodiscard]] Ticket& ticket() noexcept { return ticket_; }
  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  Ticket ticket_;
  std::uint16_t method_;
  Tier tier_;
  std::span<const std::byte> payload_;
  const CallInfo& info_;
  const Log& log_;
};

}  // namespace mf::server
