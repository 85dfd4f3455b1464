// cereal 1.3: its binary archive over memory.
#include <cereal/archives/binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <istream>
#include <ostream>

#include "fields.hpp"
#include "memory_stream.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace cereal {

template <class Archive, payload::Described T>
void serialize(Archive& archive, T& value) {
  each_field(value, [&](const char* /*name*/, auto& field) { archive(field); });
}

template <class Archive, bench_codecs::OptionalLike T>
void serialize(Archive& archive, T& value) {
  bool present = value.has_value();
  archive(present);
  if constexpr (Archive::is_loading::value) {
    if (!present) return value.reset();
    if (!value) value.emplace();
  }
  if (present) archive(*value);
}

}  // namespace cereal

namespace bench_codecs {
namespace {

template <class T>
struct Cereal {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    memory.restart();
    cereal::BinaryOutputArchive archive(stream);
    archive(value);
    return memory.written();
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    InputMemory memory(bytes);
    std::istream stream(&memory);
    cereal::BinaryInputArchive archive(stream);
    archive(value);
    return true;
  }

  OutputMemory memory;
  std::ostream stream{&memory};
};

}  // namespace

void register_cereal(Entries& entries) {
  add_works<Cereal>(entries, "cereal");
}

}  // namespace bench_codecs
