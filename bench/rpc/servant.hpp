// What the servants of the benches do: next to nothing, so that calls are measured and not handlers.
#pragma once

#include "bench.server.hpp"
#include "commands.hpp"

namespace bench_rpc {

class Servant final : public bench::BenchServant {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
  std::int32_t look_up(std::int32_t id, const std::string& name) override {
    return looked_up(id, name.size());
  }
  mf::Bytes echo(const mf::Bytes& data) override { return data; }
};

/// Above the default of 16 MiB, which an echo of 16 MiB exceeds by its length field.
inline constexpr std::uint32_t kMaxPayload = 1U << 25;

}  // namespace bench_rpc
