// What the servants of the benches do: next to nothing, so that calls are measured and not handlers.
#pragma once

#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <vector>

#include "bench.server.hpp"
#include "commands.hpp"
#include "mf/core/current_call.hpp"

namespace bench_rpc {

class Servant final : public bench::BenchServant {
 public:
  std::int32_t next(std::int32_t x) override { return x + 1; }
  std::int32_t look_up(std::int32_t id, const std::string& name) override {
    return looked_up(id, name.size());
  }
  std::vector<std::int32_t> look_up_all(const std::vector<bench::Item>& items) override {
    std::vector<std::int32_t> found;
    found.reserve(items.size());
    for (const auto& item : items) found.push_back(looked_up(item.id, item.name.size()));
    return found;
  }
  std::int32_t known(std::int32_t id, const std::string& name) override { return looked_up(id, name.size()); }
  mf::Bytes echo(const mf::Bytes& data) override { return data; }
  std::vector<double> echo_list(const std::vector<double>& values) override { return values; }
  bench::Samples echo_view(const bench::Samples& values) override { return values; }
  void scan(std::uint32_t count, mf::StreamWriter<mf::Bytes>& out) override {
    const mf::Bytes value(kValueSize, std::byte{7});
    for (std::uint32_t i = 0; i < count; ++i) out.write(value);
  }
  std::uint32_t load(mf::StreamReader<mf::Bytes>& values) override {
    std::uint32_t count = 0;
    for (const auto& value : values) count += value.size() == kValueSize ? 1 : 0;
    return count;
  }
  void linger(mf::StreamWriter<bool>& out) override {
    const auto token = mf::current_call().stop_token();
    out.write(true);
    out.flush();
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    changed.wait(lock, token, [] { return false; });
    noticed_at_ = now_ns();
    noticed_.release();
  }
  /// The handler has a thread of its own and depends on nothing else, so this waits only briefly.
  std::int64_t noticed() override {
    noticed_.acquire();
    return noticed_at_;
  }

 private:
  std::int64_t noticed_at_ = 0;
  std::counting_semaphore<> noticed_{0};
};

/// Above the default of 16 MiB, which an echo of 16 MiB exceeds by its length field.
inline constexpr std::uint32_t kMaxPayload = 1U << 25;

}  // namespace bench_rpc
