// The values that the programs of bench-report send: as large as those of the systems they stand for.
#pragma once

#include <string>

#include "report.hpp"

namespace bench_report {

/// About 60 KB on the wire.
[[nodiscard]] inline report::Document document(std::uint64_t id) {
  report::Document made{.id = id, .title = "document " + std::to_string(id), .terms = {}, .positions = {}};
  for (std::uint32_t i = 0; i < 2'500; ++i) {
    made.terms["term-" + std::to_string(i * 7919 % 100'003)] = i;
    if (i % 5 == 0) made.positions[i] = {i, i + 3, i + 17, i + 129, i + 1'021};
  }
  return made;
}

[[nodiscard]] inline report::Subject subject() {
  return {.user = 1'001,
          .groups = {1'001, 5'000, 5'012},
          .host = "worker-0042.example.org",
          .roles = {"analysis", "production"}};
}

[[nodiscard]] inline report::Attributes attributes(const std::string& path) {
  return {.id = "0000F4C3A1B2" + std::to_string(path.size()),
          .size = 4'294'967'296,
          .owner = 1'001,
          .group = 5'000,
          .mode = 0644,
          .created = mf::Timestamp(std::chrono::hours(440'000)),
          .changed = mf::Timestamp(std::chrono::hours(440'001)),
          .storage_class = "atlas:datadisk@osm",
          .checksums = {{"adler32", "03da0195"}, {"md5", "0cc175b9c0f1b6a831c399e269772661"}},
          .locations = {"pool-017", "pool-203", "pool-311"}};
}

[[nodiscard]] inline report::Selection selection() {
  return {.pool = "pool-203", .assumption = 77, .tried = {"pool-017"}};
}

[[nodiscard]] inline report::Mover mover() {
  return {.id = 90'210, .address = "10.1.2.3", .port = 24'203, .queue = "regular"};
}

[[nodiscard]] inline report::Heartbeat heartbeat(std::uint64_t serial) {
  report::Heartbeat made{
      .pool = "pool-203",
      .serial = serial,
      .total = 1ULL << 47U,
      .free = 1ULL << 44U,
      .precious = 1ULL << 30U,
      .removable = 1ULL << 45U,
      .tags = {{"hostname", "dcache-pool-203.example.org"}, {"rack", "B17"}, {"zone", "blue"}},
      .costs = {}};
  for (const char* queue : {"regular", "wan", "p2p", "p2p-client", "store", "restore"})
    made.costs.push_back({.queue = queue, .active = 17, .most = 100, .waiting = 2});
  return made;
}

}  // namespace bench_report
