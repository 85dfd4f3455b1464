// What a client of the door gets in the place of a result: a problem as RFC 9457 has it.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "mf/core/error.hpp"
#include "mf/core/outcome.hpp"

namespace mf::http {

struct Problem {
  Code code = Code::internal;
  Execution execution = Execution::not_executed;
  std::string detail;
  unsigned status = 0;   // 0: that of the code
  std::string error{};   // the full name of a declared error
  std::string fields{};  // its fields as a JSON object
};

/// The JSON of a result, or why there is none.
using Answer = std::variant<std::string, Problem>;

[[nodiscard]] unsigned status_of(const Problem& problem) noexcept;
/// "Not Found"
[[nodiscard]] std::string_view words_of(unsigned status) noexcept;
[[nodiscard]] std::string json_of(const Problem& problem);
/// Appends the text as a JSON string; bytes that are not UTF-8 become question marks.
void append_string(std::string& to, std::string_view text);
[[nodiscard]] Problem refusal(Code code, std::string detail);
[[nodiscard]] Problem problem_of(const Failure& failure);
[[nodiscard]] Failure failure_of(const Problem& problem);
/// The problem without any address of the relay, or of what is behind it.
[[nodiscard]] Problem said_to_clients(Problem problem);

}  // namespace mf::http
