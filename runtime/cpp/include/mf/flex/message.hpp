// A received flexible message: attributes with any names, and `src` and `dest`.
//
//   mf::flex::Message m = process.recv({{"tag", "input"}});
//   m.src(), m["data"].to<std::vector<int>>(), m.contains("data"), m.size()
//
// It is immutable; copies share its content.
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

  /// The name of the sending process.
  [[nodiscard]] const std::string& src() const noexcept { return content_->src.get<std::string>(); }
  /// The destination: a process, or "GROUP/*".
  [[nodiscard]] const std::string& dest() const noexcept { return content_->dest.get<std::string>(); }
  /// Null if there is none. `src` and `dest` are attributes, too.
  [[nodiscard]] const Value* find(std::string_view name) const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != nullptr; }
  /// Throws Error(INVALID_ARGUMENT) for a name that the message does not have.
  [[nodiscard]] const Value& operator[](std::string_view name) const;
  /// The number of attributes without `src` and `dest`; 0 for an empty message.
  [[nodiscard]] std::size_t size() const noexcept { return attributes().size(); }
  /// The attributes without `src` and `dest`.
  [[nodiscard]] const Attributes& attributes() const noexcept { return content_->attributes; }

 private:
  struct Content {
    Value src;
    Value dest;
    Attributes attributes;
  };
  std::shared_ptr<const Content> content_;
};

/// `mf::flex::Message(src='A', dest='B', tag=42)`; long values are cut.
[[nodiscard]] std::string to_string(const Message& message);
std::ostream& operator<<(std::ostream& out, const Message& message);

}  // namespace mf::flex
