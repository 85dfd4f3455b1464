#include "mf/server/incoming.hpp"

namespace mf::server {

void Ticket::answer(std::uint16_t status, Tier tier, Buffer& payload) {
  const auto link = std::exchange(link_, nullptr);
  if (!link) return;
  if (oneway_) return link->end_request(payload_size_);
  head_.status = status;
  head_.encoding = static_cast<std::uint8_t>(tier);
  link->send_reply(head_, payload, payload_size_);
}

void Ticket::fail(Code code, Execution execution, std::string_view message) {
  const auto link = std::exchange(link_, nullptr);
  if (!link) return;
  if (oneway_) return link->end_request(payload_size_);
  link->send_failure(head_, code, execution, message, payload_size_);
}

void Ticket::done() {
  if (const auto link = std::exchange(link_, nullptr)) link->end_request(payload_size_);
}

}  // namespace mf::server
