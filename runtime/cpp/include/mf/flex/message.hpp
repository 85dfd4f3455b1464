// A flexible message as its receiver holds it: attributes of any names, and `src` and `dest`.
//
//   mf::flex::Message m = process.recv({{"tag", "input"}});
//   m.src(), m["data"].to<std::vector<int>>(), m.contains("data"), m.size()
//
// Immutable; copies share what is in it.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/flex/attributes.hpp"

namespace mf::flex {

class Message {
 public:
  Message(std::string src, std::string dest, Attributes attributes)
      : content_(std::make_shared<const Content>(
            Content{.src = std::move(src), .dest = std::move(dest), .attributes = std::move(attributes)})) {}

  /// The process that sent it.
  [[nodiscard]] const std::string& src() const noexcept { return content_->src.get<std::string>(); }
  /// To whom it was sent: a process, or "GROUP/*".
  [[nodiscard]] const std::string& dest() const noexcept { return content_->dest.get<std::string>(); }
  /// Null: there is none. `src` and `dest` are attributes, too.
  [[nodiscard]] const Value* find(std::string_view name) const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// Throws Error(INVALID_ARGUMENT), in words, for a name that the message does not have.
  [[nodiscard]] const Value& operator[](std::string_view name) const;
  /// How many attributes its sender gave it: 0 for an empty message, which is one all the same.
  [[nodiscard]] std::size_t size() const noexcept { return attributes().size(); }
  /// What the sender gave it, without `src` and `dest`.
  [[nodiscard]] const Attributes& attributes() const noexcept { return content_->attributes; }

 private:
  struct Content {
    Value src;
    Value dest;
    Attributes attributes;
  };
  std::shared_ptr<const Content> content_;
};

/// `mf::flex::Message(src='A', dest='B', tag=42)`; what is long is cut.
[[nodiscard]] std::string to_string(const Message& message);
std::ostream& operator<<(std::ostream& out, const Message& message);

}  // namespace mf::flex
