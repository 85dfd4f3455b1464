#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "mf/config/value.hpp"
#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf::config {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::size_t kLongestShown = 64;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  const auto name = nearest(word, names);
  return name.empty() ? name : "; did you mean " + name + "?";
}

/// What a key takes, in words that follow "give ".
std::string wanted(const Key& key) {
  if (!key.choices.empty()) return "one of " + joined(key.choices);
  std::string text(key.kind == Kind::list ? "a list of strings" : words_of(key.kind));
  if (key.kind != Kind::integer && key.kind != Kind::number) return text;
  if (key.most != INT64_MAX)
    text += " from " + std::to_string(key.least) + " to " + std::to_string(key.most);
  else if (key.least != 0)
    text += " of at least " + std::to_string(key.least);
  return text;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool is_allowed(const Key& key, const Value& value) {
  switch (key.kind) {
    case Kind::integer: {
      const auto number = number_in<std::int64_t>(value.texts.front());
      return number && *number >= key.least && *number <= key.most;
    }
    case Kind::number: {
      const auto number = number_in<double>(value.texts.front());
      return number && std::isfinite(*number) && *number >= static_cast<double>(key.least) &&
             (key.most == INT64_MAX || *number <= static_cast<double>(key.most));
    }
    case Kind::boolean:
      return value.texts.front() == "true" || value.texts.front() == "false";
    case Kind::text:
      return key.choices.empty() || std::ranges::find(key.choices, value.texts.front()) != key.choices.end();
    default:
      return true;
  }
}

/// Adds a mistake and returns false if the value, which is of the key's kind, is not among what it allows.
bool check_value(const Key& key, const Value& value, Mistakes& mistakes) {
  if (is_allowed(key, value)) return true;
  const auto& text = value.texts.front();
  const auto is = value.kind == Kind::text ? quoted(text) : text;
  mistakes.add(value.place, key.name + " is " + is + ": give " + wanted(key) +
                                (key.choices.empty() ? "" : suggestion(text, key.choices)));
  return false;
}

class Gathering {
 public:
  Gathering(const std::vector<Key>& keys, Mistakes& mistakes) : keys_(keys), mistakes_(mistakes) {
    for (const auto& key : keys) {
      names_.push_back(key.name);
      for (auto dot = key.name.find('.'); dot != std::string::npos; dot = key.name.find('.', dot + 1)) {
        const auto section = key.name.substr(0, dot);
        if (std::ranges::find(sections_, section) == sections_.end()) sections_.push_back(section);
      }
    }
  }

  void add_file(std::vector<Value> file) {
    std::vector<std::string> skipped;  // sections that were reported as a whole
    for (auto& value : file) {
      if (std::ranges::any_of(skipped, [&](const auto& above) { return value.key.starts_with(above); }))
        continue;
      if (!add(value) && value.kind == Kind::section) skipped.push_back(value.key + ".");
    }
  }

  void add_environment(std::string_view prefix, const Environment& environment) {
    for (const auto& key : keys_) {
      const auto name = variable_of(prefix, key.name);
      const auto text = environment(name);
      if (!text || text->empty()) continue;
      Value value{.key = key.name, .kind = Kind::text, .texts = {*text}, .place = name};
      if (key.kind == Kind::list) {
        value.kind = Kind::list;
        value.texts = parts_of(*text);
      }
      if (!check_value(key, value, mistakes_)) continue;
      value.kind = key.kind;
      values_.insert_or_assign(key.name, std::move(value));
    }
  }

  Values take() && { return std::move(values_); }

 private:
  static std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
      const auto comma = std::min(text.find(',', at), text.size());
      if (comma > at) parts.emplace_back(text.substr(at, comma - at));
      at = comma + 1;
    }
    return parts;
  }

  /// False: it is a mistake.
  bool add(Value& value) {
    const auto found = std::ranges::find(keys_, value.key, &Key::name);
    if (found == keys_.end()) return add_other(value);
    const bool fits =
        value.kind == found->kind || (value.kind == Kind::integer && found->kind == Kind::number);
    if (!fits) {
      mistakes_.add(value.place,
                    value.key + " is " + std::string(words_of(value.kind)) + ": give " + wanted(*found));
      return false;
    }
    if (!check_value(*found, value, mistakes_)) return false;
    values_.insert_or_assign(value.key, std::move(value));
    return true;
  }

  /// What is no key with a value: a section, or a mistake.
  bool add_other(const Value& value) {
    const bool is_section = std::ranges::find(sections_, value.key) != sections_.end();
    if (value.kind == Kind::section) {
      if (is_section) return true;
      mistakes_.add(value.place, "there is no section " + value.key + suggestion(value.key, sections_));
      return false;
    }
    if (is_section)
      mistakes_.add(value.place, value.key + " is " + std::string(words_of(value.kind)) +
                                     ": it is a section, whose keys are written below [" + value.key + "]");
    else
      mistakes_.add(value.place, "there is no key " + value.key + suggestion(value.key, names_));
    return false;
  }

  const std::vector<Key>& keys_;
  Mistakes& mistakes_;
  std::vector<std::string> names_;
  std::vector<std::string> sections_;
  Values values_;
};

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);  // all of it if there is no dot
}

}  // namespace

std::string_view words_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::text:
      return "a string";
    case Kind::integer:
      return "an integer";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "true or false";
    case Kind::list:
      return "a list";
    case Kind::section:
      return "a section";
    case Kind::other:
      break;
  }
  return "a date, or a list of such";
}

std::string quoted(std::string_view text) {
  std::string shown = "\"";
  for (const char c : text.substr(0, kLongestShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > kLongestShown ? "…\"" : "\"");
}

void Mistakes::add(std::string_view place, std::string_view what) {
  if (lines_.size() >= kMostMistakes) return;
  std::string line(place);
  if (!line.empty()) line += ": ";
  lines_.push_back(line.append(what));
}

void Mistakes::throw_any() const {
  if (lines_.empty()) return;
  std::string text;
  for (const auto& line : lines_) text.append(text.empty() ? "" : "\n").append(line);
  throw Error(Code::invalid_argument, Execution::not_executed, text);
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string variable_of(std::string_view prefix, std::string_view key) {
  std::string name(prefix);
  for (const char c : key) {
    if (c >= 'a' && c <= 'z')
      name += static_cast<char>(c - 'a' + 'A');
    else
      name += c == '.' || c == '-' ? '_' : c;
  }
  return name;
}

Values gather(const std::vector<Key>& keys, std::vector<Value> file, std::string_view prefix,
              const Environment& environment, Mistakes& mistakes) {
  Gathering gathering(keys, mistakes);
  gathering.add_file(std::move(file));
  gathering.add_environment(prefix, environment);
  return std::move(gathering).take();
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  if (word.size() > kLongestShown) return {};
  std::string found;
  auto least = word.size() / 3 + 1;
  for (const auto& name : names) {
    if (const auto distance = edit_distance(word, name); distance < least) {
      least = distance;
      found = name;
    }
  }
  if (!found.empty()) return found;
  const auto same = std::ranges::find_if(
      names, [&](const std::string& name) { return last_part(name) == last_part(word); });
  return same != names.end() ? *same : std::string();
}

}  // namespace mf::config
