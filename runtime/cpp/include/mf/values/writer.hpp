// R3. Writes files of values that say themselves what they hold (docs/evolution.md, "Values in files"), which
// any later or earlier schema can read with ValueReader.
//
//   #include "search.hpp"
//   mf::ValueWriter<Hit> out("hits.mfv");
//   out.write(hit);
//   out.close();
//
// Values are gathered and written 64 KiB at a time, always behind what is there: what a killed program leaves
// behind are whole values and at most one that is cut off. A file has one writer at a time, and a writer is
// used by one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "mf/codec/graph.hpp"
#include "mf/codec/schema_type.hpp"
#include "mf/codec/value.hpp"
#include "mf/core/buffer.hpp"
#include "mf/values/reader.hpp"

namespace mf {

struct ValueWriterOptions {
  /// Also to a file that exists and has this schema; else a new one is made.
  bool append = false;
  /// A value at the end of the file that is not whole is cut off first.
  bool drop_cut = false;
};

namespace values {

/// What all writers share: bytes of values into a file.
class Writing {
 public:
  Writing(const std::filesystem::path& path, const TypeTexts& texts, const ValueWriterOptions& options);
  Writing(Writing&&) noexcept;
  Writing& operator=(Writing&&) noexcept;
  ~Writing();

  void append(std::span<const std::byte> value);
  void flush();
  void sync();
  void close();
  [[nodiscard]] std::uint64_t count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace values

template <values::Stored T>
class ValueWriter {
 public:
  using Type = typename values::Declares<T>::Type;

  /// Throws Error: UNAVAILABLE if the file cannot be written, exists (without `append`) or has a writer
  /// already, SCHEMA_MISMATCH if it has another schema, DECODE_ERROR if it is damaged or cut off.
  explicit ValueWriter(const std::filesystem::path& path, const ValueWriterOptions& options = {})
      : writing_(path, texts_of<Type>(), options) {}

  /// Throws Error: INVALID_ARGUMENT for a value that its schema does not allow, MESSAGE_TOO_LARGE for one of
  /// more than 64 MiB, and UNAVAILABLE where flush() does.
  void write(const T& value) {
    bytes_.clear();
    append_bytes(bytes_, value);
    writing_.append(bytes_.span());
  }
  /// Writes what was gathered. Throws Error(UNAVAILABLE) with what the system says, if the disk is full for
  /// one; what was gathered since the last flush is then not in the file, which has whole values as before,
  /// and can be written again.
  void flush() { writing_.flush(); }
  /// The same, and waits until the disk has it.
  void sync() { writing_.sync(); }
  /// Writes what was gathered, and closes the file. The destructor does so, too, but cannot say what failed.
  void close() { writing_.close(); }
  /// Of the values in the file, those among them that are still gathered.
  [[nodiscard]] std::uint64_t count() const noexcept { return writing_.count(); }

 private:
  values::Writing writing_;
  Buffer bytes_;
};

}  // namespace mf
