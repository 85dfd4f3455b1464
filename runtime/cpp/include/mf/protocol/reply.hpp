#pragma once
// Payloads of replies (protocol.md section 5) with failed items: the failure record, and MIXED. Works on
// bytes: the caller encodes and decodes results and declared errors between the steps.
//
//     | count outcomes, zeros to a multiple of 8 | results of outcome 0 | one record for each other item |
//     declared error: u16 index, u16 0, u32 length, struct        others: u8 execution, u8 0, str16 message

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mf/core/buffer.hpp"
#include "mf/core/error.hpp"

namespace mf::protocol {

struct FailureRecord {
  Execution execution = Execution::unknown;
  std::string_view message;  // from the peer
};

void write_failure_record(Buffer& out, Execution execution, std::string_view message);
/// Reads a record from the front of `bytes`; false if it is invalid.
[[nodiscard]] bool read_failure_record(std::span<const std::byte>& bytes, FailureRecord& record);
/// The payload of a reply whose status is a failure: one record, nothing after it.
[[nodiscard]] bool parse_failure(std::span<const std::byte> payload, FailureRecord& record);

/// Writes in this order: outcomes (constructor and set()), results by the caller, then records.
class MixedWriter {
 public:
  /// Appends room for the outcomes, all 0. `out` must be empty before, and must outlive the writer.
  MixedWriter(Buffer& out, std::uint32_t count);
  void set(std::uint32_t item, Code outcome) noexcept;
  void failure(Execution execution, std::string_view message) {
    write_failure_record(out_, execution, message);
  }
  /// Between the two calls the caller appends the error's struct.
  void begin_declared(std::uint16_t index);
  void end_declared() noexcept;

 private:
  Buffer& out_;
  std::size_t declared_at_ = 0;
};

/// Reads in the same order. All views point into the payload.
class MixedReader {
 public:
  /// Checks the outcomes; ok() is false if they violate the protocol.
  MixedReader(std::span<const std::byte> payload, std::uint32_t count) noexcept;

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] Code outcome(std::uint32_t item) const noexcept { return static_cast<Code>(outcomes_[item]); }
  /// The bytes after the outcomes: the caller decodes the results from them, one for each outcome 0, and
  /// calls skip_results() with the number of bytes that they took.
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }
  [[nodiscard]] bool skip_results(std::size_t bytes) noexcept;
  /// The record of the next item whose outcome is not 0; the outcome decides which function to call.
  [[nodiscard]] bool next_failure(FailureRecord& record) { return read_failure_record(rest_, record); }
  [[nodiscard]] bool next_declared(std::uint16_t& index, std::span<const std::byte>& error) noexcept;
  /// Whether nothing is left after the last record.
  [[nodiscard]] bool finished() const noexcept { return rest_.empty(); }

 private:
  std::span<const std::byte> outcomes_;
  std::span<const std::byte> rest_;
  bool ok_ = false;
};

}  // namespace mf::protocol
