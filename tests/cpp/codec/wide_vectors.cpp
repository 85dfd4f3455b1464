#include "wide_vectors.hpp"

#include <boost/json.hpp>
#include <fstream>
#include <sstream>
#include <utility>

namespace mf::codec {

namespace json = boost::json;

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

}  // namespace mf::codec
