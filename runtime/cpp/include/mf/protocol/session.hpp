#pragma once
// The state machine of one side of a connection: bytes in, events out; messages in, bytes out. It has no
// socket, no clock, no thread and no lock: its link has these, calls it from one thread at a time, and passes
// the time where it is needed.
//
//     read:   window = receive_window(); n = read(socket, window); commit(n); while (next(event)) ...;
//     write:  n = fill_output(slices); written = writev(socket, slices, n); consumed(written);
//
// The session handles framing, limits, versions, checks of HELLO, PING, the state table and reserved bits.
// The upper layers handle the meaning of routes, matching replies to calls, encodings and deadlines.
//
// The peer's misbehaviour never throws: it ends in one `broken` event, with REFUSE in the output. Local
// misuse (a frame that this role may not send, or not yet) throws std::logic_error. Once the session has
// ended (closed()), sends are ignored. A payload above the peer's limit throws mf::Error MESSAGE_TOO_LARGE,
// and nothing is sent.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/buffer.hpp"
#include "mf/core/error.hpp"
#include "mf/core/gathered.hpp"
#include "mf/core/secret.hpp"
#include "mf/core/service.hpp"
#include "mf/protocol/control.hpp"
#include "mf/protocol/events.hpp"
#include "mf/protocol/frame.hpp"
#include "mf/protocol/input.hpp"
#include "mf/protocol/limits.hpp"
#include "mf/protocol/outbound.hpp"
#include "mf/protocol/output.hpp"
#include "mf/protocol/state.hpp"

namespace mf::protocol {

struct SessionOptions {
  Limits limits;
  std::uint32_t client_id = 0;  // clients only
  std::uint32_t first_id = 1;   // of the requests; another value makes the wrap testable
  Nonce nonce{};
  std::vector<std::byte> authentication{};
  Secret credential{};               // clients only, of which the peer was verified
  std::optional<Identity> passed{};  // relays only: the client that the session is for
  std::string name{};                // for the peer's logs
  std::uint32_t calls_open = 0;      // servers only: their load
  std::uint32_t calls_at_once = 0;   // servers only
  /// Servers only: called once, with the peer's HELLO, before this side's is sent. What it returns is the
  /// reason for refusing the session as UNAUTHENTICATED; nothing: it is admitted.
  std::function<std::optional<std::string>(const Hello&)> admit{};
  /// A `begun` event announces each request or reply whose payload has at least this many bytes and has not
  /// arrived completely; the owner may then pass_on() it. Otherwise it arrives as any other. 0: no such
  /// events.
  std::size_t told_from = 0;
};

struct RequestHead {
  std::uint16_t route = 0;
  Tier tier = Tier::memcpy;
  std::uint8_t flags = 0;  // kBulk, kOneway, kStream; kMetadata: the payload begins with a block
  std::uint32_t count = 1;
  std::uint16_t deadline = kNoDeadline;  // encode_deadline()
  std::uint32_t id = 0;                  // from reserve_id(); 0: the send reserves one
};

struct ReplyHead {
  std::uint16_t route = 0;
  std::uint32_t id = 0;
  std::uint32_t count = 1;
  std::uint16_t status = kStatusOk;
  std::uint8_t encoding = 0;  // a mf::Tier where the payload holds results, else 0
  std::uint8_t flags = 0;     // kMetadata: the payload begins with a block

  /// Copies the fields that a reply repeats from the request.
  [[nodiscard]] static ReplyHead to(const Event& request) noexcept {
    return {request.header.route, request.header.id, request.count, kStatusOk, 0, 0};
  }
};

struct DataHead {
  std::uint32_t id = 0;
  Tier tier = Tier::memcpy;
  std::uint16_t count = 0;  // values that end in this frame
  std::uint8_t flags = 0;   // kMetadata: the payload begins with a block
};

/// The credit that a DATA frame with a payload of this size uses.
[[nodiscard]] constexpr std::size_t data_cost(std::size_t payload_size) noexcept {
  return padded(kHeaderSize + payload_size);
}

class Session {
 public:
  Session(Role role, SessionOptions options);
  Session(Session&&) noexcept = default;
  Session& operator=(Session&&) noexcept = default;

  // ---- bytes in ----

  /// Where to read to: uninitialised, never empty once next() has returned false. Ends the life of all
  /// events' views.
  [[nodiscard]] std::span<std::byte> receive_window() { return input_.window(); }
  /// The first `n` bytes of the window were read.
  void commit(std::size_t n) noexcept { input_.commit(n); }
  /// The next event of the committed bytes; false: read more, or, if closed(), nothing more will come.
  [[nodiscard]] bool next(Event& event) { return may_go_on() && parse(event); }
  /// False: next() is false, since the next frame's header has not arrived.
  [[nodiscard]] bool may_go_on() const noexcept {
    return input_.available().size() >= kHeaderSize || input_.dedicated() || theirs_ == State::fresh ||
           closed();
  }
  /// May be called after a `begun` event, before the next receive_window(). Returns the payload of that
  /// frame, for which no further event follows.
  [[nodiscard]] std::shared_ptr<Coming> pass_on();

