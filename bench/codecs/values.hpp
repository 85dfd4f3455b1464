// The values that the bench measures: the same in every run, on every machine.
#pragma once

#include <cstddef>

#include "payload.hpp"

namespace bench_codecs {

[[nodiscard]] payload::Text text();                      // the report's "izensoft"
[[nodiscard]] payload::IntList ints(std::size_t count);  // over all 32 bits
[[nodiscard]] payload::IntList small_ints(std::size_t count);
[[nodiscard]] payload::PodList pods(std::size_t count);
[[nodiscard]] payload::IntMap int_map(std::size_t count);
[[nodiscard]] payload::StringMap string_map(std::size_t count);
[[nodiscard]] payload::DoubleList doubles(std::size_t count);
[[nodiscard]] payload::StringList strings(std::size_t count);                       // of 1 to 20 letters
[[nodiscard]] payload::StringList strings_of(std::size_t count, std::size_t size);  // all of this size
[[nodiscard]] payload::C0 c0();
[[nodiscard]] payload::C1 c1();
[[nodiscard]] payload::C2 c2();
[[nodiscard]] payload::C3 c3();
[[nodiscard]] payload::C4 c4();
[[nodiscard]] payload::C5 c5();
[[nodiscard]] payload::Heartbeat heartbeat();
[[nodiscard]] payload::SearchResult search_result();
[[nodiscard]] payload::Nested nested(std::size_t depth);

/// A struct of numbers below 1,000.
template <class Fields>
[[nodiscard]] Fields fields();

}  // namespace bench_codecs
