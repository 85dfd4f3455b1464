#include "mf/codec/flex/declared.hpp"

#include "mf/codec/flex/tags.hpp"
#include "mf/core/text.hpp"

namespace mf::flex {

Typed::Typed(std::string name, const Fingerprint& fingerprint, Bytes data,
             std::shared_ptr<const DescribedType> described) {
  if (name.empty() || name.size() > kMaxTypeName)
    refuse("the name of a type has 1 to " + std::to_string(kMaxTypeName) + " bytes, not " +
           std::to_string(name.size()));
  if (!is_utf8(name)) refuse("the name of a type is no UTF-8");
  content_ = std::make_shared<const Content>(Content{.name = std::move(name),
                                                     .fingerprint = fingerprint,
                                                     .data = std::move(data),
                                                     .described = std::move(described)});
}

Typed::Typed(std::string name, const Fingerprint& fingerprint, Bytes data, const TypeTexts& own)
    : content_(std::make_shared<const Content>(Content{.name = std::move(name),
                                                       .fingerprint = fingerprint,
                                                       .data = std::move(data),
                                                       .described = nullptr,
                                                       .own = &own})) {}

std::shared_ptr<const TypeTexts> Typed::texts() const noexcept {
  if (content_->own != nullptr) return {std::shared_ptr<const void>(), content_->own};
  if (content_->described == nullptr) return nullptr;
  return {content_->described, &content_->described->texts()};
}

Bytes Typed::converted(std::string_view wanted, const Fingerprint& version, const TypeTexts& own) const {
  const bool same = name() == wanted;
  if (same && content_->described != nullptr)
    return content_->described->convert(data(), wanted, version, own);
  const auto why = same ? std::string("of another version of that type") : "not of " + std::string(wanted);
  throw Error(Code::schema_mismatch, Execution::not_executed, "the value is of " + name() + ", " + why);
}

}  // namespace mf::flex
