#include "mf/core/random.hpp"

#include <algorithm>
#include <boost/uuid/random_generator.hpp>
#include <random>

namespace mf {

std::uint64_t random_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32U | random();
}

Uuid random_uuid() {
  const auto drawn = boost::uuids::random_generator()();
  Uuid uuid;
  std::ranges::copy(drawn, uuid.bytes.begin());
  return uuid;
}

}  // namespace mf
