#include "mf/route/choice.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace mf::route {

std::uint32_t random_number() {
  thread_local std::minstd_rand generator(std::random_device{}());
  return static_cast<std::uint32_t>(generator());
}

std::size_t choose(std::span<const Candidate* const> candidates, TimePoint now, transport::Reactor& reactor,
                   bool& some_refuse) {
  std::array<link::Look, kMostRoutes> looks;
  const auto count = std::min(candidates.size(), kMostRoutes);
  bool refuse = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& link = candidates[i]->link;
    looks.at(i) = link->look(now, candidates[i]->weight);
    if (!looks.at(i).alive && !link->pinged()) [[unlikely]]
      reactor.post([link] { link->ping(); });
    if (some_refuse && candidates[i]->refuses_until > now) [[unlikely]] {
      looks.at(i).trusted = looks.at(i).probe = false;
      refuse = true;
    }
  }
  some_refuse = refuse;
  const auto random = [](std::uint32_t below) { return random_number() % below; };
  const auto taken = link::choose(std::span(looks).first(count), random);
  if (looks.at(taken).probe) [[unlikely]] {
    candidates[taken]->link->learn(
        [&](link::Standing& standing) { standing.probed(now, random(1'000) / 1'000.0); });
  }
  return taken;
}

void learn(link::ClientLink& link, link::Usual& usual, std::uint32_t items, const link::Reply& reply,
           TimePoint sent) {
  const auto now = mf::now();
  link.learn([&](link::Standing& standing) {
    if (reply.how == link::Ended::expired || reply.status == Code::deadline_exceeded) {
      standing.missed(now);
    } else if (reply.how != link::Ended::replied) {
      return;  // it says nothing about the instance, or the connection has ended
    } else if (reply.status == Code::unavailable) {
      standing.failed(now);
    } else if (reply.status == Code::overloaded) {
      return;  // then other instances are preferred for a while
    } else if (items != 1) {
      standing.replied(now - sent, {}, sent, now);
    } else {
      standing.replied(now - sent, usual.get(), sent, now);
      usual.add(now - sent);
    }
  });
}

}  // namespace mf::route
