// R1. Runs a program (program.hpp): converts bytes of one schema to bytes of another without C++ values.
//
//   described::Transcoder transcoder(program);
//   codec::Reader reader(bytes);
//   for (each item) switch (transcoder.run(pair, reader, out)) …
//   reader.finish()
//
// The source is checked as generated code checks it: the same bounds, faults, paths and offsets. The output
// is that of a generated writer of the other schema. A transcoder may be reused, by one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "mf/codec/described/program.hpp"
#include "mf/codec/reader.hpp"
#include "mf/core/buffer.hpp"

namespace mf::described {

enum class Went : std::uint8_t {
  over,      // the value was converted and appended to `out`
  not_over,  // the value is valid but has no equal in the other schema: the reader has passed it, and
             // error() has the path and a reason like "70000 does not fit u16 of @", in which the caller
             // replaces @ by a name for the other schema; its fault is none
  broken,    // the bytes are invalid: the reader has failed, and error() is its error
};

class Transcoder {
 public:
  /// finish() has accepted the program, which outlives the transcoder.
  explicit Transcoder(const Program& program);
  Transcoder(Transcoder&& other) noexcept;
  ~Transcoder();

  /// Converts one value as it is encoded in a message: an implicit struct, or a value on its own
  /// (protocol.md, section 8). Archives and values of tier custom take all that the reader has left. `out` is
  /// unchanged unless the result is `over`.
  [[nodiscard]] Went run(PairIndex pair, codec::Reader& reader, Buffer& out);
  /// Converts a struct whose fields are encoded in febird, whatever its tier is: an error in a REPLY.
  [[nodiscard]] Went run_fields(PairIndex pair, codec::Reader& reader, Buffer& out);

  /// Valid after not_over or broken.
  [[nodiscard]] const codec::DecodeError& error() const noexcept { return error_; }

 private:
  template <class Begin, class Read>
  Went go(PairIndex pair, codec::Reader& reader, Buffer& out, const Begin& begin, const Read& read);

  [[nodiscard]] bool go_by_steps(std::uint32_t block, codec::Reader& reader, Buffer& out);

  struct Memory;  // that is used again for the next value
  const Program& program_;
  std::unique_ptr<Memory> memory_;
  codec::DecodeError error_;
};

}  // namespace mf::described
