#pragma once
// How a call fails: a closed set of codes, the same numbers in every runtime and on the wire (protocol.md
// section 6), and the exceptions that carry them to a user.
//
// Error          a failure of the call itself: code, whether it was executed, a message that says what to do.
// DeclaredError  base of the errors that a schema declares. A generated error is
//
//     struct NoSuchCollection : mf::DeclaredErrorBase<NoSuchCollection> {
//       static constexpr const char* kName = "sf1.search.NoSuchCollection";
//       std::string name;
//       NoSuchCollection() = default;
//       explicit NoSuchCollection(std::string name_) : name(std::move(name_)) {}
//       friend bool operator==(const NoSuchCollection&, const NoSuchCollection&) = default;
//     };
//
// (constructors are written out: a type with virtual functions is no aggregate). DeclaredErrorBase supplies
// what(), clone() and raise(), so that an error can be kept in an Outcome and thrown later as its own type.

#include <compare>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mf {

enum class Code : std::uint8_t {
  ok = 0,
  declared = 1,  // as the status of a REPLY this number is MIXED
  invalid_argument = 2,
  unknown_service = 3,
  unknown_agent = 4,
  unknown_method = 5,
  schema_mismatch = 6,
  handler_failed = 7,
  deadline_exceeded = 8,
  cancelled = 9,
  overloaded = 10,
  unavailable = 11,
  connection_lost = 12,
  message_too_large = 13,
  decode_error = 14,
  protocol_error = 15,
  unauthenticated = 16,
  permission_denied = 17,
  shutting_down = 18,
  internal = 19,
};
inline constexpr std::uint16_t kLastCode = 19;

/// Whether the call was executed. not_executed: it is safe to send it again. unknown: it may have run.
enum class Execution : std::uint8_t { not_executed = 0, unknown = 1 };

/// "DEADLINE_EXCEEDED"; "UNKNOWN_CODE" for a number outside the set. Never null.
[[nodiscard]] const char* name(Code code) noexcept;
[[nodiscard]] const char* name(Execution execution) noexcept;

/// what() is "DEADLINE_EXCEEDED: no reply from tcp://10.0.0.7:7401 within the deadline (may have run)".
class Error : public std::runtime_error {
 public:
  Error(Code code, Execution execution, std::string_view message);

  [[nodiscard]] Code code() const noexcept { return code_; }
  [[nodiscard]] Execution execution() const noexcept { return execution_; }
  [[nodiscard]] std::string message() const;

 private:
  Code code_;
  Execution execution_;
  std::size_t message_size_;
};

class DeclaredError : public std::exception {
 public:
  /// A copy of the full, derived error.
  [[nodiscard]] virtual std::unique_ptr<DeclaredError> clone() const = 0;
  /// Throws a copy as the derived type.
  [[noreturn]] virtual void raise() const = 0;

 protected:
  DeclaredError() = default;
  DeclaredError(const DeclaredError&) = default;
  DeclaredError(DeclaredError&&) = default;
  DeclaredError& operator=(const DeclaredError&) = default;
  DeclaredError& operator=(DeclaredError&&) = default;
};

template <class Derived>
class DeclaredErrorBase : public DeclaredError {
 public:
  [[nodiscard]] const char* what() const noexcept override { return Derived::kName; }
  [[nodiscard]] std::unique_ptr<DeclaredError> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  [[noreturn]] void raise() const override { throw Derived(static_cast<const Derived&>(*this)); }

  // The base has no members, so that a derived `= default` compares only its own.
  friend bool operator==(const DeclaredErrorBase&, const DeclaredErrorBase&) noexcept { return true; }
  friend std::strong_ordering operator<=>(const DeclaredErrorBase&, const DeclaredErrorBase&) noexcept {
    return std::strong_ordering::equal;
  }
};

}  // namespace mf
