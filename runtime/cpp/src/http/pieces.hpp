// Cuts a JSON text into the texts of its parts without reading these: what is done with a part finds out
// whether it is JSON. All views point into the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mf::http {

/// Whether the text is an array, as far as its first character says.
[[nodiscard]] bool is_array(std::string_view json) noexcept;
/// The elements of an array; nothing: the text is no array, or there are more than `most`.
[[nodiscard]] std::optional<std::vector<std::string_view>> elements_of(std::string_view json,
                                                                       std::size_t most);
/// The members of an object; nothing: the text is no object, there are more than `most`, or a name is there
/// twice. Names are without quotes, and have no escapes.
using Members = std::vector<std::pair<std::string_view, std::string_view>>;
[[nodiscard]] std::optional<Members> members_of(std::string_view json, std::size_t most);

}  // namespace mf::http
