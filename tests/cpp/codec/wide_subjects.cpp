#include "wide_subjects.hpp"

#include <map>

#include "mf/codec/json.hpp"
#include "room.hpp"
#include "vectors/wide.codec.hpp"
#include "vectors/wide.json.hpp"

namespace mf::codec {
namespace {

template <class T>
Result<Bytes> bytes_of(const Result<T>& value) {
  if (!value) {
    return value.error();
  }
  return mf::to_bytes(*value);
}

template <class T>
Result<std::string> text_of(const Result<T>& value) {
  if (!value) {
    return value.error();
  }
  return mf::to_json(*value);
}

using Read = std::span<const std::byte>;

template <class T>
Subject subject(std::string_view name) {
  Subject subject{
      .name = name,
      .tier = kTierOf<T>,
      .write = [](std::string_view text) { return bytes_of(mf::from_json<T>(text)); },
      .write_into_room = nullptr,
      .read = [](Read bytes) { return text_of(mf::from_bytes<T>(bytes)); },
      .rewrite = [](Read bytes, const Limits& limits) { return bytes_of(mf::from_bytes<T>(bytes, limits)); },
      .rewrite_text = [](std::string_view text,
                         const Limits& limits) { return text_of(mf::from_json<T>(text, limits)); },
  };
  if constexpr (kTierOf<T> == Tier::febird) {
    subject.write_into_room = [](std::string_view text) {
      return bytes_in_room<Tier::febird>(*mf::from_json<T>(text));
    };
  }
  return subject;
}

}  // namespace

const std::vector<Subject>& subjects() {
  namespace wide = ::vectors::wide;
#define MF_memcpy(type) wide::type
#define MF_febird(type) wide::type
#define MF_archive(type) wide::type
#define MF_graph(type) Graph<wide::type>
#define MF_WIDE(kind, type) subject<MF_##kind(type)>("vectors.wide." #type),
  static const std::vector<Subject> kAll = {
#include "wide_types.inc"
  };
#undef MF_WIDE
#undef MF_memcpy
#undef MF_febird
#undef MF_archive
#undef MF_graph
  return kAll;
}

const Subject& subject_of(std::string_view type) {
  static const std::map<std::string_view, const Subject*> kByName = [] {
    std::map<std::string_view, const Subject*> by_name;
    for (const Subject& each : subjects()) {
      by_name.emplace(each.name, &each);
    }
    return by_name;
  }();
  return *kByName.at(type);
}

}  // namespace mf::codec
