// Sending of a session: frames are added to its output, each only in a state that allows it.
#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "mf/core/text.hpp"
#include "mf/protocol/reply.hpp"
#include "mf/protocol/session.hpp"

namespace mf::protocol {
namespace {

void write_extension(std::byte* to, std::uint32_t count) noexcept {
  const std::array<std::uint32_t, 2> extension{count, 0};
  std::memcpy(to, extension.data(), kExtensionSize);
}

constexpr std::size_t kMaxReasonText = kMaxControlPayload - 2;

Header control(FrameType type) noexcept {
  Header header;
  header.type = type;
  return header;
}

Header control(FrameType type, Code code) noexcept {
  Header header = control(type);
  header.deadline_or_status = static_cast<std::uint16_t>(code);
  return header;
}

Header reply_header(const ReplyHead& head) noexcept {
  Header header;
  header.type = FrameType::reply;
  header.flags = static_cast<std::uint8_t>(head.encoding | head.flags);
  header.route = head.route;
  header.id = head.id;
  header.deadline_or_status = head.status;
  return header;
}

}  // namespace

void Session::refuse_to_send(FrameType type) const {
  throw std::logic_error(std::string("a ") + (role_ == Role::client ? "client" : "server") + " that is " +
                         name(ours_) + " may not send " + name(type));
}

void Session::refuse_size(std::size_t payload_size, Execution execution) const {
  throw Error(Code::message_too_large, execution,
              "a message of " + std::to_string(payload_size) + " bytes is above the " +
                  std::to_string(peer_max_payload()) +
                  " that the peer takes: send less at a time, or raise its max_payload");
}

std::byte* Session::append_frame(Header header, std::uint32_t count, std::size_t payload_size) {
  const std::size_t offset = payload_offset_for(count);
  header.size = static_cast<std::uint32_t>(offset + payload_size);
  header.count = static_cast<std::uint16_t>(std::min<std::uint32_t>(count, kExtendedCount));
  const std::size_t total = padded(header.size);
  std::byte* at = output_.append(total);
  std::memset(at + total - 8, 0, 8);  // the padding, whatever its size: the rest is overwritten
  encode_header(header, at);
  if (count >= kExtendedCount) write_extension(at + kHeaderSize, count);
  return at + offset;
}

void Session::send_frame(const Header& header, std::uint32_t count, const Outbound& payload) {
  if (payload.pieces_.empty() && payload.coming_ == nullptr) [[likely]] {
    if (payload.owner_ != nullptr && !payload.owner_->empty() && payload.size_ >= Gathered::kFrom) {
      Gathered shared;
      shared.pieces.push_back({.at = 0, .bytes = payload.owner_->cut(payload.bytes_)});
      return share_frame(header, count, std::move(shared));
    }
    if (payload.buffer_ == nullptr || payload.size_ < kSeparateSegmentFrom)
      return copy_frame(header, count, payload.bytes_);
    return move_frame(header, count, std::move(*payload.buffer_));
  }
  if (payload.coming_ != nullptr) return pass_frame(header, count, payload.coming_->shared_from_this());
  if (payload.gathered_ != nullptr) return share_frame(header, count, std::move(*payload.gathered_));
  Gathered copy;
  copy.buffer.append(payload.bytes_);
  copy.pieces.assign(payload.pieces_.begin(), payload.pieces_.end());
  share_frame(header, count, std::move(copy));
}

void Session::copy_frame(const Header& header, std::uint32_t count, std::span<const std::byte> payload) {
  std::byte* at = append_frame(header, count, payload.size());
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
}

void Session::move_frame(Header header, std::uint32_t count, Buffer&& payload) {
  const std::size_t offset = payload_offset_for(count);
  header.size = static_cast<std::uint32_t>(offset + payload.size());
  header.count = static_cast<std::uint16_t>(std::min<std::uint32_t>(count, kExtendedCount));
  const std::size_t padding = padded(header.size) - header.size;
  std::byte* begin = payload.data() - offset;
  encode_header(header, begin);
  if (count >= kExtendedCount) write_extension(begin + kHeaderSize, count);
  std::memset(payload.data() + payload.size(), 0, padding);
  output_.push(std::move(payload), offset, padding);
}

void Session::begin_frame(Header header, std::uint32_t count, std::size_t payload_size) {
  const std::size_t offset = payload_offset_for(count);
  header.size = static_cast<std::uint32_t>(offset + payload_size);
  header.count = static_cast<std::uint16_t>(std::min<std::uint32_t>(count, kExtendedCount));
  std::byte* const begin = output_.append(offset);
  encode_header(header, begin);
  if (count >= kExtendedCount) write_extension(begin + kHeaderSize, count);
}

void Session::pad_frame(std::size_t payload_size, std::uint32_t count) {
  const std::size_t size = payload_offset_for(count) + payload_size;
  if (const std::size_t padding = padded(size) - size; padding != 0)
    std::memset(output_.append(padding), 0, padding);
}

void Session::share_frame(Header header, std::uint32_t count, Gathered&& payload) {
  const std::size_t size = payload.size();
  begin_frame(header, count, size);
  // cut() and push() both copy small slices of the buffer, which is released then.
  const Bytes between(std::move(payload.buffer));
  std::size_t at = 0;
  for (auto& piece : payload.pieces) {
    output_.push(between.cut(between.span().subspan(at, piece.at - at)));
    at = piece.at;
    output_.push(std::move(piece.bytes));
  }
  output_.push(between.cut(between.span().subspan(at)));
  pad_frame(size, count);
  payload.clear();
}

void Session::pass_frame(Header header, std::uint32_t count, std::shared_ptr<const Coming>&& payload) {
  const std::size_t size = payload->size();
  begin_frame(header, count, size);
  output_.push(std::move(payload));
  pad_frame(size, count);
}

Header Session::request_header(const RequestHead& head, std::uint32_t& id) {
  id = head.id != 0 ? head.id : reserve_id();
  Header header;
  header.type = FrameType::request;
  header.flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(head.tier) | head.flags);
  header.route = head.route;
  header.id = id;
  header.deadline_or_status = head.deadline;
  return header;
}

