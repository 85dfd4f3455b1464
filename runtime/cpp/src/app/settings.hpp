// The options of a program from four sources: its command line, then the environment, then a TOML file, then
// their defaults.
//
//   mf::app::Settings settings(app, "MF_RELAY_");        once all options are there
//   if (const auto ended = settings.parse(argc, argv)) return *ended;
//
// The table of the options is CLI11's, and there is no other one. The key of an option in a file is the name
// of its group, which is the section, and its own: `--max-connections` of the group "limits" is
// limits.max_connections, and MF_RELAY_LIMITS_MAX_CONNECTIONS in the environment. A name that begins with
// that of its group loses it: `--etcd-ca` of the group "etcd" is etcd.ca. CLI11 would read a file and the
// environment itself, but it prefers the file, and names neither a line nor a variable for a mistake.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mf/config/value.hpp"

namespace mf::app {

/// The exit code after a mistake in the command line, the environment or the file.
inline constexpr int kWrongUse = 2;

/// Addresses without the name and the password that may stand in front of a host.
[[nodiscard]] std::string without_password(std::string text);

class Settings {
 public:
  /// Adds --config, --print-config and --check to the program, or to those of its subcommands that are
  /// configurable(), if it has any. Other subcommands take nothing from files and the environment. `prefix`:
  /// of its variables in the environment.
  Settings(CLI::App& app, std::string prefix);

  /// The values of this option are never printed.
  void hide(const CLI::Option& option) { hidden_.insert(&option); }

  /// Returns the exit code if the program has to end: 0 after --help, --version and --print-config, and 2
  /// after a mistake, which is on standard error then.
  std::optional<int> parse(int argc, char** argv);

  /// The program shall check what it was given, and not start.
  [[nodiscard]] bool only_check() const noexcept { return only_check_; }

 private:
  struct Requirement {
    CLI::Option* option;
    bool required;
    std::set<CLI::Option*> needs;
  };

  void add_to(CLI::App& app);
  [[nodiscard]] std::string key_of(const CLI::Option& option) const;
  /// The options that files and the environment may set, of the program and of the subcommand that was given.
  [[nodiscard]] std::vector<CLI::Option*> options() const;
  void suspend_requirements(CLI::App& app);
  void restore_requirements();
  void apply();
  void set(CLI::Option& option, const config::Value& value, config::Mistakes& mistakes);
  void check_requirements(config::Mistakes& mistakes) const;
  void print() const;
  void print_unused_variables() const;
  [[nodiscard]] std::string shown(const CLI::Option& option) const;
  int fail(const std::string& text) const;
  int show_help(const CLI::ParseError& asked);

  CLI::App& app_;
  std::string prefix_;
  std::string file_;
  bool print_ = false;
  bool only_check_ = false;
  std::vector<Requirement> requirements_;
  std::map<const CLI::Option*, std::string> sources_;
  std::set<const CLI::Option*> hidden_;
};

}  // namespace mf::app
