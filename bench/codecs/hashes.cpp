// Hashes of bytes: the report's, our 64-bit one, and the standard library's. `raw` copies the bytes.
#include <cstring>
#include <string_view>

#include "mf/codec/hash.hpp"
#include "systems.hpp"
#include "values.hpp"

namespace bench_codecs {
namespace {

template <auto kHash>
class Hash final : public Codec {
 public:
  explicit Hash(std::size_t size) {
    const auto numbers = ints(size / 4).values;
    const auto bytes = std::as_bytes(std::span(numbers));
    bytes_.assign(bytes.begin(), bytes.end());
  }

  [[nodiscard]] std::size_t bytes() const override { return bytes_.size(); }
  [[nodiscard]] const char* mistake() override { return nullptr; }
  [[nodiscard]] bool does(Step step) const override { return step == Step::serialize; }
  void run(Step /*step*/, std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      keep(bytes_);
      keep(kHash(std::span<const std::byte>(bytes_)));
    }
  }

 private:
  std::vector<std::byte> bytes_;
};

std::size_t standard(std::span<const std::byte> bytes) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::byte copy(std::span<const std::byte> bytes) {
  static Memory memory;
  auto* to = memory.at_least(bytes.size());
  std::memcpy(to, bytes.data(), bytes.size());
  keep(*to);
  return *to;
}

template <auto kHash>
void add(Entries& entries, const std::string& system) {
  for (const std::size_t size : {std::size_t{16}, std::size_t{256}, std::size_t{1} << 20U}) {
    entries.push_back(
        {"hash_" + std::to_string(size), system, [size] { return std::make_unique<Hash<kHash>>(size); }});
  }
}

}  // namespace

void register_hashes(Entries& entries) {
  add<copy>(entries, "raw");
  add<mf::codec::hash_bytes>(entries, "mf/hash37");
  add<[](std::span<const std::byte> bytes) { return mf::codec::xxh64(bytes); }>(entries, "mf/xxh64");
  add<standard>(entries, "std");
}

}  // namespace bench_codecs
