#include "words.hpp"

#include <chrono>
#include <sstream>

#include "conformance.hpp"

namespace conformance_test {

Words::Words(const std::string& line) {
  std::istringstream words(line);
  words >> verb >> agent;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      arguments.push_back(word);
      continue;
    }
    const auto key = word.substr(0, equals);
    const auto value = word.substr(equals + 1);
    if (key == "deadline") {
      options.deadline = std::chrono::milliseconds(std::stoll(value));
    } else if (key == "idle") {
      options.idle = std::chrono::milliseconds(std::stoll(value));
    } else {
      options.metadata.set(key, value);
    }
  }
}

std::string expanded(const std::string& word) {
  const auto star = word.find('*');
  if (star == std::string::npos) return word;
  std::string all;
  for (auto left = std::stoll(word.substr(star + 1)); left > 0; --left) all += word.substr(0, star);
  return all;
}

std::string shortened(const std::string& text) {
  return text.size() <= 20 ? text : text.substr(0, 8) + "… " + std::to_string(text.size());
}

Json text(std::string_view value) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  Json json = "\"";
  for (const char each : value) {
    const auto code = static_cast<unsigned char>(each);
    if (code < 0x20 || each == '"' || each == '\\') {
      json += "\\u00";
      json += kDigits[code >> 4U];
      json += kDigits[code & 15U];
    } else {
      json += each;
    }
  }
  return json + '"';
}

Json object(std::initializer_list<std::pair<std::string_view, Json>> members) {
  Json all;
  for (const auto& [name, value] : members) all += (all.empty() ? "{" : ", ") + text(name) + ": " + value;
  return all.empty() ? "{}" : all + "}";
}

Json array(const std::vector<Json>& items) {
  Json all;
  for (const auto& item : items) all += (all.empty() ? "[" : ", ") + item;
  return all.empty() ? "[]" : all + "]";
}

Json texts(const std::vector<std::string>& items) {
  std::vector<Json> all;
  for (const auto& item : items) all.push_back(text(item));
  return array(all);
}

Json failed(const mf::Failure& failure) {
  if (const auto* refused = dynamic_cast<const conformance::Refused*>(failure.declared.get())) {
    return object(
        {{"error", text("Refused")}, {"why", text(refused->why)}, {"at", std::to_string(refused->at)}});
  }
  if (const auto* missing = dynamic_cast<const conformance::Missing*>(failure.declared.get())) {
    return object({{"error", text("Missing")}, {"key", std::to_string(missing->key)}});
  }
  return object({{"code", text(mf::name(failure.code))},
                 {"execution", text(mf::name(failure.execution))},
                 {"message", text(failure.message)}});
}

}  // namespace conformance_test
