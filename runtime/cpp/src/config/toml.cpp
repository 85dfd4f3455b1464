// Reads TOML; the only file that uses toml++.

#define TOML_HEADER_ONLY 1
#include <sys/stat.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "mf/config/value.hpp"
#include "mf/core/error.hpp"

namespace mf::config {
namespace {

constexpr std::size_t kLargest = std::size_t{1} << 20U;

[[noreturn]] void refuse(const std::string& line) {
  throw Error(Code::invalid_argument, Execution::not_executed, line);
}

bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/// A part of a key as it is named in messages: one that must be quoted in TOML is so here, and can thus be
/// none of the keys of a program.
std::string shown(std::string_view part) {
  if (!part.empty() && std::ranges::all_of(part, is_bare)) return std::string(part);
  std::string text = "\"";
  for (const char c : part.substr(0, 64)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + "\"";
}

class Flattened {
 public:
  explicit Flattened(const std::string& path) : path_(path) {}

  void add_table(const toml::table& table, const std::string& above) {
    for (const auto& [key, node] : table) {
      const std::string name = above + shown(key.str());
      Value value{.key = name, .kind = Kind::other, .texts = {}, .place = {}};
      if (const auto* const section = node.as_table(); section != nullptr) {
        value.kind = Kind::section;
        add(key.source().begin.line, std::move(value));
        add_table(*section, name + ".");
        continue;
      }
      if (const auto* const items = node.as_array(); items != nullptr)
        read_list(*items, value);
      else
        read_single(node, value);
      add(key.source().begin.line, std::move(value));
    }
  }

  std::vector<Value> in_order() && {
    std::vector<Value> values;
    values.reserve(found_.size());
    for (auto& [line, value] : found_) values.push_back(std::move(value));
    return values;
  }

 private:
  void add(std::uint32_t line, Value value) {
    value.place = path_ + ":" + std::to_string(line);
    found_.emplace(line, std::move(value));
  }

  static void read_single(const toml::node& node, Value& value) {
    if (const auto* const text = node.as_string(); text != nullptr) {
      value.kind = Kind::text;
      value.texts = {text->get()};
    } else if (const auto* const integer = node.as_integer(); integer != nullptr) {
      value.kind = Kind::integer;
      value.texts = {std::to_string(integer->get())};
    } else if (const auto* const number = node.as_floating_point(); number != nullptr) {
      char digits[64];
      const auto end = std::to_chars(digits, digits + sizeof digits, number->get()).ptr;
      value.kind = Kind::number;
      value.texts = {std::string(digits, end)};
    } else if (const auto* const boolean = node.as_boolean(); boolean != nullptr) {
      value.kind = Kind::boolean;
      value.texts = {boolean->get() ? "true" : "false"};
    }
  }

  static void read_list(const toml::array& items, Value& value) {
    for (const auto& item : items) {
      Value one;
      one.kind = Kind::other;
      read_single(item, one);
      if (one.kind != Kind::text && one.kind != Kind::integer) return;
      value.texts.push_back(one.texts.front());
    }
    value.kind = Kind::list;
  }

  const std::string& path_;
  std::multimap<std::uint32_t, Value> found_;  // by their lines
};

}  // namespace

std::vector<Value> parse(std::string_view text, const std::string& path) {
  try {
    const auto table = toml::parse(text);
    Flattened flattened(path);
    flattened.add_table(table, {});
    return std::move(flattened).in_order();
  } catch (const toml::parse_error& error) {
    std::string reason(error.description());
    std::ranges::replace(reason, '\n', ' ');
    refuse(path + ":" + std::to_string(error.source().begin.line) + ": this is no TOML: " + reason);
  }
}

std::vector<Value> read(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0)
    refuse(path + ": cannot be read: " + std::generic_category().message(errno));
  if (!S_ISREG(found.st_mode)) refuse(path + ": cannot be read: it is no file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path + ": cannot be read: " + std::generic_category().message(errno));
  std::string text(kLargest + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargest) refuse(path + ": cannot be read: it is larger than 1 MiB");
  return parse(text, path);
}

}  // namespace mf::config
