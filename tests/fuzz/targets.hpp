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

/// Each in a file of its own in in_cpp/, which says what it reads.
bool addresses(std::span<const std::byte> input);
bool binds(std::span<const std::byte> input);
bool etcd(std::span<const std::byte> input);
bool headers(std::span<const std::byte> input);
bool openings(std::span<const std::byte> input);
bool patterns(std::span<const std::byte> input);
bool plans(std::span<const std::byte> input);
bool records(std::span<const std::byte> input);
bool replication(std::span<const std::byte> input);
bool topics(std::span<const std::byte> input);

struct Target {
  std::string_view name;  // of its seeds' folder too
  bool (*run)(std::span<const std::byte> input);
  bool may_be_shorter;  // whether the beginning of a value may be another one
};

inline constexpr std::array<Target, 19> kTargets{{{"memcpy", memcpy_bytes, false},
                                                  {"febird", febird_bytes, false},
                                                  {"archive", archive_bytes, true},
                                                  {"custom", custom_bytes, true},
                                                  {"json", json_text, false},
                                                  {"flex", flex_bytes, false},
                                                  {"schema", schema_text, true},
                                                  {"values", values_file, true},
                                                  {"token", token_text, false},
                                                  {"addresses", addresses, true},
                                                  {"binds", binds, true},
                                                  {"etcd", etcd, false},
                                                  {"headers", headers, false},
                                                  {"openings", openings, true},
                                                  {"patterns", patterns, true},
                                                  {"plans", plans, true},
                                                  {"records", records, true},
                                                  {"replication", replication, false},
                                                  {"topics", topics, true}}};

}  // namespace fuzz
