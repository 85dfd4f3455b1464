#include "feed.hpp"
#include "targets.hpp"
#include "vectors/wide.json.hpp"

namespace fuzz {
namespace {

using namespace vectors::wide;

#define MF_MEMCPY(type) feed_text<type>,
#define MF_FEBIRD(type) feed_text<type>,
#define MF_ARCHIVE(type) feed_text<type>,
#define MF_GRAPH(type) feed_text<mf::Graph<type>>,
constexpr Feed kFeeds[] = {
#include "types.inc"
};

}  // namespace

bool json_text(std::span<const std::byte> input) {
  return pick(kFeeds, input);
}

}  // namespace fuzz
