// The testbed's tokenizer: a token is a longest run of ASCII letters and digits in the bytes of a text, A-Z
// taken as a-z; every other byte separates. corpus/plain_index.py specifies the same for the checks; neither
// side may call the other's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace testbed {

[[nodiscard]] std::vector<std::string> tokens(std::string_view text);

}  // namespace testbed