  // ---- messages out ----

  /// A client's first frame. A server's own HELLO is sent when the client's arrives.
  void send_hello();
  void send_bind(std::uint16_t first_route, const Bind& bind);
  void send_bound(std::uint16_t first_route, Code code = Code::ok, std::string_view reason = {});
  /// Returns the request's id; 0 if the session has ended.
  std::uint32_t send_request(const RequestHead& head, const Outbound& payload);
  /// Returns room for a payload of exactly `size` bytes in the output, with header and padding written: it
  /// must be filled before any other call. Empty if the session has ended. `id` gets the request's id. For
  /// small payloads.
  [[nodiscard]] std::span<std::byte> place_request(const RequestHead& head, std::size_t size,
                                                   std::uint32_t& id);
  void send_reply(const ReplyHead& head, const Outbound& payload);
  [[nodiscard]] std::span<std::byte> place_reply(const ReplyHead& head, std::size_t size);
  /// A reply with the same failure for all items: the failure record of section 5.
  void send_failure(const ReplyHead& head, Code code, Execution execution, std::string_view message);
  void send_cancel(std::uint32_t id);
  /// At most kMaxDataPayload bytes. The stream checks the credit (stream.hpp).
  void send_data(const DataHead& head, const Outbound& payload);
  void send_credit(std::uint32_t id, std::uint32_t bytes);
  void send_end(std::uint32_t id);
  void send_unbind(std::uint16_t first_route);
  void send_ping(std::uint64_t token);
  /// The frame has the number of the latest request that was received: later ones must not be executed.
  void send_goaway(Code code, std::string_view reason);
  void send_describe(const Describe& describe);
  void send_descriptor(const Descriptor& descriptor);
  /// Sends REFUSE and ends the session: nothing more is received or sent.
  void fail(Code code, std::string_view reason);

  [[nodiscard]] std::size_t output_bytes() const noexcept { return output_.bytes(); }
  /// The output_bytes() that need not wait for a payload that is still arriving.
  [[nodiscard]] std::size_t output_ready() const noexcept { return output_.ready(); }
  /// The slices of pending output, 64 are plenty; output.hpp says how long they are valid.
  [[nodiscard]] std::size_t fill_output(std::span<IoSlice> slices) const noexcept {
    return output_.fill(slices);
  }
  /// For a connection that has ended.
  void drop_output() noexcept { output_ = Output(); }
  void consumed(std::size_t n) noexcept {
    output_.consumed(n);
    written_ += n;
  }

  // ---- request ids ----

  /// The next request id: counts from 1, wraps to 1.
  [[nodiscard]] std::uint32_t reserve_id() noexcept {
    if (++last_id_ == 0) last_id_ = 1;
    return last_id_;
  }
  /// Skips ids for which `in_flight(id)` is true: `session.reserve_id([&](auto id) { return
  /// calls.contains(id); })`.
  template <class InFlight>
  [[nodiscard]] std::uint32_t reserve_id(InFlight&& in_flight) {
    std::uint32_t id = reserve_id();
    while (in_flight(id)) id = reserve_id();
    return id;
  }

  // ---- state ----

  [[nodiscard]] Role role() const noexcept { return role_; }
  /// Both HELLOs were sent and received, and neither side has ended the session.
  [[nodiscard]] bool established() const noexcept;
  /// Ended by REFUSE, from either side.
  [[nodiscard]] bool closed() const noexcept { return ours_ == State::closed || theirs_ == State::closed; }
  /// GOAWAY was sent or received.
  [[nodiscard]] bool draining() const noexcept {
    return ours_ == State::draining || theirs_ == State::draining;
  }
  /// Valid after the hello event.
  [[nodiscard]] const Hello& peer() const noexcept { return peer_; }
  /// The protocol version that both sides speak; 0 before the peer's HELLO.
  [[nodiscard]] std::uint16_t version() const noexcept { return version_; }
  [[nodiscard]] const Limits& limits() const noexcept { return options_.limits; }
  /// The id of the latest request; at a server, of the latest received one.
  [[nodiscard]] std::uint32_t last_id() const noexcept { return last_id_; }
  /// Whether no request of this connection had this id yet: they count up.
  [[nodiscard]] bool never_used(std::uint32_t id) const noexcept {
    return static_cast<std::int32_t>(id - last_id_) > 0;
  }
  [[nodiscard]] std::uint32_t client_id() const noexcept;
  /// Whether an end of the stream now would be within a frame.
  [[nodiscard]] bool mid_frame() const noexcept { return !input_.empty(); }
  /// Bytes of the large frame that is arriving; if it is forwarded, those that have arrived. 0 if there is
  /// none.
  [[nodiscard]] std::size_t awaited_bytes() const noexcept { return input_.dedicated_size(); }
  /// The largest payload that the peer accepts.
  [[nodiscard]] std::size_t peer_max_payload() const noexcept {
    return theirs_ == State::fresh ? kMaxPayloadBeforeHello : peer_.max_payload;
  }
  /// The memory of events' views: if the caller keeps it, they outlive the next receive_window().
  [[nodiscard]] Buffer detach_input() { return input_.detach(); }
  /// Memory that only an active session needs, so that a thread's idle ones need none: it is lent to the
  /// session that is read or written, and returned when nothing is pending there. All functions end the life
  /// of events' views.
  struct Spares {
    Buffer input;
    Buffer output;
  };
  void lend_input(Spares& spares) noexcept { input_.lend(spares.input); }
  void lend_output(Spares& spares) noexcept { output_.lend(spares.output); }
  void give_back_input(Spares& spares) noexcept { input_.give_back(spares.input); }
  void give_back_output(Spares& spares) noexcept { output_.give_back(spares.output); }

