#include "say.hpp"

#include <iostream>

namespace interop_test {

std::string text(std::string_view value) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string json = "\"";
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

void say(std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string line;
  for (const auto& [name, value] : members) {
    line += (line.empty() ? "{" : ", ") + text(name) + ": " + value;
  }
  std::cout << line + "}" << std::endl;
}

}  // namespace interop_test
