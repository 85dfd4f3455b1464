// R1. Values of a schema's types in flexible messages, marked with the type's full name and fingerprint
// (docs/protocol.md, section 5c).
//
//   process.send({{"dest", "B"}, {"hit", Hit{…}}});        needs the header <module>.hpp
//   Hit hit = message["hit"].to<Hit>();
//
// A received value is decoded only when to<T>() is called, also one of another version of T, by the rules of
// docs/evolution.md. A value of an unknown type can be forwarded.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "mf/codec/schema_type.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/bytes.hpp"
#include "mf/core/service.hpp"

namespace mf::flex {

/// A type that a sender of its values has described.
class DescribedType {
 public:
  DescribedType() = default;
  DescribedType(const DescribedType&) = delete;
  DescribedType& operator=(const DescribedType&) = delete;
  virtual ~DescribedType() = default;

  [[nodiscard]] virtual const TypeTexts& texts() const noexcept = 0;
  /// A value of this type in the bytes of another version of it, `own`, whose name and fingerprint are given.
  /// Throws Error: SCHEMA_MISMATCH if no rule leads there, DECODE_ERROR for a value that does not go over.
  [[nodiscard]] virtual Bytes convert(const Bytes& data, std::string_view name,
                                      const Fingerprint& fingerprint, const TypeTexts& own) const = 0;
};

/// Those that one sender has described.
using DescribedTypes = std::map<Fingerprint, std::shared_ptr<const DescribedType>>;

/// A value of a declared type in encoded form. Immutable.
class Typed {
 public:
  /// Throws Error(INVALID_ARGUMENT) unless the name is 1 to 1,024 bytes of UTF-8. `described`: what the
  /// sender has said of the type; null: nothing.
  Typed(std::string name, const Fingerprint& fingerprint, Bytes data,
        std::shared_ptr<const DescribedType> described = nullptr);
  /// Throws Error(INVALID_ARGUMENT) for a value that its schema does not allow.
  template <OfSchema T>
  [[nodiscard]] static Typed of(const T& value) {
    return {std::string(SchemaType<T>::kName), SchemaType<T>::kFingerprint, Bytes(to_bytes(value)),
            texts_of<T>()};
  }

  [[nodiscard]] const std::string& name() const noexcept { return content_->name; }
  [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return content_->fingerprint; }
  [[nodiscard]] const Bytes& data() const noexcept { return content_->data; }

  /// Descriptor and annex of the type; null: no sender has described it.
  [[nodiscard]] std::shared_ptr<const TypeTexts> texts() const noexcept;

  /// Is it of T, in this version of it or in another one?
  template <OfSchema T>
  [[nodiscard]] bool is() const noexcept {
    return name() == SchemaType<T>::kName;
  }
  /// Throws Error: SCHEMA_MISMATCH if the value has another type, or a version of T from which no rule leads
  /// to this one, with the reason; DECODE_ERROR if T cannot have it, or the bytes are no value.
  template <OfSchema T>
  [[nodiscard]] T to() const {
    if (is<T>() && fingerprint() == SchemaType<T>::kFingerprint) return from_bytes<T>(data().span()).value();
    const auto bytes = converted(SchemaType<T>::kName, SchemaType<T>::kFingerprint, texts_of<T>());
    return from_bytes<T>(bytes.span()).value();
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
    std::shared_ptr<const DescribedType> described;
    const TypeTexts* own = nullptr;  // of a type of this program
  };
  Typed(std::string name, const Fingerprint& fingerprint, Bytes data, const TypeTexts& own);
  [[nodiscard]] Bytes converted(std::string_view wanted, const Fingerprint& version,
                                const TypeTexts& own) const;

  std::shared_ptr<const Content> content_;
};

}  // namespace mf::flex
