// Lines of JSON on standard output.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace interop_test {

/// A line with these members, values already being JSON: see text().
void say(std::initializer_list<std::pair<std::string_view, std::string>> members);
/// A JSON string.
std::string text(std::string_view value);

}  // namespace interop_test
