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
// clone() and raise(), so that an error can be kept in an Outcome and thrown later as its own type, and what
// what() says: the name, and the fields as print_to() writes them.

#include <atomic>
#include <compare>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mf/core/printable.hpp"

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
  ~DeclaredError() override;

  /// "sf1.search.NoSuchCollection{name: \"books\"}": bounded, however large the fields are (printer.hpp). The
  /// first call makes the text, so it does not show what is assigned to a field later. Any thread.
  [[nodiscard]] const char* what() const noexcept final;
  /// "sf1.search.NoSuchCollection".
  [[nodiscard]] virtual const char* type_name() const noexcept = 0;
  /// A copy of the full, derived error.
  [[nodiscard]] virtual std::unique_ptr<DeclaredError> clone() const = 0;
  /// Throws a copy as the derived type.
  [[noreturn]] virtual void raise() const = 0;

 protected:
  // What what() has said stays with the object that has said it.
  DeclaredError() noexcept = default;
  DeclaredError(const DeclaredError& other) noexcept : std::exception(other) {}
  DeclaredError(DeclaredError&& other) noexcept : std::exception(other) {}
  DeclaredError& operator=(const DeclaredError& other) noexcept;
  DeclaredError& operator=(DeclaredError&& other) noexcept;

 private:
  /// The error as print_to() writes it, or nothing.
  [[nodiscard]] virtual std::string printed() const = 0;

  mutable std::atomic<const std::string*> what_{nullptr};
};

template <class Derived>
class DeclaredErrorBase : public DeclaredError {
 public:
  [[nodiscard]] const char* type_name() const noexcept override { return Derived::kName; }
  [[nodiscard]] std::unique_ptr<DeclaredError> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  [[noreturn]] void raise() const override { throw Derived(static_cast<const Derived&>(*this)); }

  // Of the bases nothing is compared, so that a derived `= default` compares only its own.
  friend bool operator==(const DeclaredErrorBase&, const DeclaredErrorBase&) noexcept { return true; }
  friend std::strong_ordering operator<=>(const DeclaredErrorBase&, const DeclaredErrorBase&) noexcept {
    return std::strong_ordering::equal;
  }

 private:
  [[nodiscard]] std::string printed() const override {
    if constexpr (Printable<Derived>) {
      return to_string(static_cast<const Derived&>(*this));
    } else {
      return {};
    }
  }
};

}  // namespace mf
