// Values of configuration files and of the environment, before they become options.
//
// A file is TOML. Its keys are written as paths here: `max_connections` below `[limits]` is
// limits.max_connections. A variable of the environment has the name of the key in capitals, with '_' for
// '.', behind a prefix: MF_CONTROLLER_LIMITS_MAX_CONNECTIONS. It overrides the file.
//
// Every mistake is one line that begins with its place, FILE:LINE or the name of the variable. Python
// (mf/config) writes the same lines; tests/config/cases.json holds both to them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mf::config {

enum class Kind : std::uint8_t { text, integer, number, boolean, list, section, other };

/// "a string", "an integer" and so on.
[[nodiscard]] std::string_view words_of(Kind kind) noexcept;

/// At most 64 bytes of a text as messages show it, in quotes, with '?' for what is no printable ASCII.
[[nodiscard]] std::string quoted(std::string_view text);

struct Value {
  std::string key{};
  Kind kind = Kind::text;
  std::vector<std::string> texts{};  // one, or of a list each of its items
  std::string place{};               // FILE:LINE, or the name of a variable
};

/// A key that a program understands.
struct Key {
  std::string name{};
  Kind kind = Kind::text;
  // Of an integer or a number: what it may be. Of a text: the words that it may be; empty: any.
  std::int64_t least = 0;
  std::int64_t most = INT64_MAX;
  std::vector<std::string> choices{};
};

/// Mistakes in the order in which they were found, at most twenty.
class Mistakes {
 public:
  void add(std::string_view place, std::string_view what);
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  /// Throws Error(INVALID_ARGUMENT) with all lines, if there are any.
  void throw_any() const;

 private:
  std::vector<std::string> lines_;
};

/// All keys and sections of the text of a file, by their lines. Throws Error(INVALID_ARGUMENT) if it is no
/// TOML.
[[nodiscard]] std::vector<Value> parse(std::string_view text, const std::string& path);
/// Those of the file at `path`, of at most 1 MiB. Throws Error(INVALID_ARGUMENT) if it cannot be read, too.
[[nodiscard]] std::vector<Value> read(const std::string& path);

/// The value of a variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

/// "MF_SERVER_LISTEN" for the prefix "MF_" and the key "server.listen".
[[nodiscard]] std::string variable_of(std::string_view prefix, std::string_view key);

using Values = std::map<std::string, Value, std::less<>>;

/// The values by their keys, those of the environment before those of the file. What is no key, is of the
/// wrong kind, or is not among what its key allows is a mistake.
[[nodiscard]] Values gather(const std::vector<Key>& keys, std::vector<Value> file, std::string_view prefix,
                            const Environment& environment, Mistakes& mistakes);

/// The name that is most like `word`; empty if none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace mf::config
