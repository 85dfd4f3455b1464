// R1. Values of a schema's types in flexible messages, marked with the type's full name and fingerprint
// (docs/protocol.md, section 5c).
//
//   process.send({{"dest", "B"}, {"hit", Hit{…}}});        needs the header <module>.schema.hpp
//   Hit hit = message["hit"].to<Hit>();
//
// A received value is decoded only when to<T>() is called. A value of an unknown type can be forwarded.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/schema_type.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/service.hpp"

namespace mf::flex {

/// A value of a declared type in encoded form. Immutable.
class Typed {
 public:
  /// Throws Error(INVALID_ARGUMENT) unless the name is 1 to 1,024 bytes of UTF-8.
  Typed(std::string name, const Fingerprint& fingerprint, Bytes data);
  /// Throws Error(INVALID_ARGUMENT) for a value that its schema does not allow.
  template <OfSchema T>
  [[nodiscard]] static Typed of(const T& value) {
    return {std::string(SchemaType<T>::kName), SchemaType<T>::kFingerprint, Bytes(to_bytes(value))};
  }

  [[nodiscard]] const std::string& name() const noexcept { return content_->name; }
  [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return content_->fingerprint; }
  [[nodiscard]] const Bytes& data() const noexcept { return content_->data; }

  template <OfSchema T>
  [[nodiscard]] bool is() const noexcept {
    return name() == SchemaType<T>::kName && fingerprint() == SchemaType<T>::kFingerprint;
  }
  /// Throws Error(SCHEMA_MISMATCH) if the value has another type or another version of T, and
  /// Error(DECODE_ERROR) if the bytes are no value of T.
  template <OfSchema T>
  [[nodiscard]] T to() const {
    if (!is<T>()) mismatch(SchemaType<T>::kName);
    return from_bytes<T>(data().span()).value();
  }

  friend bool operator==(const Typed& left, const Typed& right) noexcept {
    return left.content_ == right.content_ ||
           (left.name() == right.name() && left.fingerprint() == right.fingerprint() &&
            left.data() == right.data());
  }

 private:
  struct Content {
    std::string name;
    Fingerprint fingerprint{};
    Bytes data;
  };
  [[noreturn]] void mismatch(std::string_view wanted) const;

  std::shared_ptr<const Content> content_;
};

}  // namespace mf::flex