 private:
  [[nodiscard]] bool parse(Event& event);
  [[nodiscard]] bool next_dedicated(Event& event);
  [[nodiscard]] bool tell_begun(Event& event);
  [[nodiscard]] bool end_passed_on();
  [[nodiscard]] bool check_skippable(const Header& header);
  [[nodiscard]] bool give_broken(Event& event);
  // Each of these returns false if the peer violated the protocol; the session has ended then.
  [[nodiscard]] bool check_first(std::span<const std::byte> bytes);
  [[nodiscard]] bool check_header(const Header& header);
  [[nodiscard]] bool check_size(const Header& header);
  [[nodiscard]] bool await(const Header& header, std::span<const std::byte> bytes, std::size_t total);
  [[nodiscard]] bool cut(Event& event, std::span<const std::byte> bytes, std::size_t total);
  [[nodiscard]] bool read_count(const Header& header, const std::byte* frame, std::uint32_t& count);
  [[nodiscard]] bool read_long_count(const std::byte* frame, std::uint32_t& count);
  [[nodiscard]] bool deliver(Event& event);
  [[nodiscard]] bool deliver_control(Event& event);
  [[nodiscard]] bool take_hello(Event& event);
  [[nodiscard]] bool take_text(Event& event, EventType type);
  [[nodiscard]] bool take_bound(Event& event);
  [[nodiscard]] bool take_credit(Event& event);
  void take_metadata(Event& event) const;
  [[nodiscard]] bool answer_ping(std::span<const std::byte> payload);
  bool broke(std::string reason, Code code = Code::protocol_error);  // always false
  /// The same with the reason that `reason()` makes, out of the way of frames that are good.
  template <class Reason>
  [[gnu::cold, gnu::noinline]] bool broke_with(const Reason& reason) {
    return broke(reason());
  }

  [[nodiscard]] bool may_send(FrameType type) {
    if (closed()) return false;
    const State next = after(role_, ours_, type);
    if (next == State::forbidden) [[unlikely]]
      refuse_to_send(type);
    ours_ = next;
    return true;
  }
  [[noreturn]] void refuse_to_send(FrameType type) const;
  void check_peer_takes(std::size_t payload_size, Execution execution) const {
    // A frame's size has 32 bits, whatever limit the peer announces.
    constexpr std::size_t kMostPossible = UINT32_MAX - kHeaderSize - kExtensionSize - 8;
    if (payload_size > (std::min)(peer_max_payload(), kMostPossible)) [[unlikely]]
      refuse_size(payload_size, execution);
  }
  [[noreturn]] void refuse_size(std::size_t payload_size, Execution execution) const;
  [[nodiscard]] std::byte* append_frame(Header header, std::uint32_t count, std::size_t payload_size);
  void send_frame(const Header& header, std::uint32_t count, const Outbound& payload);
  void copy_frame(const Header& header, std::uint32_t count, std::span<const std::byte> payload);
  void move_frame(Header header, std::uint32_t count, Buffer&& payload);
  void share_frame(Header header, std::uint32_t count, Gathered&& payload);
  void pass_frame(Header header, std::uint32_t count, std::shared_ptr<const Coming>&& payload);
  /// The frame without its payload, in the output.
  void begin_frame(Header header, std::uint32_t count, std::size_t payload_size);
  void pad_frame(std::size_t payload_size, std::uint32_t count);
  void send_text(const Header& header, std::string_view text);
  [[nodiscard]] Header request_header(const RequestHead& head, std::uint32_t& id);

  Role role_;
  State ours_ = State::fresh;
  State theirs_ = State::fresh;
  bool broken_untold_ = false;
  std::uint16_t version_ = 0;
  std::uint32_t last_id_ = 0;  // at a server: the latest received one
  SessionOptions options_;
  Input input_;
  Output output_;
  Hello peer_;
  Code broken_code_ = Code::ok;
  std::string broken_reason_;
  Header dedicated_header_;
  std::uint32_t dedicated_count_ = 0;
  // Positions in the output stream: they tell how many PONGs wait without marking each.
  std::uint64_t written_ = 0;
  std::uint64_t pongs_since_ = 0;  // position after the first PONG that is counted in pongs_
  std::size_t pongs_ = 0;
};

}  // namespace mf::protocol
