#include "mf/flex/message.hpp"

#include <ostream>

#include "mf/codec/flex/tags.hpp"

namespace mf::flex {

const Value* Message::find(std::string_view name) const noexcept {
  if (name == "src") return &content_->src;
  if (name == "dest") return &content_->dest;
  return content_->attributes.find(name);
}

const Value& Message::operator[](std::string_view name) const {
  const auto* const found = find(name);
  if (found == nullptr) refuse("this message has no attribute " + quoted(name) + ": " + to_string(*this));
  return *found;
}

std::string to_string(const Message& message) {
  std::string text =
      "mf::flex::Message(src=" + to_string(message["src"]) + ", dest=" + to_string(message["dest"]);
  for (const auto& [name, value] : message.attributes()) text += ", " + name + "=" + to_string(value);
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Message& message) {
  return out << to_string(message);
}

}  // namespace mf::flex
