// The fuzz targets over generated decoders of every type of the language: libFuzzer runs them
// (main_fuzz.cpp), and targets_test.cpp without it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string_view>

namespace fuzz {

/// What holds of every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Whether the input was a value.
bool memcpy_bytes(std::span<const std::byte> input);
bool febird_bytes(std::span<const std::byte> input);
bool archive_bytes(std::span<const std::byte> input);
bool custom_bytes(std::span<const std::byte> input);
bool json_text(std::span<const std::byte> input);
/// Flexible values and messages, which have one form each.
bool flex_bytes(std::span<const std::byte> input);
/// A descriptor and, behind a zero, its annex.
bool schema_text(std::span<const std::byte> input);
/// A file of values, behind a byte; if that is odd, its sums are made right first.
bool values_file(std::span<const std::byte> input);
/// A token, or if the first byte is odd the claims of one.
bool token_text(std::span<const std::byte> input);

struct Target {
  std::string_view name;  // of its seeds' folder too
  bool (*run)(std::span<const std::byte> input);
};

inline constexpr std::array<Target, 9> kTargets{{{"memcpy", memcpy_bytes},
                                                 {"febird", febird_bytes},
                                                 {"archive", archive_bytes},
                                                 {"custom", custom_bytes},
                                                 {"json", json_text},
                                                 {"flex", flex_bytes},
                                                 {"schema", schema_text},
                                                 {"values", values_file},
                                                 {"token", token_text}}};

}  // namespace fuzz
