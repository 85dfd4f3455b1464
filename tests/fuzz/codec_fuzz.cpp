// Any bytes as a value of any shape, in either tier. Must hold: no crash, no leak, memory within the budget;
// what is accepted encodes to as many bytes, which decode to the same again. Input: byte 0 picks the type;
// the rest are bytes. The shapes are containers, scalars and the struct of tests/cpp/codec/sample.hpp, which
// needs no generator.

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "codec/sample.hpp"
#include "mf/codec/tiered.hpp"

namespace {

using mf::Tier;

void require(bool holds) {
  if (!holds) std::abort();
}

template <Tier kTier, class T>
void feed(std::span<const std::byte> bytes) {
  mf::codec::Limits limits;
  limits.decoded_bytes = std::size_t{1} << 20U;
  T value{};
  mf::codec::DecodeError error;
  if (!mf::codec::from_bytes<kTier>(bytes, value, error, limits)) {
    require(!error.reason.empty() && error.offset <= bytes.size());
    return;
  }
  const mf::Bytes once = mf::codec::to_bytes<kTier>(value);
  require(once.size() == bytes.size());
  T again{};
  require(mf::codec::from_bytes<kTier>(std::span(once), again, error, limits));
  require(mf::codec::to_bytes<kTier>(again) == once);
}

using Feed = void (*)(std::span<const std::byte>);

constexpr Feed kShapes[] = {
    feed<Tier::febird, std::uint64_t>,
    feed<Tier::febird, std::int16_t>,
    feed<Tier::febird, std::string>,
    feed<Tier::febird, mf::Bytes>,
    feed<Tier::febird, std::optional<std::vector<mf::Bool>>>,
    feed<Tier::febird, std::vector<double>>,
    feed<Tier::febird, std::vector<std::vector<std::int32_t>>>,
    feed<Tier::febird, std::set<std::string>>,
    feed<Tier::febird, std::map<std::string, std::vector<sample::Rank>>>,
    feed<Tier::febird, std::map<sample::Lang, std::optional<mf::Uuid>>>,
    feed<Tier::febird, std::vector<sample::Hit>>,
    feed<Tier::febird, std::vector<sample::Posting>>,
    feed<Tier::febird, std::vector<sample::Nothing>>,
    feed<Tier::febird, sample::Tree>,
    feed<Tier::memcpy, sample::Posting>,
    feed<Tier::memcpy, sample::Duplicate>,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  kShapes[data[0] % std::size(kShapes)](bytes.subspan(1));
  return 0;
}
