#pragma once
// UTF-8 functions for the lower floors, and names in messages. Overlong forms, surrogates and numbers above
// 10ffff are not UTF-8.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mf {

/// The length in bytes of the first character of `text`; 0 if it does not start with one.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// The longest prefix of `text` of at most `limit` bytes that does not split a character.
[[nodiscard]] std::string_view cut_at_character(std::string_view text, std::size_t limit) noexcept;
/// `text` with a `?` for each byte that is not UTF-8: for foreign text, such as a file's name in an
/// exception, that is sent to peers which accept only UTF-8.
[[nodiscard]] std::string with_marks(std::string_view text);

/// How many bytes must be changed, left out or put in to make the one name of the other: for suggestions.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// With the capital letters of ASCII in lower case.
[[nodiscard]] std::string lower(std::string_view text);

/// The first 100 characters of a name, for a message about it.
[[nodiscard]] std::string shortened(std::string_view name);
/// A few names in words, each between marks, so that a list of thousands of names does not make an answer
/// long: "red, blue, … and 1,204 more"; empty if there are none.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names, std::string_view mark = {});

}  // namespace mf
