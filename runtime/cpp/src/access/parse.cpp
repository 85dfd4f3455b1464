#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include "access/suggestion.hpp"
#include "mf/access/names.hpp"
#include "mf/access/rules.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/file_writers.hpp"
#include "mf/core/text.hpp"
#include "mf/core/weight.hpp"

namespace mf::access {
namespace {

constexpr std::size_t kMostMistakes = 20;
constexpr std::size_t kMostRules = 100'000;
constexpr std::string_view kSpace = " \t\r";

/// The rest of a line, word by word.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) { skip(); }

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  /// Empty at the end of the line.
  std::string_view next() {
    const auto end = std::min(rest_.find_first_of(kSpace), rest_.size());
    const auto word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    skip();
    return word;
  }

 private:
  void skip() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
    if (rest_.starts_with('#')) rest_ = {};
  }

  std::string_view rest_;
};

/// Does `act` with each line and its number.
template <class Do>
void for_each_line(std::string_view text, Do&& act) {
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    act(text.substr(0, end), number);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

/// A mistake in a line: what is wrong with it.
struct Mistake {
  std::string what;
};

template <class Number>
std::optional<Number> number(std::string_view digits) {
  Number value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

class Parser {
 public:
  /// `text`: of the whole file.
  Parser(std::string_view text, std::string_view name) : name_(name) {
    for_each_line(text, [this](std::string_view line, std::uint32_t number) {
      Words words(line);
      if (words.next() == "group") all_groups_.try_emplace(words.next(), number);
    });
  }

  void line(std::string_view text, std::uint32_t number) {
    line_ = number;
    try {
      if (!is_utf8(text)) throw Mistake{"the line is not UTF-8"};
      if (text.find('\0') != std::string_view::npos) throw Mistake{"the line holds a NUL character"};
      Words words(text);
      if (!words.empty()) statement(words);
    } catch (const Mistake& mistake) {
      if (++count_ <= kMostMistakes)
        mistakes_.append(mistakes_.empty() ? "" : "\n")
            .append(name_)
            .append(":" + std::to_string(line_) + ": " + mistake.what);
    }
  }

  Outcome<std::shared_ptr<const Rules>> end() && {
    if (count_ > kMostMistakes)
      mistakes_ += "\n" + std::string(name_) + ": and " + std::to_string(count_ - kMostMistakes) + " more";
    if (count_ != 0) return not_executed(Code::invalid_argument, std::move(mistakes_));
    return std::shared_ptr<const Rules>(std::make_shared<Rules>(std::move(rules_)));
  }

 private:
  void statement(Words& words) {
    static constexpr std::array<std::string_view, 3> kKinds{"allow", "deny", "group"};
    const auto kind = words.next();
    if (kind == "group") return group(words);
    if (kind != "allow" && kind != "deny")
      throw Mistake{"a line begins with allow, deny or group, not with " + quoted(kind) +
                    suggestion(kind, kKinds)};
    if (rules_.size() == kMostRules)
      throw Mistake{"there are more than " + std::to_string(kMostRules) + " lines"};
    Rules::Rule rule{.allows = kind == "allow", .whos = {}, .line = line_};
    if (words.empty()) throw Mistake{"it names no identity: anyone, authenticated, @group or a name"};
    rule.whos = members(words.next());
    rule.action = action(words);
    rest(rule, words);
    rules_.push_back(std::move(rule));
  }

  void group(Words& words) {
    const auto name = words.next();
    if (name.empty() || words.next() != "=")
      throw Mistake{"a group is written: group name = identity, identity"};
    if (groups_.contains(name)) throw Mistake{"there is a group " + quoted(name) + " already"};
    std::vector<Rules::Who> whos;
    auto rest = words.rest();
    if (const auto comment = rest.find(" #"); comment != std::string_view::npos)
      rest = rest.substr(0, comment);
    for (bool more = true; more;) {
      const auto comma = rest.find(',');
      more = comma != std::string_view::npos;
      Words member(rest.substr(0, comma));
      const auto word = member.next();
      if (word.empty() || !member.empty())
        throw Mistake{"the members of a group are separated by commas: group name = identity, identity"};
      auto found = members(word);
      whos.insert(whos.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
      rest = more ? rest.substr(comma + 1) : std::string_view();
    }
    groups_.emplace(name, std::move(whos));
  }

  [[nodiscard]] std::vector<Rules::Who> members(std::string_view word) const {
    if (word == "anyone") return {{.authenticated = false, .pattern = "*"}};
    if (word == "authenticated") return {{.authenticated = true, .pattern = "*"}};
    if (word.starts_with('@')) return group_of(word.substr(1));
    if (auto why = objection_to_name(word); !why.empty()) throw Mistake{std::move(why)};
    // Names of hosts have no case, and identities have them in lower case.
    return {{.authenticated = false, .pattern = word.starts_with("dns:") ? lower(word) : std::string(word)}};
  }

  [[nodiscard]] std::vector<Rules::Who> group_of(std::string_view name) const {
    if (const auto found = groups_.find(name); found != groups_.end()) return found->second;
    const auto no_group = "there is no group " + quoted(name) + " above";
    if (const auto below = all_groups_.find(name); below != all_groups_.end() && below->second > line_)
      throw Mistake{no_group + ": it is defined below, in line " + std::to_string(below->second)};
    std::vector<std::string_view> names;
    for (const auto& [each, whos] : groups_) names.push_back(each);
    throw Mistake{no_group + suggestion(name, names)};
  }

  static Action action(Words& words) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < kActions; ++i) names.push_back(name_of(static_cast<Action>(i)));
    const auto word = words.next();
    const auto found = std::ranges::find(names, word);
    if (found != names.end()) return static_cast<Action>(found - names.begin());
    if (word.empty()) throw Mistake{"it does not say what is allowed or denied, for instance: call *"};
    throw Mistake{quoted(word) + " is no action" + suggestion(word, names)};
  }

  static void rest(Rules::Rule& rule, Words& words) {
    const auto action = rule.action;
    const bool alone = action == Action::list || action == Action::administer || action == Action::relay;
    if (!alone) {
      rule.object = words.next();
      if (rule.object.empty())
        throw Mistake{"it does not say what '" + std::string(name_of(action)) + "' is about, for instance *"};
    }
    if (action == Action::call) check_method(rule.object);
    std::vector<std::string_view> before;
    while (!words.empty()) {
      const auto word = words.next();
      const auto value = words.next();
      if (std::ranges::find(before, word) != before.end())
        throw Mistake{quoted(word) + " is given twice; a line has one"};
      before.push_back(word);
      if (word == "per" && !alone && has_agents(action)) {
        if (value.empty()) throw Mistake{"'per' is followed by an agent, for instance: per books*"};
        rule.agent = value;
      } else if (word == "at" && action == Action::register_) {
        rule.where = where(value);
      } else if (word == "weight" && action == Action::register_) {
        rule.weight = number<std::uint32_t>(value);
        if (!rule.weight || *rule.weight == 0 || *rule.weight > kMostWeight)
          throw Mistake{"'weight' is followed by a number from 1 to " + std::to_string(kMostWeight) +
                        ", not by " + quoted(value)};
      } else {
        throw Mistake{quoted(word) + " is not expected here; " + expected(action)};
      }
    }
  }

  /// What is called is a service and its method. Services are written like Greeter, and modules and methods
  /// like greet: so the method is missing in hello.Greeter.
  static void check_method(std::string_view object) {
    const auto is_upper = [](std::string_view name) {
      return !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
    };
    if (object.find('*') != std::string_view::npos) return;
    const auto dot = object.rfind('.');
    const auto above = object.substr(0, dot == std::string_view::npos ? 0 : dot);
    const auto last = dot == std::string_view::npos ? object : object.substr(dot + 1);
    const auto service = above.substr(above.rfind('.') + 1);  // npos + 1 is 0
    if (!above.empty() && !last.empty() && (!is_upper(last) || is_upper(service))) return;
    const bool ends = object.ends_with('.');
    throw Mistake{quoted(object) + " names no method" +
                  did_you_mean(std::string(object) + (ends ? "*" : ".*"))};
  }

  static bool has_agents(Action action) noexcept {
    return action == Action::register_ || action == Action::call || action == Action::lead ||
           action == Action::publish || action == Action::subscribe;
  }

  static std::string expected(Action action) {
    const auto name = "behind '" + std::string(name_of(action)) + "' ";
    if (action == Action::register_) return name + "stand a service, and then per, at and weight";
    if (has_agents(action)) return name + "stand an object, and then per with an agent";
    if (action == Action::list || action == Action::administer || action == Action::relay)
      return name + "the line ends";
    return name + "comes an object, and the line ends";
  }

  static bool is_of_host(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_*[]:%").find(c) != std::string_view::npos;
  }

  static Rules::Where where(std::string_view text) {
    static constexpr std::array<std::string_view, 3> kSchemes{"tcp", "tls", "unix"};
    const auto end = text.find("://");
    const auto wrong = [&](std::string_view what) {
      return Mistake{quoted(text) + " is no place: " + std::string(what) +
                     "; for instance tls://*.example:7000-7999 or unix:///run/search/*"};
    };
    if (end == std::string_view::npos) throw wrong("it has no scheme");
    Rules::Where where{.scheme = std::string(text.substr(0, end)), .host = {}};
    if (std::ranges::find(kSchemes, where.scheme) == kSchemes.end())
      throw wrong("servers are found at tcp, tls or unix");
    const auto authority = text.substr(end + 3);
    if (authority.empty()) throw wrong("it has no host");
    where.host = authority;
    if (where.scheme == "unix") {
      if (has_dots(authority)) throw wrong("its path has a part that is '.' or '..'");
      return where;
    }
    const auto colon = authority.rfind(':');
    if (colon == std::string_view::npos || authority.ends_with(']')) throw wrong("it has no port");
    where.host = authority.substr(0, colon);
    if (!std::ranges::all_of(where.host, is_of_host)) throw wrong("no host has such characters");
    const auto ports = authority.substr(colon + 1);
    if (ports == "*") return where;
    const auto dash = ports.find('-');
    const auto first = number<std::uint16_t>(ports.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number<std::uint16_t>(ports.substr(dash + 1));
    if (!first || !last || *first > *last) throw wrong("its ports are no port, no range and no *");
    where.first_port = *first;
    where.last_port = *last;
    return where;
  }

  std::string_view name_;
  std::map<std::string_view, std::uint32_t> all_groups_;  // of the file, with their first lines
  std::uint32_t line_ = 0;
  std::vector<Rules::Rule> rules_;
  std::map<std::string, std::vector<Rules::Who>, std::less<>> groups_;
  std::string mistakes_;
  std::size_t count_ = 0;
};

}  // namespace

Outcome<std::shared_ptr<const Rules>> Rules::parse(std::string_view text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(text, name);
  for_each_line(text, [&](std::string_view line, std::uint32_t number) { parser.line(line, number); });
  return std::move(parser).end();
}

Outcome<std::shared_ptr<const Rules>> Rules::load(const std::string& path) {
  const auto unread = [&](int error) {
    return not_executed(Code::invalid_argument, "the access file " + path + " cannot be read: " +
                                                    std::generic_category().message(error));
  };
  // O_NONBLOCK: a pipe in its place must not hold up the program.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"), &std::fclose);
  struct stat found{};
  if (!file || ::fstat(descriptor, &found) != 0) return unread(errno);
  if (const auto why = objection_to(found, Readers::all); !why.empty())
    return not_executed(Code::invalid_argument, "the access file " + path + " cannot be used: " + why);
  std::string text;
  for (std::array<char, 65536> block{};;) {
    const auto size = std::fread(block.data(), 1, block.size(), file.get());
    text.append(block.data(), size);
    if (size < block.size()) break;
  }
  if (std::ferror(file.get()) != 0) return unread(errno);
  return parse(text, path);
}

}  // namespace mf::access
