// Access files: what each identity may do. The first line that fits an identity and what it asks for decides;
// what no line fits is denied. A subscription asks for all agents of its pattern, a watch for all names of
// its own: a line that allows fits if it covers all of them, a line that denies if it covers any.
//
//     group ops = uid:0, spiffe://example.org/ops/*
//     allow @ops           administer
//     allow dns:a.example  register sf1.search.* per books* at tls://a.example:7000-7999 weight 10
//     deny  anyone         call sf1.search.Index.rebuild
//     allow authenticated  call sf1.search.*
//
//     line   = ("allow" | "deny") identity action [object] ["per" agent] ["at" address] ["weight" number]
//            | "group" name "=" identity {"," identity}
//     identity = "anyone" | "authenticated" | "@" group | a pattern of names as Identity::name has them
//     action = "register" | "call" | "lead" | "watch" | "publish" | "subscribe" | "send" | "replicate"
//            | "list" | "administer" | "relay"
//
// Objects and agents are patterns (mf/access/glob.hpp). The object of a call is service and method joined by
// a dot; "list", "administer" and "relay" have none. "at" and "weight" belong to "register": the address at
// which the server may be found, with a port or a range of ports, and the largest weight that it may ask for.
// A path with a part "." or ".." fits none. A '#' at the start of a word begins a comment.
//
// A file is used only if it belongs to root or to the user of this process, and no other user may write to
// it.
//
// A set of rules never changes: any number of threads may ask it at once. Reading a file anew makes another.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mf/core/identity.hpp"
#include "mf/core/outcome.hpp"

namespace mf::access {

enum class Action : std::uint8_t {
  register_,
  call,
  lead,
  watch,
  publish,
  subscribe,
  send,
  replicate,
  list,
  administer,
  relay,
};
inline constexpr std::size_t kActions = 11;

[[nodiscard]] std::string_view name_of(Action action) noexcept;

/// Whether a part of the path is "." or "..": it may lead out of the folder that it begins with.
[[nodiscard]] bool has_dots(std::string_view path) noexcept;

/// What an identity asks for.
struct Wish {
  Action action = Action::call;
  std::string_view object{};   ///< of a call: service and method, joined by a dot; of a watch: a pattern
  std::string_view agent{};    ///< empty: the service or topic has no agents; of a subscription: a pattern
  std::string_view address{};  ///< of a registration: "tls://host:port"
  std::uint32_t weight = 1;    ///< of a registration
};

struct Decision {
  bool allowed = false;
  std::uint32_t line = 0;  ///< that decided; 0: no line fits

  friend bool operator==(const Decision&, const Decision&) = default;
};

class Rules {
 public:
  /// Reads the text of an access file. INVALID_ARGUMENT names every mistake (at most twenty) as
  /// `name:line: sentence`, each in a line of its own.
  [[nodiscard]] static Outcome<std::shared_ptr<const Rules>> parse(std::string_view text,
                                                                   std::string_view name);

  /// The rules of the access file at `path`; a file that cannot be read is INVALID_ARGUMENT, too.
  [[nodiscard]] static Outcome<std::shared_ptr<const Rules>> load(const std::string& path);

  /// Whether `identity` may do what it wishes, and by which line.
  [[nodiscard]] Decision decide(const Identity& identity, const Wish& wish) const;
  /// The number of lines that allow or deny something.
  [[nodiscard]] std::size_t size() const noexcept { return rules_.size(); }

  // ---- for the parser

  struct Who {
    bool authenticated = false;  // any identity but none
    std::string pattern;         // of a name; "*" also fits where there is no identity, unless authenticated

    [[nodiscard]] bool fits(const Identity& identity) const noexcept;
  };
  struct Where {
    std::string scheme;
    std::string host;  // a pattern
    std::uint16_t first_port = 0;
    std::uint16_t last_port = 65535;

    [[nodiscard]] bool fits(std::string_view address) const noexcept;
  };
  struct Rule {
    bool allows = false;
    Action action = Action::call;
    std::vector<Who> whos;
    std::string object = "*";
    std::string agent = "*";
    std::optional<Where> where{};
    std::optional<std::uint32_t> weight{};
    std::uint32_t line = 0;

    /// Whether all but the identity fits.
    [[nodiscard]] bool fits(const Wish& wish) const noexcept;
  };
  explicit Rules(std::vector<Rule> rules);

 private:
  // The rules that may fit a text are found by the literal prefixes of their patterns, first of the identity,
  // then of the object, then of the agent; each place lists rules in the order of their lines.
  using Places = std::vector<std::uint32_t>;
  template <class Next>
  struct ByPrefix {
    std::map<std::string, Next, std::less<>> of;
    std::vector<std::size_t> lengths;  // of the prefixes, ascending

    /// Calls `act` with the value of each stored prefix of the text.
    template <class Do>
    void each(std::string_view text, Do&& act) const {
      for (const auto length : lengths) {
        if (length > text.size()) return;
        if (const auto found = of.find(text.substr(0, length)); found != of.end()) act(found->second);
      }
    }
    /// Calls `act` with the value of each stored prefix that is longer than the text and begins with it.
    template <class Do>
    void each_longer(std::string_view text, Do&& act) const {
      for (auto at = of.upper_bound(text); at != of.end() && at->first.starts_with(text); ++at)
        act(at->second);
    }
    Next& at(std::string_view prefix);
  };
  using ByAgent = ByPrefix<Places>;
  using ByObject = ByPrefix<ByAgent>;
  using ByIdentity = ByPrefix<ByObject>;

  std::vector<Rule> rules_;
  std::vector<ByIdentity> index_;  // of each action
};

}  // namespace mf::access
