#include "mf/codec/flex/declared.hpp"

#include "codec/flex/tags.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {

Typed::Typed(std::string name, const Fingerprint& fingerprint, Bytes data) {
  if (name.empty() || name.size() > kMaxTypeName)
    refuse("the name of a type has 1 to " + std::to_string(kMaxTypeName) + " bytes, not " +
           std::to_string(name.size()));
  if (!is_utf8(name)) refuse("the name of a type is no UTF-8");
  content_ = std::make_shared<const Content>(
      Content{.name = std::move(name), .fingerprint = fingerprint, .data = std::move(data)});
}

void Typed::mismatch(std::string_view wanted) const {
  const auto why =
      name() == wanted ? std::string("of another version of that type") : "not of " + std::string(wanted);
  throw Error(Code::schema_mismatch, Execution::not_executed, "the value is of " + name() + ", " + why);
}

}  // namespace mf::flex
