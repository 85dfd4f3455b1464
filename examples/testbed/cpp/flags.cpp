#include "flags.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace testbed {

Flags::Flags(int argc, char** argv, const std::vector<std::string_view>& known) : program_(argv[0]) {
  for (int i = 1; i < argc; i += 2) {
    const auto name = std::find(known.begin(), known.end(), argv[i]);
    if (name == known.end()) refuse(std::string(argv[i]) + " is not known");
    if (i + 1 == argc) refuse(std::string(argv[i]) + " needs a value");
    flags_.push_back({.name = *name, .value = argv[i + 1]});
  }
}

std::string Flags::required(std::string_view name) const {
  const auto values = all(name);
  if (values.size() != 1) refuse(std::string(name) + " has to be given once");
  return values.front();
}

std::vector<std::string> Flags::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& flag : flags_) {
    if (flag.name == name) values.push_back(flag.value);
  }
  return values;
}

void Flags::refuse(const std::string& sentence) const {
  std::cerr << program_ << ": " << sentence << '\n';
  std::exit(2);
}

}  // namespace testbed
