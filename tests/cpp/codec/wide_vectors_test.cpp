// tests/vectors/wide: what numpy, protobuf and mfidl/dynamic made of every type of the language, and bytes
// that must be refused. The Python tests read the same files.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "mf/codec/json.hpp"
#include "mf/codec/value.hpp"
#include "vectors/wide.codec.hpp"
#include "vectors/wide.json.hpp"

namespace mf::codec {
namespace {

namespace json = boost::json;
using Vector = std::map<std::string, std::string>;

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

/// What is done with one type.
struct Subject {
  std::function<Result<Bytes>(std::string_view text)> write;
  std::function<Result<std::string>(std::span<const std::byte> bytes)> read;
};

template <class T>
Subject subject() {
  return {
      [](std::string_view text) -> Result<Bytes> {
        const auto value = mf::from_json<T>(text);
        if (!value) {
          return value.error();
        }
        return mf::to_bytes(*value);
      },
      [](std::span<const std::byte> bytes) -> Result<std::string> {
        const auto value = mf::from_bytes<T>(bytes);
        if (!value) {
          return value.error();
        }
        return mf::to_json(*value);
      },
  };
}

const Subject& subject_of(const Vector& vector) {
  static const std::map<std::string, Subject> kAll = {
#define MF_WIDE(type) {"vectors.wide." #type, subject<::vectors::wide::type>()},
#define MF_WIDE_GRAPH(type) {"vectors.wide." #type, subject<Graph<::vectors::wide::type>>()},
#include "wide_types.inc"
#undef MF_WIDE
#undef MF_WIDE_GRAPH
  };
  return kAll.at(vector.at("type"));
}

class WideVectors : public testing::TestWithParam<const char*> {};

TEST_P(WideVectors, HaveTheBytesThatOthersGaveThem) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const auto bytes = subject_of(vector).write(vector.at("json"));
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(to_hex(*bytes), to_hex(from_hex(vector.at("hex"))));
  }
}

TEST_P(WideVectors, HaveTheValuesThatOthersTookThemFrom) {
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const auto text = subject_of(vector).read(from_hex(vector.at("hex")));
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, vector.at("json"));
  }
}

/// Of archive messages a beginning may be a message; of memcpy and febird it never is.
TEST_P(WideVectors, AreRefusedWhenTheyAreCutOff) {
  const bool messages = std::string_view(GetParam()) == "archive" || std::string_view(GetParam()) == "graphs";
  for (const Vector& vector : load(GetParam())) {
    SCOPED_TRACE(vector.at("name"));
    const Bytes bytes = from_hex(vector.at("hex"));
    const std::size_t step = 1 + bytes.size() / 64;  // `make fuzz` tries all of them
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      const auto text = subject_of(vector).read(std::span(bytes).first(size));
      EXPECT_TRUE(messages || !text) << "of " << size << " bytes";
      EXPECT_TRUE(text || text.error().offset <= size);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, WideVectors, testing::Values("memcpy", "archive", "graphs", "febird"),
                         [](const auto& each) { return each.param; });

TEST(HostileVectors, AreRefusedWithFaultOffsetAndPath) {
  const auto vectors = load("hostile");
  ASSERT_GE(vectors.size(), 100U);
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.at("type") + ": " + vector.at("name"));
    const auto text = subject_of(vector).read(from_hex(vector.at("hex")));
    if (text) {
      ADD_FAILURE() << *text;
      continue;
    }
    EXPECT_EQ(to_string(text.error().fault), vector.at("fault"));
    EXPECT_EQ(std::to_string(text.error().offset), vector.at("offset"));
    EXPECT_EQ(text.error().path, vector.at("path"));
  }
}

}  // namespace
}  // namespace mf::codec
