#include "mf/protocol/descriptor_diff.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "protocol/descriptor_tree.hpp"

namespace mf::protocol {
namespace {

constexpr std::size_t kMaxSentences = 8;

/// The last component of a full name.
std::string_view short_name(std::string_view full) noexcept {
  const std::size_t dot = full.rfind('.');
  return dot == std::string_view::npos ? full : full.substr(dot + 1);
}

bool in_a_name(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// Calls each(name or other text) for the pieces of a type expression, in order.
template <class Each>
void for_pieces(std::string_view expression, Each&& each) {
  while (!expression.empty()) {
    const bool name = in_a_name(expression.front());
    std::size_t end = 1;
    while (end < expression.size() && in_a_name(expression[end]) == name) ++end;
    each(expression.substr(0, end));
    expression.remove_prefix(end);
  }
}

/// list<sf1.search.Hit> as list<Hit>.
std::string short_expression(std::string_view expression) {
  std::string text;
  for_pieces(expression,
             [&](std::string_view piece) { text += in_a_name(piece.front()) ? short_name(piece) : piece; });
  return text;
}

const DescriptorMember* find(const DescriptorMembers& members, std::string_view name) noexcept {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
}

class Comparison {
 public:
  Comparison(const DescriptorTree& here, const DescriptorTree& there)
      : here_(here),
        there_(there),
        service_(short_name(here.service.empty() ? there.service : here.service)) {}

  std::string words() {
    if (here_.per != there_.per)
      say(service_,
          "per " + short_expression(here_.per) + " here, per " + short_expression(there_.per) + " there");
    if (here_.value != there_.value)
      say(service_, "value " + value(here_) + " here, " + value(there_) + " there");
    reached(std::string(service_), {here_.value});
    for (const DescriptorMethod& ours : here_.methods) {
      const DescriptorMethod* theirs = there_.method(ours.name);
      if (theirs != nullptr)
        compare(ours, *theirs);
      else
        say(place(ours), "method only here");
    }
    for (const DescriptorMethod& theirs : there_.methods)
      if (here_.method(theirs.name) == nullptr) say(place(theirs), "method only there");
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string place(const DescriptorMethod& method) const {
    return std::string(service_) + "." + std::string(method.name);
  }

  void say(std::string_view place, std::string_view what) {
    if (++sentences_ > kMaxSentences) return;
    if (!text_.empty()) text_ += "; ";
    text_ += place;
    text_ += ": ";
    text_ += what;
  }

  void compare(const DescriptorMethod& ours, const DescriptorMethod& theirs) {
    const std::string at = place(ours);
    if (ours.oneway != theirs.oneway)
      say(at, ours.oneway ? "one-way here, not there" : "one-way there, not here");
    if (ours.replicated != theirs.replicated)
      say(at, replicated(ours) + " here, " + replicated(theirs) + " there");
    tiers(at, "parameters", ours.params_tier, theirs.params_tier);
    members(at, "parameter ", ours.params, theirs.params);
    streams(at, "parameter", ours.params_stream, theirs.params_stream);
    if (ours.oneway == theirs.oneway) {
      tiers(at, "results", ours.results_tier, theirs.results_tier);
      members(at, "result ", ours.results, theirs.results);
      streams(at, "result", ours.results_stream, theirs.results_stream);
    }
    members(at, "throws ", ours.throws, theirs.throws);
    types(at, ours);
  }

  void tiers(const std::string& at, std::string_view what, std::string_view ours, std::string_view theirs) {
    if (ours != theirs)
      say(at, std::string(what) + ": " + std::string(ours) + " here, " + std::string(theirs) + " there");
  }

  static std::string value(const DescriptorTree& tree) {
    return tree.value.empty() ? "none" : short_expression(tree.value);
  }

  static std::string replicated(const DescriptorMethod& method) {
    if (method.replicated.empty()) return "not replicated";
    return "replicated " + std::string(method.replicated);
  }

  void streams(const std::string& at, std::string_view what, std::string_view ours, std::string_view theirs) {
    if (ours != theirs)
      say(at, std::string(what) + " stream: " + short_expression(ours) + " here, " +
                  short_expression(theirs) + " there");
  }

  /// `what` precedes a member's name: "parameter ", "field Hit.". Names of errors are full; the rest are
  /// short.
  void members(const std::string& at, const std::string& what, const DescriptorMembers& ours,
               const DescriptorMembers& theirs, bool ordered = true) {
    bool same_names = ours.size() == theirs.size();
    for (const DescriptorMember& member : ours) {
      const std::string named = what + std::string(short_name(member.name));
      const DescriptorMember* other = find(theirs, member.name);
      if (other == nullptr) {
        same_names = false;
        say(at, named + ": only here");
      } else if (other->value != member.value) {
        say(at, named + ": " + short_expression(member.value) + " here, " + short_expression(other->value) +
                    " there");
      }
    }
    for (const DescriptorMember& member : theirs) {
      if (find(ours, member.name) != nullptr) continue;
      same_names = false;
      say(at, what + std::string(short_name(member.name)) + ": only there");
    }
    if (same_names && ordered) order(at, what, ours, theirs);
  }

  void order(const std::string& at, const std::string& what, const DescriptorMembers& ours,
             const DescriptorMembers& theirs) {
    for (std::size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].name == theirs[i].name) continue;
      const auto other = static_cast<std::size_t>(find(theirs, ours[i].name) - theirs.data());
      say(at, what + std::string(short_name(ours[i].name)) + ": position " + std::to_string(i + 1) +
                  " here, " + std::to_string(other + 1) + " there");
      return;
    }
  }

  /// Compares the types that the method reaches here and that have the same name there, each once: those in
  /// its own lines, then those that these mention, and so on.
  void types(const std::string& at, const DescriptorMethod& method) {
    std::vector<std::string_view> mentioned;
    for (const DescriptorMember& member : method.params) mentioned.push_back(member.value);
    mentioned.push_back(method.params_stream);
    for (const DescriptorMember& member : method.results) mentioned.push_back(member.value);
    mentioned.push_back(method.results_stream);
    for (const DescriptorMember& member : method.throws) mentioned.push_back(member.name);
    reached(at, mentioned);
  }

  void reached(const std::string& at, const std::vector<std::string_view>& mentioned) {
    std::vector<std::string_view> reached;
    const auto mention = [&](std::string_view expression) {
      for_pieces(expression, [&](std::string_view piece) {
        if (here_.types.contains(piece) && seen_.insert(piece).second) reached.push_back(piece);
      });
    };
    for (const auto expression : mentioned) mention(expression);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const DescriptorType& ours = here_.types.at(reached[i]);
      for (const DescriptorMember& member : ours.members) mention(member.value);
      const auto theirs = there_.types.find(reached[i]);
      if (theirs != there_.types.end()) compare(at, short_name(reached[i]), ours, theirs->second);
    }
  }

