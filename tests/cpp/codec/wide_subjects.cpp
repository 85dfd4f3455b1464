#include "wide_subjects.hpp"

#include <map>

#include "vectors/wide.hpp"

namespace mf::codec {
const std::vector<Subject>& subjects() {
  namespace wide = ::vectors::wide;
#define MF_memcpy(type) wide::type
#define MF_febird(type) wide::type
#define MF_archive(type) wide::type
#define MF_graph(type) Graph<wide::type>
#define MF_WIDE(kind, type) subject<MF_##kind(type)>("vectors.wide." #type),
  static const std::vector<Subject> kAll = {
#include "wide_types.inc"
  };
#undef MF_WIDE
#undef MF_memcpy
#undef MF_febird
#undef MF_archive
#undef MF_graph
  return kAll;
}

const Subject& subject_of(std::string_view type) {
  static const std::map<std::string_view, const Subject*> kByName = [] {
    std::map<std::string_view, const Subject*> by_name;
    for (const auto* all : {&subjects(), &custom_subjects()}) {
      for (const Subject& each : *all) by_name.emplace(each.name, &each);
    }
    return by_name;
  }();
  return *kByName.at(type);
}

}  // namespace mf::codec
