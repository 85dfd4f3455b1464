// Any bytes, cut anywhere, into a session of either role. Must hold: no crash, no leak, one end at most and
// nothing after it, no payload that was not received, and memory in proportion to the input. Input: byte 0:
// role (bit 0), HELLO first (bit 1); byte 1: size of the reads; the rest is the stream.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "mf/codec/described/schema.hpp"
#include "mf/evolution/plan.hpp"
#include "mf/protocol/metadata.hpp"
#include "mf/protocol/session.hpp"

using namespace mf::protocol;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

SessionOptions options() {
  SessionOptions options;
  options.limits.max_payload = 1U << 20;
  return options;
}

std::size_t give(Session& session, std::span<const std::byte> bytes, std::size_t step) {
  Event event;
  std::size_t payloads = 0;
  bool ended = false;
  while (!bytes.empty() && !session.closed()) {
    const std::span<std::byte> window = session.receive_window();
    require(!window.empty());
    const std::size_t n = std::min({window.size(), bytes.size(), step});
    std::memcpy(window.data(), bytes.data(), n);
    session.commit(n);
    bytes = bytes.subspan(n);
    while (session.next(event)) {
      require(!ended);
      ended = event.type == EventType::broken || event.type == EventType::refused;
      payloads += event.payload.size() + event.metadata.size();
      (void)read_metadata(event.metadata);
    }
  }
  return payloads;
}

/// What two descriptors make of each other, if they are any.
void plan(std::string_view here, std::string_view there) {
  using mf::described::Schema;
  auto ours = Schema::read(here);
  auto theirs = Schema::read(there);
  if (!ours.ok() || !theirs.ok()) return;
  const auto shared = [](Schema& schema) { return std::make_shared<const Schema>(std::move(schema)); };
  (void)mf::evolution::make_plan(shared(*ours), shared(*theirs));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Role role = (data[0] & 1) != 0 ? Role::client : Role::server;
  Session session(role, options());
  session.send_hello();
  session.consumed(session.output_bytes());
  if ((data[0] & 2) != 0) {
    Session peer(other(role), options());
    peer.send_hello();
    mf::IoSlice slice;
    require(peer.fill_output({&slice, 1}) == 1);
    give(session, {slice.data, slice.size}, slice.size);
  }
  const auto stream = std::as_bytes(std::span(data + 2, size - 2));
  require(give(session, stream, std::size_t{data[1]} + 1) <= stream.size());

  const std::string_view text(reinterpret_cast<const char*>(stream.data()), stream.size());
  const std::size_t half = text.size() / 2;
  plan(text.substr(0, half), text.substr(half));
  return 0;
}
