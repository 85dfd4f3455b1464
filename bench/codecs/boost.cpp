// boost.serialization 1.81 as the report used it: a binary archive in memory, without its header.
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>

#include "fields.hpp"
#include "memory_stream.hpp"
#include "systems.hpp"
#include "works.hpp"

namespace boost::serialization {

template <class Archive, payload::Described T>
void serialize(Archive& archive, T& value, unsigned /*version*/) {
  each_field(value, [&](const char* /*name*/, auto& field) { archive & field; });
}

// Boost 1.81 supports only its own optional.
template <class Archive, bench_codecs::OptionalLike T>
void serialize(Archive& archive, T& value, unsigned /*version*/) {
  bool present = value.has_value();
  archive & present;
  if constexpr (Archive::is_loading::value) {
    if (!present) return value.reset();
    if (!value) value.emplace();
  }
  if (present) archive&* value;
}

}  // namespace boost::serialization

namespace bench_codecs {
namespace {

constexpr unsigned kFlags = boost::archive::no_header;

template <class T>
struct Boost {
  using Value = T;
  static void make(const T& value, T& made) { made = value; }
  static bool same(const T& back, const T& value) { return back == value; }

  std::span<const std::byte> write(const T& value) {
    stream.restart();
    boost::archive::binary_oarchive(stream, kFlags) << value;
    return stream.written();
  }
  static bool read(std::span<const std::byte> bytes, T& value) {
    InputMemory stream(bytes);
    boost::archive::binary_iarchive(stream, kFlags) >> value;
    return true;
  }

  OutputMemory stream;
};

}  // namespace

void register_boost(Entries& entries) {
  add_works<Boost>(entries, "boost");
}

}  // namespace bench_codecs
