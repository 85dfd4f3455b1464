// FlatBuffers 2.0 by its object API, the one that has values: Pack into a builder, verify and UnPack. (Its
// users may also read from the buffer without unpacking.)
#include "convert.hpp"
#include "systems.hpp"
#include "values_generated.h"
#include "works.hpp"

namespace bench_codecs {
namespace {

namespace fb = payload::fb;

template <class T>
struct TableOf;

#define TABLE(Type)               \
  template <>                     \
  struct TableOf<payload::Type> { \
    using Table = fb::Type;       \
  };
PAYLOAD_WHOLE_TYPES(TABLE)
#undef TABLE

template <class T>
struct FlatBuffers {
  using Table = typename TableOf<T>::Table;
  using Value = typename Table::NativeTableType;
  static void make(const T& value, Value& made) { convert(value, made); }
  static bool same(const Value& back, const T& value) {
    T plain{};
    convert(back, plain);
    return plain == value;
  }

  std::span<const std::byte> write(const Value& value) {
    builder.Clear();
    builder.Finish(Table::Pack(builder, &value));
    return std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  }
  static bool read(std::span<const std::byte> bytes, Value& value) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    flatbuffers::Verifier verifier(data, bytes.size(), 64, 10'000'000);
    if (!verifier.VerifyBuffer<Table>(nullptr)) return false;
    flatbuffers::GetRoot<Table>(data)->UnPackTo(&value);
    return true;
  }

  flatbuffers::FlatBufferBuilder builder;
};

}  // namespace

void register_flatbuffers(Entries& entries) {
  add_works<FlatBuffers>(entries, "flatbuffers");
}

}  // namespace bench_codecs
