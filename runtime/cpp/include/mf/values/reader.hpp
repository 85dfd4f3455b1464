// R3. Reads files of values that say themselves what they hold (docs/evolution.md, "Values in files").
//
//   #include "search.hpp"
//   mf::ValueReader<Hit> hits("hits.mfv");
//   while (auto hit = hits.next()) use(hit->value());
//
// The file may be of any earlier or later schema that Hit can be read from. It is never in memory as a whole.
// A reader is used by one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mf/codec/graph.hpp"
#include "mf/codec/schema_type.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/outcome.hpp"
#include "mf/values/source.hpp"

namespace mf {

struct ValueReaderOptions {
  /// The full name of the type in the schema that wrote the file, if that is another one.
  std::string was;
};

namespace values {

/// The declared type of what a program reads or writes: of mf::Graph<Node> it is Node.
template <class T>
struct Declares {
  using Type = T;
};
template <class T>
struct Declares<Graph<T>> {
  using Type = T;
};
template <class T>
concept Stored = OfSchema<typename Declares<T>::Type>;

/// What all readers share: from the bytes of a file to bytes of the reader's schema.
class Reading {
 public:
  Reading(Source source, std::string name, const TypeTexts& own, const std::string& was);
  Reading(Reading&&) noexcept;
  Reading& operator=(Reading&&) noexcept;
  ~Reading();

  /// In place until the next call. Nothing: no more values come.
  [[nodiscard]] std::optional<Outcome<std::span<const std::byte>>> next();
  /// Of the value that next() has given.
  [[nodiscard]] Failure malformed(const DecodeError& error) const;

  [[nodiscard]] const TypeTexts& texts() const noexcept;
  [[nodiscard]] std::uint64_t number() const noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept;
  [[nodiscard]] bool is_cut() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace values

template <values::Stored T>
class ValueReader {
 public:
  using Type = typename values::Declares<T>::Type;

  /// Throws Error: UNAVAILABLE if the file cannot be read, DECODE_ERROR if it is no file of values or is
  /// damaged, and SCHEMA_MISMATCH if no rule leads from its schema to that of T.
  explicit ValueReader(const std::filesystem::path& path, const ValueReaderOptions& options = {})
      : ValueReader(values::file_source(path), path.string(), options) {}
  /// `name`: what the file is called in words.
  ValueReader(values::Source source, std::string name, const ValueReaderOptions& options = {})
      : reading_(std::move(source), std::move(name), texts_of<Type>(), options.was) {}

  /// The next value; nothing at the end of the file. A failure, DECODE_ERROR, is of this value alone if it
  /// has no equal in the schema of T, or its bytes are none: it has number, offset and path, and the next
  /// value can be read. Where the file is cut off or damaged, a failure comes once, and then the end.
  [[nodiscard]] std::optional<Outcome<T>> next() {
    auto bytes = reading_.next();
    if (!bytes) return std::nullopt;
    if (!*bytes) return Outcome<T>(bytes->failure());
    auto value = from_bytes<T>(bytes->value());
    if (!value) return Outcome<T>(reading_.malformed(value.error()));
    return Outcome<T>(*std::move(value));
  }

  /// The descriptor and the annex of the file.
  [[nodiscard]] const TypeTexts& texts() const noexcept { return reading_.texts(); }
  /// How many values were read, those among them that could not be used.
  [[nodiscard]] std::uint64_t number() const noexcept { return reading_.number(); }
  /// Where in the file the next value begins.
  [[nodiscard]] std::uint64_t offset() const noexcept { return reading_.offset(); }
  /// Did the file turn out to end within a value? Then its writer was ended before it was whole.
  [[nodiscard]] bool is_cut() const noexcept { return reading_.is_cut(); }

 private:
  values::Reading reading_;
};

}  // namespace mf
