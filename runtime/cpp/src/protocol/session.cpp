// A session's state and the handling of received bytes; session_send.cpp sends.
#include "mf/protocol/session.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "mf/protocol/foreign.hpp"
#include "mf/protocol/metadata.hpp"

namespace mf::protocol {
namespace {

/// The bits of a header that must be zero in frames of one type, as the two halves of the header in memory.
struct ReservedBits {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

enum Field : unsigned { kRoute = 1, kId = 2, kStatus = 4, kCount = 8 };

constexpr ReservedBits reserved(std::uint8_t flags, unsigned fields) {
  ReservedBits bits;
  bits.first = std::uint64_t{static_cast<std::uint8_t>(~flags)} << 40;
  if ((fields & kRoute) == 0) bits.first |= std::uint64_t{0xffff} << 48;
  if ((fields & kId) == 0) bits.second |= 0xffffffffU;
  if ((fields & kStatus) == 0) bits.second |= std::uint64_t{0xffff} << 32;
  if ((fields & kCount) == 0) bits.second |= std::uint64_t{0xffff} << 48;
  return bits;
}

constexpr std::array<ReservedBits, kLastFrameType + 1> kReserved{
    ReservedBits{},
    reserved(0, 0),                 // HELLO
    reserved(0, kStatus),           // REFUSE
    reserved(0, kRoute),            // BIND
    reserved(0, kRoute | kStatus),  // BOUND
    reserved(kEncodingMask | kBulk | kOneway | kMetadata | kStream,
             kRoute | kId | kStatus | kCount),                             // REQUEST; kStatus is its deadline
    reserved(kEncodingMask | kMetadata, kRoute | kId | kStatus | kCount),  // REPLY
    reserved(0, kId),                                                      // CANCEL
    reserved(0, 0),                                                        // PING
    reserved(0, 0),                                                        // PONG
    reserved(0, kId | kStatus),                                            // GOAWAY
    reserved(0, 0),                                                        // DESCRIBE
    reserved(0, 0),                                                        // DESCRIPTOR
    reserved(kEncodingMask | kMetadata, kId | kCount),                     // DATA
    reserved(0, kId),                                                      // CREDIT
    reserved(0, kId),                                                      // END
    reserved(0, kRoute),                                                   // UNBIND
};

bool has_reserved_bits(const Header& header) noexcept {
  std::array<std::uint64_t, 2> halves{};
  std::memcpy(halves.data(), &header, sizeof header);
  const ReservedBits& bits = kReserved[static_cast<std::size_t>(header.type)];
  return ((halves[0] & bits.first) | (halves[1] & bits.second)) != 0;
}

bool carries_items(FrameType type) noexcept {
  return type == FrameType::request || type == FrameType::reply;
}

/// What is wrong with the header of a request or a reply; null: nothing.
const char* fault_of(const Header& header) noexcept {
  if (header.type == FrameType::request) return header.id != 0 ? nullptr : "a REQUEST has the id 0";
  return header.status() <= kLastCode ? nullptr : "a REPLY has a status that does not exist";
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// The same for the last `count` bytes, at most 7, of a frame.
bool ends_in_zeros(std::span<const std::byte> frame, std::size_t count) noexcept {
  std::uint64_t last = 0;
  std::memcpy(&last, frame.data() + frame.size() - sizeof last, sizeof last);
  return count == 0 || last >> (64U - 8U * count) == 0;
}

/// Whether frames of this type belong to a call: DATA, CREDIT and END.
bool belongs_to_a_call(FrameType type) noexcept {
  return type == FrameType::data || type == FrameType::credit || type == FrameType::end;
}

constexpr std::size_t kPingSize = 8;
constexpr const char* kPadding = "the padding of a frame is not zero";

}  // namespace

Session::Session(Role role, SessionOptions options)
    : role_(role), last_id_(options.first_id - 1), options_(std::move(options)) {
  if (options_.authentication.size() > kMaxAuthentication)
    throw std::invalid_argument("the authentication field is longer than 16 KiB");
  options_.limits.max_payload = std::max(options_.limits.max_payload, kLeastMaxPayload);
}

bool Session::established() const noexcept {
  const auto live = [](State state) { return state == State::open || state == State::draining; };
  return live(ours_) && live(theirs_);
}

std::uint32_t Session::client_id() const noexcept {
  return role_ == Role::client ? options_.client_id : peer_.client_id;
}

bool Session::parse(Event& event) {
  if (!event.owner.empty()) event.owner.clear();
  event.metadata = {};
  event.metadata_fault = nullptr;
  event.coming = nullptr;
  if (closed()) [[unlikely]]
    return give_broken(event);
  if (input_.shared()) {
    if (!input_.dedicated_complete()) return false;
    if (!end_passed_on()) return give_broken(event);
  }
  if (input_.dedicated()) return next_dedicated(event);
  for (;;) {
    const std::span<const std::byte> bytes = input_.available();
    if (theirs_ == State::fresh && !check_first(bytes)) [[unlikely]]
      return give_broken(event);
    if (bytes.size() < kHeaderSize) return false;
    event.header = decode_header(bytes.data());
    if (may_be_skipped(theirs_, event.header.type)) [[unlikely]] {
      if (!check_skippable(event.header)) return give_broken(event);
      if (bytes.size() < padded(event.header.size)) return false;
      input_.consume(padded(event.header.size));
      continue;
    }
    if (!check_header(event.header)) [[unlikely]]
      return give_broken(event);
    const std::size_t total = padded(event.header.size);
    if (bytes.size() < total) {
      if (!await(event.header, bytes, total)) return give_broken(event);
      return input_.dedicated() && tell_begun(event);
    }
    if (!cut(event, bytes, total) || !deliver(event)) [[unlikely]]
      return give_broken(event);
    if (event.header.type != FrameType::ping) [[likely]]
      return true;
    if (!answer_ping(event.payload)) return give_broken(event);
  }
}

bool Session::await(const Header& header, std::span<const std::byte> bytes, std::size_t total) {
  if (total < kDedicatedFrom || bytes.size() < header.payload_offset()) return true;
  if (!read_count(header, bytes.data(), dedicated_count_)) return false;
  try {
    input_.dedicate(header.payload_offset(), total);
  } catch (const std::bad_alloc&) {
    return broke("no memory for a message of " + std::to_string(header.size) + " bytes", Code::overloaded);
  }
  dedicated_header_ = header;
  return true;
}

bool Session::cut(Event& event, std::span<const std::byte> bytes, std::size_t total) {
  const std::size_t size = event.header.size;
  const std::size_t offset = event.header.payload_offset();
  if (!read_count(event.header, bytes.data(), event.count)) return false;
  event.payload = bytes.subspan(offset, size - offset);
  if (!ends_in_zeros(bytes.first(total), total - size)) [[unlikely]]
    return broke_with([] { return kPadding; });
  input_.consume(total);
  return true;
}

bool Session::next_dedicated(Event& event) {
  if (!input_.dedicated_complete()) return false;
  event.header = dedicated_header_;
  event.count = dedicated_count_;
  Buffer buffer = input_.take_dedicated();
  const std::size_t size = event.header.size - event.header.payload_offset();
  if (!all_zero(buffer.span().subspan(size))) {
    broke(kPadding);
    return give_broken(event);
  }
  buffer.resize(size);
  event.owner = Bytes(std::move(buffer));
  event.payload = event.owner.span();
  return deliver(event) || give_broken(event);
}

// For the frame that await() has just given its own buffer.
bool Session::tell_begun(Event& event) {
  const auto size = event.header.size - event.header.payload_offset();
  if (options_.told_from == 0 || size < options_.told_from || !carries_items(event.header.type)) return false;
  if (const auto* const fault = fault_of(event.header)) return broke(fault) || give_broken(event);
  event.type = EventType::begun;
  event.count = dedicated_count_;
  event.announced = size;
  event.payload = event.whole = {};
  return true;
}

std::shared_ptr<Coming> Session::pass_on() {
  if (dedicated_header_.type == FrameType::request) last_id_ = dedicated_header_.id;
  theirs_ = after(other(role_), theirs_, dedicated_header_.type);
  return input_.share_dedicated(dedicated_header_.size - dedicated_header_.payload_offset());
}

bool Session::end_passed_on() {
  const auto coming = input_.end_shared();
  return all_zero(coming->memory().subspan(coming->size())) || broke(kPadding);
}

bool Session::give_broken(Event& event) {
  if (!std::exchange(broken_untold_, false)) return false;
  event.type = EventType::broken;
  event.code = broken_code_;
  event.header = Header();
  event.count = 0;
  event.payload = {};
  event.text = broken_reason_;
  return true;
}

bool Session::broke(std::string reason, Code code) {
  broken_reason_ = std::move(reason);
  broken_code_ = code;
  fail(code, broken_reason_);
  broken_untold_ = true;
  return false;
}

bool Session::check_first(std::span<const std::byte> bytes) {
  const std::string_view what = looks_like(bytes);
  if (what == "HTTP") return broke("the peer speaks no MF: its first bytes look like HTTP");
  if (what != "TLS") return true;
  return broke(
      "the peer speaks no MF: its first bytes look like TLS; an address begins with tls:// at both ends, or "
      "at none");
}

bool Session::check_header(const Header& header) {
  // The table comes first: it also ensures that the type is a number that the other tables contain.
  if (after(other(role_), theirs_, header.type) == State::forbidden) [[unlikely]]
    return broke_with([&] {
      return "a frame of type " + std::to_string(static_cast<unsigned>(header.type)) + " (" +
             name(header.type) + ") may not come here: the " + (role_ == Role::client ? "server" : "client") +
             "'s side is " + name(theirs_);
    });
  if (has_reserved_bits(header)) [[unlikely]]
    return broke_with(
        [&] { return std::string("a field of a ") + name(header.type) + " that must be zero is not"; });
  return check_size(header);
}

/// Checks a frame of an unknown type: only its size matters.
bool Session::check_skippable(const Header& header) {
  if (header.size >= kHeaderSize && header.size - kHeaderSize <= kMaxControlPayload) return true;
  return broke("a frame of the unknown type " + std::to_string(static_cast<unsigned>(header.type)) +
               " with size " + std::to_string(header.size) + " is not one that may be skipped");
}

bool Session::check_size(const Header& header) {
  const bool items = carries_items(header.type);
  if (header.size < header.payload_offset()) [[unlikely]]
    return broke_with(
        [&] { return "a frame of size " + std::to_string(header.size) + " is shorter than its header"; });
  const std::size_t payload = header.size - header.payload_offset();
  const bool data = header.type == FrameType::data;
  const std::size_t limit = items || header.type == FrameType::descriptor ? options_.limits.max_payload
                            : data                                        ? kMaxDataPayload
                                                                          : kMaxControlPayload;
  if (payload > limit) [[unlikely]]
    return broke_with([&] {
      return std::string("a ") + name(header.type) + " with a payload of " + std::to_string(payload) +
             " bytes is above the limit of " + std::to_string(limit);
    });
  if (items && header.count == 0) [[unlikely]]
    return broke_with([&] { return std::string("a ") + name(header.type) + " has no items"; });
  if (header.stream() && (header.bulk() || header.oneway() || header.count != 1)) [[unlikely]]
    return broke_with([] { return "a REQUEST with a stream is bulk or one-way, or has more than one item"; });
  if (!items && header.count == kExtendedCount) [[unlikely]]
    return broke_with([] { return "the count of a DATA is above 65,534"; });
  if (header.id == 0 && belongs_to_a_call(header.type)) [[unlikely]]
    return broke_with([&] { return std::string("a ") + name(header.type) + " has the id 0"; });
  return true;
}

bool Session::read_count(const Header& header, const std::byte* frame, std::uint32_t& count) {
  count = header.count;
  if (header.count != kExtendedCount) [[likely]]
    return true;
  return read_long_count(frame, count);
}

bool Session::read_long_count(const std::byte* frame, std::uint32_t& count) {
  std::uint32_t zero = 0;
  std::memcpy(&count, frame + kHeaderSize, sizeof count);
  std::memcpy(&zero, frame + kHeaderSize + sizeof count, sizeof zero);
  if (count >= kExtendedCount && zero == 0) return true;
  return broke("the count extension of a frame is not what it should be");
}

bool Session::deliver(Event& event) {
  const Header& header = event.header;
  if (header.type == FrameType::request) {
    event.type = EventType::request;
    if (const auto* const fault = fault_of(header)) [[unlikely]]
      return broke_with([&] { return fault; });
    last_id_ = header.id;
  } else if (header.type == FrameType::reply) {
    event.type = EventType::reply;
    if (const auto* const fault = fault_of(header)) [[unlikely]]
      return broke_with([&] { return fault; });
  } else if (header.type == FrameType::data) {
    event.type = EventType::data;
  } else if (!deliver_control(event)) {
    return false;
  }
  if (header.metadata()) [[unlikely]]
    take_metadata(event);
  theirs_ = after(other(role_), theirs_, header.type);
  return true;
}

bool Session::deliver_control(Event& event) {
  const char* reason = nullptr;
  switch (event.header.type) {
    case FrameType::hello:
      return take_hello(event);
    case FrameType::refuse:
      return take_text(event, EventType::refused);
    case FrameType::goaway:
      return take_text(event, EventType::goaway);
    case FrameType::describe: {
      Describe describe;
      std::string room;
      event.type = EventType::describe;
      return parse_describe(event.payload, describe, reason, room) || broke(reason);
    }
    case FrameType::bound:
      return take_bound(event);
    case FrameType::bind: {
      Bind bind;
      std::string room;
      event.type = EventType::bind;
      return parse_bind(event.payload, bind, reason, room) || broke(reason);
    }
    case FrameType::descriptor: {
      Descriptor descriptor;
      std::string room;
      event.type = EventType::descriptor;
      return parse_descriptor(event.payload, descriptor, reason, room) || broke(reason);
    }
    case FrameType::cancel:
      event.type = EventType::cancel;
      return event.payload.empty() || broke("a CANCEL has a payload");
    case FrameType::credit:
      return take_credit(event);
    case FrameType::end:
      event.type = EventType::end;
      return event.payload.empty() || broke("an END has a payload");
    case FrameType::unbind:
      event.type = EventType::unbind;
      return event.payload.empty() || broke("an UNBIND has a payload");
    default:
      event.type = EventType::pong;
      return event.payload.size() == kPingSize || broke("a PING or PONG has not 8 bytes of payload");
  }
}

void Session::take_metadata(Event& event) const {
  event.whole = event.payload;
  const auto block = split_metadata(event.payload);
  event.metadata = block.entries;
  event.metadata_fault = block.fault;
  event.payload = block.payload;
}

bool Session::take_credit(Event& event) {
  event.type = EventType::credit;
  event.credit = 0;
  if (event.payload.size() == sizeof event.credit)
    std::memcpy(&event.credit, event.payload.data(), sizeof event.credit);
  return event.credit != 0 || broke("a CREDIT is not a number above 0");
}

bool Session::take_hello(Event& event) {
  const char* reason = nullptr;
  std::string room;
  if (!parse_hello(event.payload, peer_, reason, room)) return broke(reason);
  version_ = common_version(Hello(), peer_);
  if (version_ == 0)
    return broke("no common protocol version: the peer speaks " + std::to_string(peer_.lowest_version) +
                 " to " + std::to_string(peer_.highest_version) + ", this side " +
                 std::to_string(kProtocolVersion));
  if (role_ == Role::server ? peer_.max_in_flight != 0 : peer_.client_id != 0)
    return broke("a field of the HELLO that must be zero is not");
  if (role_ == Role::server && options_.admit) {
    if (auto why = options_.admit(peer_)) return broke(*std::move(why), Code::unauthenticated);
  }
  peer_.credential = {};  // it is used here only
  // Sent now and not when the link handles the event: the next frame in the buffer may be answered here, and
  // nothing may be sent before HELLO.
  if (role_ == Role::server && ours_ == State::fresh) send_hello();
  event.type = EventType::hello;
  return true;
}

bool Session::take_text(Event& event, EventType type) {
  const char* reason = nullptr;
  event.type = type;
  event.code = event.header.code();
  if (event.header.status() > kLastCode) return broke("a status that does not exist");
  return parse_text(event.payload, event.text, reason) || broke(reason);
}

bool Session::take_bound(Event& event) {
  if (event.header.status() != kStatusOk) return take_text(event, EventType::bound);
  event.type = EventType::bound;
  event.code = Code::ok;
  event.text = {};
  return event.payload.empty() || broke("a BOUND that is OK has a payload");
}

bool Session::answer_ping(std::span<const std::byte> payload) {
  if (written_ >= pongs_since_) pongs_ = 0;
  if (++pongs_ > kMaxUnsentPongs)
    return broke("PINGs are sent faster than their answers are read", Code::overloaded);
  if (!may_send(FrameType::pong)) return true;
  send_frame({.type = FrameType::pong}, 0, payload);
  if (pongs_ == 1) pongs_since_ = written_ + output_.bytes();
  return true;
}

}  // namespace mf::protocol
