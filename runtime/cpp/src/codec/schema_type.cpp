#include "mf/codec/schema_type.hpp"

#include <map>
#include <vector>

namespace mf {

TypeTexts texts_of(const TypeText& type) {
  std::map<std::string_view, const TypeText*> found;  // as a descriptor sorts them
  std::vector<const TypeText*> pending{&type};
  while (!pending.empty()) {
    const auto* const each = pending.back();
    pending.pop_back();
    if (!found.try_emplace(each->name, each).second) continue;
    for (const auto held : each->holds) pending.push_back(&held());
  }
  TypeTexts texts{.descriptor = "value " + std::string(type.name) + "\n",
                  .annex = "annex " + std::string(type.name) + "\n"};
  for (const auto& [name, each] : found) {
    texts.descriptor += each->lines;
    if (each->annex.empty()) continue;
    texts.annex.append("type ").append(name).append("\n").append(each->annex);
  }
  return texts;
}

}  // namespace mf
