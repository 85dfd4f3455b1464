#include "wide_subjects.hpp"

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "bytes.hpp"
#include "mf/codec/json.hpp"
#include "vectors/wide.codec.hpp"
#include "vectors/wide.json.hpp"

namespace mf::codec {
namespace {

namespace json = boost::json;

template <class T>
Subject subject() {
  return {
      [](std::string_view text) -> Result<Bytes> {
        const auto value = mf::from_json<T>(text);
        if (!value) {
          return value.error();
        }
        Bytes bytes = mf::to_bytes(*value);
        if constexpr (kTierOf<T> == Tier::febird) {
          EXPECT_EQ(bytes_in_room<Tier::febird>(*value), bytes);
        }
        return bytes;
      },
      [](std::span<const std::byte> bytes) -> Result<std::string> {
        const auto value = mf::from_bytes<T>(bytes);
        if (!value) {
          return value.error();
        }
        return mf::to_json(*value);
      },
      [](std::span<const std::byte> bytes) -> Result<Bytes> {
        const auto value = mf::from_bytes<T>(bytes);
        if (!value) {
          return value.error();
        }
        return mf::to_bytes(*value);
      },
  };
}

}  // namespace

std::vector<Vector> load(const std::string& file) {
  std::ifstream stream(MF_SOURCE_DIR "/tests/vectors/wide/" + file + ".json");
  std::stringstream text;
  text << stream.rdbuf();
  std::vector<Vector> vectors;
  const json::value all = json::parse(text.str());
  for (const json::value& each : all.as_array()) {
    Vector vector;
    for (const auto& [key, value] : each.as_object()) {
      vector[std::string(key)] =
          value.is_string() ? std::string(value.as_string()) : std::to_string(value.as_int64());
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

const Subject& subject_of(const std::string& type) {
  static const std::map<std::string, Subject> kAll = {
#define MF_WIDE(type) {"vectors.wide." #type, subject<::vectors::wide::type>()},
#define MF_WIDE_GRAPH(type) {"vectors.wide." #type, subject<Graph<::vectors::wide::type>>()},
#include "wide_types.inc"
#undef MF_WIDE
#undef MF_WIDE_GRAPH
  };
  return kAll.at(type);
}

}  // namespace mf::codec
