// What subscribers, publishers and relays send each other (runtime/idl/mf/topics.mfidl): a subscription, with
// its path through relays (way 0), and what comes of it, on the trunk of a relay, too (way 1).

#include "mf/topics.hpp"

#include "in_cpp/input.hpp"
#include "targets.hpp"

namespace fuzz {

bool topics(std::span<const std::byte> input) {
  return way_of(input) % 2 == 0 ? is_value<mf::topics::Subscription>(rest_of(input))
                                : is_value<mf::topics::Delivery>(rest_of(input));
}

}  // namespace fuzz
