// R1. The members of a JSON object, each with the text of its value: for texts of which only a part has a
// type, such as the lines of a recording. All of the text is read, and so is JSON (docs/json.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/codec/limits.hpp"
#include "mf/codec/result.hpp"

namespace mf {

/// Names without escapes, and values as they are written, which point into `text`. The error says why the
/// text is no object, where: nested too deep, a name twice, or more than `most` members.
using JsonMembers = std::vector<std::pair<std::string, std::string_view>>;
[[nodiscard]] Result<JsonMembers> json_members(std::string_view text, std::size_t most,
                                               const codec::Limits& limits = {});

}  // namespace mf