  void compare(const std::string& at, std::string_view name, const DescriptorType& ours,
               const DescriptorType& theirs) {
    const std::string named(name);
    if (ours.head != theirs.head)
      say(at,
          "type " + named + ": " + std::string(ours.head) + " here, " + std::string(theirs.head) + " there");
    if (ours.member() != theirs.member() || ours.numbered() != theirs.numbered()) return;
    const bool ordered = ours.member() == "field" && !ours.numbered();
    members(at, std::string(ours.member()) + " " + named + ".", ours.members, theirs.members, ordered);
  }

  const DescriptorTree& here_;
  const DescriptorTree& there_;
  std::string_view service_;
  std::set<std::string_view> seen_;
  std::string text_;
  std::size_t sentences_ = 0;
};

}  // namespace

std::string descriptor_difference(std::string_view here, std::string_view there) {
  if (here == there) return {};
  const DescriptorTree ours = DescriptorTree::read(here);
  const DescriptorTree theirs = DescriptorTree::read(there);
  std::string words = Comparison(ours, theirs).words();
  // Remaining differences: the order of methods, or of members with numbers, or an invalid descriptor.
  if (words.empty())
    words = std::string(short_name(ours.service)) + ": the descriptors differ in the order of their lines";
  return words;
}

}  // namespace mf::protocol
