#pragma once
// A descriptor's text (protocol.md section 7) as a tree of views into it. It accepts any text, since that may
// come from a peer: an invalid line is kept by its depth, or skipped, and the counts are bounded.

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

namespace mf::protocol {

/// "doc u32": a field and its type; "name 1: string" with its number; an enum's value and its number.
struct DescriptorMember {
  std::string_view name;
  std::string_view value;
};
using DescriptorMembers = std::vector<DescriptorMember>;

struct DescriptorMethod {
  std::string_view name;
  bool oneway = false;
  std::string_view replicated;  // the pattern
  std::string_view params_tier;
  DescriptorMembers params;
  std::string_view params_stream = "none";
  std::string_view results_tier;
  DescriptorMembers results;
  std::string_view results_stream = "none";
  DescriptorMembers throws;  // names only
};

struct DescriptorType {
  std::string_view head;  // "struct febird", "enum u8 closed"
  DescriptorMembers members;
  /// The word for its members; types with different words cannot be compared by members.
  [[nodiscard]] std::string_view member() const noexcept;
  /// Whether members are identified by numbers, so that their order is irrelevant.
  [[nodiscard]] bool numbered() const noexcept;
};

struct DescriptorTree {
  std::string_view service;
  std::string_view per = "nothing";  // "collection string"
  std::string_view value{};          // of a topic
  std::vector<DescriptorMethod> methods;
  std::map<std::string_view, DescriptorType> types;

  [[nodiscard]] static DescriptorTree read(std::string_view text);
  [[nodiscard]] const DescriptorMethod* method(std::string_view name) const noexcept;
};

}  // namespace mf::protocol
