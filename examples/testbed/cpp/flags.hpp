// Command lines of the testbed's programs: pairs of --name value, each name at most once unless it may be
// repeated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace testbed {

class Flags {
 public:
  /// Ends the program with status 2 and a sentence for a name that is not in the list, or has no value.
  Flags(int argc, char** argv, const std::vector<std::string_view>& known);

  /// Ends the program with status 2 if it was not given.
  [[nodiscard]] std::string required(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;

 private:
  struct Flag {
    std::string_view name;
    std::string value;
  };

  [[noreturn]] void refuse(const std::string& sentence) const;

  std::string program_;
  std::vector<Flag> flags_;
};

}  // namespace testbed
