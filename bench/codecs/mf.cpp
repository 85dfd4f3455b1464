// mf itself: tiers febird and memcpy. The latter carries only values that are one row of fixed size: a batch
// of them is the row.
#include "mf.hpp"

#include "mf/codec/tiered.hpp"
#include "payload.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace bench_codecs {
namespace {

using mf::Tier;

template <class T>
struct Febird : Ours<T> {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }
};

template <class T>
concept Row =
    requires(T value) { requires mf::codec::MemoryImage<std::decay_t<decltype(value.values.front())>>; };

template <class T>
struct Memcpy {};

template <Row T>
struct Memcpy<T> {
  using Value = T;
  using Element = std::decay_t<decltype(std::declval<T>().values.front())>;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    const std::span<const Element> row(value.values);
    const auto size = mf::codec::encoded_batch_size<Tier::memcpy>(row.data(), row.size());
    auto* to = memory.at_least(size);
    mf::codec::Writer writer(to);
    mf::codec::encode_batch<Tier::memcpy>(writer, row.data(), row.size());
    return {to, size};
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    mf::codec::Reader reader(bytes);
    return mf::codec::decode_batch<Tier::memcpy>(reader, bytes.size() / sizeof(Element), value.values) &&
           reader.finish();
  }

  Memory memory;
};

}  // namespace

void register_mf(Entries& entries) {
  add_works<Febird>(entries, "mf/febird");
  add_works<Memcpy>(entries, "mf/memcpy");
}

}  // namespace bench_codecs
