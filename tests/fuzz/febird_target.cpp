#include "feed.hpp"
#include "targets.hpp"
#include "vectors/wide.codec.hpp"

namespace fuzz {
namespace {

using namespace vectors::wide;

#define MF_MEMCPY(type)
#define MF_FEBIRD(type) feed_bytes<type>,
#define MF_ARCHIVE(type)
#define MF_GRAPH(type)
constexpr Feed kFeeds[] = {
#include "types.inc"
};

}  // namespace

bool febird_bytes(std::span<const std::byte> input) {
  return pick(kFeeds, input);
}

}  // namespace fuzz