std::uint32_t Session::send_request(const RequestHead& head, const Outbound& payload) {
  if (!may_send(FrameType::request)) return 0;
  check_peer_takes(payload.size(), Execution::not_executed);
  std::uint32_t id = 0;
  send_frame(request_header(head, id), head.count, payload);
  return id;
}

std::span<std::byte> Session::place_request(const RequestHead& head, std::size_t size, std::uint32_t& id) {
  id = 0;
  if (!may_send(FrameType::request)) return {};
  check_peer_takes(size, Execution::not_executed);
  return {append_frame(request_header(head, id), head.count, size), size};
}

void Session::send_reply(const ReplyHead& head, const Outbound& payload) {
  if (!may_send(FrameType::reply)) return;
  check_peer_takes(payload.size(), Execution::unknown);
  send_frame(reply_header(head), head.count, payload);
}

std::span<std::byte> Session::place_reply(const ReplyHead& head, std::size_t size) {
  if (!may_send(FrameType::reply)) return {};
  check_peer_takes(size, Execution::unknown);
  return {append_frame(reply_header(head), head.count, size), size};
}

void Session::send_failure(const ReplyHead& head, Code code, Execution execution, std::string_view message) {
  ReplyHead failed = head;
  failed.status = static_cast<std::uint16_t>(code);
  failed.encoding = 0;
  failed.flags = 0;
  Buffer payload;
  write_failure_record(payload, execution, message);
  send_reply(failed, payload);
}

void Session::send_hello() {
  if (!may_send(FrameType::hello)) return;
  const bool client = role_ == Role::client;
  Buffer payload;
  write_hello(payload, Hello{.max_payload = options_.limits.max_payload,
                             .max_in_flight = client ? 0 : options_.limits.max_in_flight,
                             .client_id = client ? options_.client_id : 0,
                             .nonce = options_.nonce,
                             .authentication = options_.authentication,
                             .max_bindings = client ? kDefaultBindings : options_.limits.max_bindings,
                             .max_streams = client ? kDefaultStreams : options_.limits.max_streams,
                             .stream_window = options_.limits.stream_window,
                             .name = options_.name,
                             .calls_open = client ? 0 : options_.calls_open,
                             .calls_at_once = client ? 0 : options_.calls_at_once,
                             .credential = client ? options_.credential : Secret(),
                             .passed = client ? options_.passed : std::nullopt});
  send_frame(control(FrameType::hello), 0, std::move(payload));
}

