// Chooses among the connections that a call may take, and records what became of it there, by the rules of
// link/balancing.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mf/core/clock.hpp"
#include "mf/link/balancing.hpp"
#include "mf/link/client_link.hpp"
#include "mf/link/reply.hpp"
#include "mf/route/finder.hpp"
#include "mf/transport/reactor.hpp"

namespace mf::route {

/// One of several connections that a call may take.
struct Candidate {
  std::shared_ptr<link::ClientLink> link;
  std::uint32_t weight = 1;   // its capacity relative to others
  TimePoint refuses_until{};  // because of overload: others are preferred until then
};
/// The index of the candidate for the next call, of at most kMostRoutes. Candidates that refuse are taken
/// only if all do, and then `some_refuse` stays true. Silent candidates are pinged later, as that takes the
/// locks of their links.
[[nodiscard]] std::size_t choose(std::span<const Candidate* const> candidates, TimePoint now,
                                 transport::Reactor& reactor, bool& some_refuse);
/// Records the end of a request with `items` items that was sent at `sent` on a chosen connection.
void learn(link::ClientLink& link, link::Usual& usual, std::uint32_t items, const link::Reply& reply,
           TimePoint sent);
/// To spread actions of many clients over time.
[[nodiscard]] std::uint32_t random_number();

}  // namespace mf::route
