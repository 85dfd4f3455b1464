#pragma once
// The files of tests/vectors/values, and values of the schema that this binary has: MF_STORED_SCHEMA, old or
// new.

#include <boost/json.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "mf/codec/json.hpp"
#include "mf/values/reader.hpp"
#include "mf/values/writer.hpp"
#include "stored.hpp"

namespace mf::values {

namespace json = boost::json;

inline json::value vectors() {
  std::stringstream text;
  text << std::ifstream(std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/values/values.json").rdbuf();
  return json::parse(text.str());
}

inline std::string text_at(const json::value& of, std::string_view key) {
  return std::string(of.at(key).as_string());
}

inline std::vector<std::byte> bytes_at(const json::value& of, std::string_view key) {
  const auto digits = text_at(of, key);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// Calls with the C++ type of "stored.Point": `use.template operator()<T>()`.
template <class Use>
void with_type(std::string_view name, const Use& use) {
  if (name == "stored.Rank") return use.template operator()<stored::Rank>();
  if (name == "stored.Marks") return use.template operator()<stored::Marks>();
  if (name == "stored.Point") return use.template operator()<stored::Point>();
  if (name == "stored.Hit") return use.template operator()<stored::Hit>();
  if (name == "stored.Node") return use.template operator()<Graph<stored::Node>>();
  if (name == "stored.Shape") return use.template operator()<stored::Shape>();
  if (name == "stored.Missing") return use.template operator()<stored::Missing>();
  if (name == "stored.Torn") return use.template operator()<stored::Torn>();
  throw std::runtime_error("no type " + std::string(name));
}

inline std::string told(const Failure& failure) {
  return std::string(name(failure.code)) + ": " + failure.message;
}
inline std::string told(const Error& error) {
  return error.what();  // which says nothing of a call
}

/// A folder that goes with the test.
class Folder {
 public:
  Folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "mf-values-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for a test");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::vector<std::byte> contents(const std::filesystem::path& path) {
  std::stringstream read;
  read << std::ifstream(path, std::ios::binary).rdbuf();
  const auto text = read.str();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace mf::values
