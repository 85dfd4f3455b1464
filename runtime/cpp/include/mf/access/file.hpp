// An access file, which may be replaced while it is used. Copies share what was read. Thread-safe.
//
// It is read when a server is made with it, or when it is asked first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mf/access/rules.hpp"
#include "mf/core/log.hpp"

namespace mf::access {

enum class Reread : std::uint8_t {
  unchanged,  ///< the file was not replaced
  replaced,   ///< its rules are in use from now on
  unusable,   ///< the log says why, and the rules that were read before stay in use
};

class File {
 public:
  /// None: everything is allowed.
  File() = default;
  /// Not read yet.
  File(std::string path);  // NOLINT(google-explicit-constructor): a path is how users write it
  File(const char* path) : File(std::string(path)) {}  // NOLINT(google-explicit-constructor): as above

  /// Whether there is a file.
  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  /// Empty if there is none.
  [[nodiscard]] const std::string& path() const noexcept;

  /// What was read last; null if there is no file. Throws Error(INVALID_ARGUMENT), with file, line and a
  /// suggestion for each mistake, if it is read first, and cannot be used.
  [[nodiscard]] std::shared_ptr<const Rules> rules() const;

  /// Reads it again if it was replaced, or `always`.
  [[nodiscard]] Reread refresh(bool always, const Log& log) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mf::access
