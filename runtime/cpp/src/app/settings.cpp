#include "app/settings.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

#include "mf/core/error.hpp"

extern char** environ;  // NOLINT: POSIX declares it in no header of its own

namespace mf::app {
namespace {

constexpr std::string_view kPlainGroup = "Options";  // CLI11's for options without one

std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

/// CLI11 does not say what an option takes, but in its help.
config::Kind kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return config::Kind::boolean;
  if (option.get_expected_max() > 1) return config::Kind::list;
  const std::string type = option.get_type_name();
  constexpr std::array<std::string_view, 5> kNumbers{"UINT", "INT", "MILLISECONDS", "SECONDS", "BYTES"};
  const auto name = std::string_view(type).substr(0, type.find(':'));
  return std::ranges::find(kNumbers, name) != kNumbers.end() ? config::Kind::integer : config::Kind::text;
}

/// The sentence of CLI11 without the option's name in front.
std::string reason_of(const CLI::Error& error, const CLI::Option& option) {
  std::string text = error.what();
  for (const auto& name : {option.get_name(), option.get_name(false, true)}) {
    if (text.starts_with(name + ": ")) return text.substr(name.size() + 2);
  }
  return text;
}

std::string as_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return quoted + '"';
}

}  // namespace

std::string without_password(std::string text) {
  for (auto begin = text.find("://"); begin != std::string::npos; begin = text.find("://", begin + 3)) {
    const auto end = text.find_first_of("@/,", begin + 3);
    if (end != std::string::npos && text[end] == '@') text.replace(begin + 3, end - begin - 3, "...");
  }
  return text;
}

/// A default that means nothing without another option is a comment in what is printed, since a file with it
/// would have to have the other one, too.
bool has_what_it_needs(const CLI::Option& option) {
  const auto needs = option.get_needs();
  return std::ranges::all_of(needs, [](const CLI::Option* other) { return other->count() > 0; });
}

Settings::Settings(CLI::App& app, std::string prefix) : app_(app), prefix_(std::move(prefix)) {
  const auto parts = app.get_subcommands([](CLI::App* part) { return part->get_configurable(); });
  if (parts.empty()) add_to(app);
  for (auto* const part : parts) add_to(*part);
}

void Settings::add_to(CLI::App& app) {
  app.add_option("--config", file_,
                 "A TOML file with options (docs/configuration.md). The environment overrides it, and the "
                 "command line both; also " +
                     prefix_ + "CONFIG")
      ->type_name("FILE")
      ->configurable(false);
  app.add_flag("--print-config", print_, "Print all options, each with its source, and end")
      ->configurable(false);
  app.add_flag("--check", only_check_, "Check the options and the files that they name, and end")
      ->configurable(false);
}

std::optional<int> Settings::parse(int argc, char** argv) {
  suspend_requirements(app_);
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    restore_requirements();
    if (error.get_exit_code() == 0) return show_help(error);
    return fail(std::string(error.what()) + "\nusage: " + app_.get_name() + " [OPTIONS]; " + app_.get_name() +
                " --help names them");
  }
  restore_requirements();
  const auto given = app_.get_subcommands();
  if (std::ranges::any_of(given, [](const CLI::App* part) { return !part->get_configurable(); }))
    return std::nullopt;
  try {
    apply();
  } catch (const Error& error) {
    return fail(error.message());
  }
  if (!print_) return std::nullopt;
  print();
  return 0;
}

std::string Settings::key_of(const CLI::Option& option) const {
  std::string name = option.get_single_name();
  const auto& group = option.get_group();
  if (group == kPlainGroup) return with_underscores(name);
  if (name.starts_with(group + "-")) name.erase(0, group.size() + 1);
  return with_underscores(group + "." + name);
}

std::vector<CLI::Option*> Settings::options() const {
  std::vector<CLI::Option*> found;
  const auto add = [&found](CLI::App& app) {
    for (auto* const option :
         app.get_options([](const CLI::Option* each) { return each->get_configurable(); }))
      found.push_back(option);
  };
  add(app_);
  for (auto* const part : app_.get_subcommands()) add(*part);
  return found;
}

/// What is required may stand in the file, which is read behind the command line.
void Settings::suspend_requirements(CLI::App& app) {
  for (auto* const option : app.get_options([](const CLI::Option*) { return true; })) {
    const auto needs = option->get_needs();
    if (!option->get_required() && needs.empty()) continue;
    if (!option->get_configurable()) continue;
    requirements_.push_back({option, option->get_required(), needs});
    option->required(false);
    for (auto* const each : needs) option->remove_needs(each);
  }
  for (auto* const part : app.get_subcommands([](CLI::App* each) { return each->get_configurable(); }))
    suspend_requirements(*part);
}

