#include "mf/monitor/tally.hpp"

#include <vector>

namespace mf::monitor {

void expose_calls(const Tallies& tallies, const CallFamilies& names, Exposition& out) {
  out.family(names.calls, Kind::counter, names.calls_help);
  tallies.each([&](const std::string& service, const std::string& method, const Tally& tally) {
    for (std::size_t i = 0; i < Tally::kCodes; ++i) {
      const auto code = static_cast<Code>(i);
      if (const auto calls = tally.calls(code); calls != 0)
        out.sample({{"service", service}, {"method", method}, {"code", name(code)}},
                   static_cast<double>(calls));
    }
  });
  out.family(names.duration, Kind::histogram, names.duration_help);
  tallies.each([&](const std::string& service, const std::string& method, const Tally& tally) {
    std::vector<Exposition::Bucket> buckets;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < Tally::kBuckets; ++i) {
      count += tally.took(i);
      buckets.push_back({.bound = Tally::bound(i), .count = count});
    }
    count += tally.took(Tally::kBuckets);
    if (count != 0) out.sample({{"service", service}, {"method", method}}, buckets, count, tally.seconds());
  });
}

}  // namespace mf::monitor
