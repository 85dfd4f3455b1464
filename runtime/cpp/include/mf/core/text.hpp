#pragma once
// UTF-8, as far as the lower floors need it, and names in messages. Overlong forms, surrogates and numbers
// above 10ffff are not UTF-8.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mf {

/// Bytes of the character that `text` starts with; 0 if it does not start with one.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;
/// The longest start of `text` of at most `limit` bytes that does not cut a character.
[[nodiscard]] std::string_view cut_at_character(std::string_view text, std::size_t limit) noexcept;
/// `text` with a `?` for each byte that is no part of a character: for what others said, a file's name in an
/// exception, where a peer takes nothing but UTF-8.
[[nodiscard]] std::string with_marks(std::string_view text);

/// The first 100 characters of a name, for a message about it.
[[nodiscard]] std::string shortened(std::string_view name);
/// A few names in words, each between marks: an answer must not be much longer than its question, whoever
/// offers thousands. "red, blue, … and 1,204 more"; empty if there are none.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names, std::string_view mark = {});

}  // namespace mf
