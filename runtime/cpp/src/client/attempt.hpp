// Which connection a call takes, and from how its request ended there to what the machine of the call is
// told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mf/core/clock.hpp"
#include "mf/link/balancing.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/reply.hpp"
#include "mf/protocol/call.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::client {

/// `call` is being sent, and this is how that attempt ended. Where the call ends, `reply` is what it ends
/// with.
[[nodiscard]] protocol::CallStep settle(protocol::Call& call, link::Reply& reply);

/// Connections that one target opens to instances of one service; more would only be idle.
inline constexpr std::size_t kMostRoutes = 8;

/// One of several connections that a call may take.
struct Candidate {
  std::shared_ptr<link::ClientLink> link;
  std::uint32_t weight = 1;   // how many times more calls than others it can take
  TimePoint refuses_until{};  // as overloaded: then others are asked, if there are any
};
/// The place of the one that gets the next call, of at most kMostRoutes. Those that refuse only if all do,
/// and then `some_refuse` stays true. Those of whom nothing is heard are pinged, later, as that takes the
/// locks of their links.
[[nodiscard]] std::size_t choose(std::span<const Candidate* const> candidates, TimePoint now,
                                 transport::Reactor& reactor, bool& some_refuse);
/// How a request of so many items that was sent then has ended on a connection that was chosen.
void learn(link::ClientLink& link, link::Usual& usual, std::uint32_t items, const link::Reply& reply,
           TimePoint sent);
/// For spreading what many do at once.
[[nodiscard]] std::uint32_t random_number();

}  // namespace mf::client