void Session::send_bind(std::uint16_t first_route, const Bind& bind) {
  if (!is_utf8(bind.agent))
    throw Error(Code::invalid_argument, Execution::not_executed, "the agent is not UTF-8");
  Buffer payload;
  write_bind(payload, bind);
  if (payload.size() > kMaxControlPayload)
    throw Error(Code::message_too_large, Execution::not_executed,
                "the names of service, agent and methods are longer than 32 KiB together");
  if (!may_send(FrameType::bind)) return;
  Header header = control(FrameType::bind);
  header.route = first_route;
  send_frame(header, 0, std::move(payload));
}

void Session::send_bound(std::uint16_t first_route, Code code, std::string_view reason) {
  if (!may_send(FrameType::bound)) return;
  Buffer payload;
  if (code != Code::ok) write_text(payload, reason, kMaxReasonText);
  Header header = control(FrameType::bound, code);
  header.route = first_route;
  send_frame(header, 0, std::move(payload));
}

void Session::send_cancel(std::uint32_t id) {
  if (!may_send(FrameType::cancel)) return;
  Header header = control(FrameType::cancel);
  header.id = id;
  send_frame(header, 0, std::span<const std::byte>());
}

void Session::send_data(const DataHead& head, const Outbound& payload) {
  if (payload.size() > kMaxDataPayload || head.count == kExtendedCount)
    throw std::logic_error("a DATA of " + std::to_string(payload.size()) + " bytes and " +
                           std::to_string(head.count) + " values");
  if (!may_send(FrameType::data)) return;
  Header header = control(FrameType::data);
  header.flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(head.tier) | head.flags);
  header.id = head.id;
  send_frame(header, head.count, payload);
}

void Session::send_credit(std::uint32_t id, std::uint32_t bytes) {
  if (!may_send(FrameType::credit)) return;
  Header header = control(FrameType::credit);
  header.id = id;
  send_frame(header, 0, std::as_bytes(std::span(&bytes, 1)));
}

void Session::send_end(std::uint32_t id) {
  if (!may_send(FrameType::end)) return;
  Header header = control(FrameType::end);
  header.id = id;
  send_frame(header, 0, std::span<const std::byte>());
}

void Session::send_unbind(std::uint16_t first_route) {
  if (!may_send(FrameType::unbind)) return;
  Header header = control(FrameType::unbind);
  header.route = first_route;
  send_frame(header, 0, std::span<const std::byte>());
}

void Session::send_ping(std::uint64_t token) {
  if (!may_send(FrameType::ping)) return;
  send_frame(control(FrameType::ping), 0, std::as_bytes(std::span(&token, 1)));
}

void Session::send_goaway(Code code, std::string_view reason) {
  if (!may_send(FrameType::goaway)) return;
  Header header = control(FrameType::goaway, code);
  header.id = last_id_;
  send_text(header, reason);
}

void Session::send_describe(const Describe& describe) {
  if (!may_send(FrameType::describe)) return;
  Buffer payload;
  write_describe(payload, describe);
  send_frame(control(FrameType::describe), 0, std::move(payload));
}

void Session::send_text(const Header& header, std::string_view text) {
  Buffer payload;
  write_text(payload, text, kMaxReasonText);
  send_frame(header, 0, std::move(payload));
}

void Session::send_descriptor(const Descriptor& descriptor) {
  if (!may_send(FrameType::descriptor)) return;
  Buffer payload;
  write_descriptor(payload, descriptor);
  check_peer_takes(payload.size(), Execution::unknown);
  send_frame(control(FrameType::descriptor), 0, std::move(payload));
}

void Session::fail(Code code, std::string_view reason) {
  if (may_send(FrameType::refuse)) send_text(control(FrameType::refuse, code), reason);
}

}  // namespace mf::protocol