void Settings::restore_requirements() {
  for (const auto& [option, required, needs] : requirements_) {
    option->required(required);
    for (auto* const each : needs) option->needs(each);
  }
}

void Settings::apply() {
  const auto known = options();
  std::vector<config::Key> keys;
  for (const auto* const option : known) {
    keys.push_back({.name = key_of(*option), .kind = kind_of(*option)});
    if (option->count() > 0) sources_[option] = "--" + option->get_single_name();
  }
  if (file_.empty()) file_ = config::process_environment(prefix_ + "CONFIG").value_or("");
  config::Mistakes mistakes;
  const auto values = config::gather(keys, file_.empty() ? std::vector<config::Value>() : config::read(file_),
                                     prefix_, config::process_environment, mistakes);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto value = values.find(keys[i].name);
    if (value != values.end() && known[i]->count() == 0) set(*known[i], value->second, mistakes);
  }
  check_requirements(mistakes);
  mistakes.throw_any();
}

void Settings::set(CLI::Option& option, const config::Value& value, config::Mistakes& mistakes) {
  sources_[&option] = value.place;
  try {
    option.add_result(value.texts);
    option.run_callback();
  } catch (const CLI::Error& error) {
    mistakes.add(value.place, value.key + ": " + reason_of(error, option));
  }
}

void Settings::check_requirements(config::Mistakes& mistakes) const {
  const auto known = options();
  for (const auto& [option, required, needs] : requirements_) {
    if (std::ranges::find(known, option) == known.end()) continue;
    const auto key = key_of(*option);
    if (required && option->count() == 0)
      mistakes.add("", "--" + option->get_single_name() + " is required; it may also be " + key +
                           " in the file, or " + config::variable_of(prefix_, key));
    for (const auto* const other : needs) {
      if (option->count() > 0 && other->count() == 0)
        mistakes.add(sources_.at(option), key + " requires " + key_of(*other));
    }
  }
}

std::string Settings::shown(const CLI::Option& option) const {
  if (hidden_.contains(&option)) return "\"(not shown)\"";
  const auto kind = kind_of(option);
  const auto one = [kind](const std::string& text) {
    return kind == config::Kind::integer || kind == config::Kind::boolean ? text
                                                                          : as_toml(without_password(text));
  };
  if (kind != config::Kind::list) {
    if (option.count() > 0) return one(option.results().back());
    return kind == config::Kind::boolean ? "false" : one(option.get_default_str());
  }
  std::string text = "[";
  for (const auto& item : option.results()) text.append(text.size() > 1 ? ", " : "").append(one(item));
  return text + "]";
}

/// As TOML, so that it can be made a file.
void Settings::print() const {
  for (const auto* const option : options()) {
    const auto key = key_of(*option);
    const auto source = sources_.find(option);
    const bool is_set = source != sources_.end();
    if (!is_set && option->get_default_str().empty() && kind_of(*option) != config::Kind::boolean)
      std::cout << "# " << key << " is not set\n";
    else
      std::cout << (is_set || has_what_it_needs(*option) ? "" : "# ") << key << " = " << shown(*option)
                << "  # " << (is_set ? source->second : "default") << '\n';
  }
  print_unused_variables();
}

void Settings::print_unused_variables() const {
  std::vector<std::string> variables{prefix_ + "CONFIG"};
  for (const auto* const option : options())
    variables.push_back(config::variable_of(prefix_, key_of(*option)));
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view line = *each;
    const auto name = line.substr(0, line.find('='));
    if (!name.starts_with(prefix_) || std::ranges::find(variables, name) != variables.end()) continue;
    if (const auto other = config::nearest(name, variables); !other.empty())
      std::cout << "# " << name << " is set, and is no option; did you mean " << other << "?\n";
  }
}

int Settings::fail(const std::string& text) const {
  std::cerr << app_.get_name() << ": " << text << '\n';
  return kWrongUse;
}

/// CLI11 reads the variables whose names it has, so the names are set for its help alone.
int Settings::show_help(const CLI::ParseError& asked) {
  for (auto* const option : options()) option->envname(config::variable_of(prefix_, key_of(*option)));
  return app_.exit(asked);
}

}  // namespace mf::app
