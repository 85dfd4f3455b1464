// R1. Runs a program (program.hpp): bytes of one schema to bytes of another, without values in between.
//
//   described::Transcoder transcoder(program);
//   codec::Reader reader(bytes);
//   for (each item) switch (transcoder.run(pair, reader, out)) …
//   reader.finish()
//
// The source is checked as generated code checks it: the same bounds, faults, paths and offsets. What is
// written is what a generated writer of the other schema would write. A transcoder may be used again, by one
// thread at a time.
#pragma once

#include <cstddef>
#include <span>

#include "mf/codec/described/program.hpp"
#include "mf/codec/reader.hpp"
#include "mf/core/buffer.hpp"

namespace mf::described {

enum class Went : std::uint8_t {
  over,      // it was added to `out`
  not_over,  // the value is in order and has no equal in the other schema: the reader stands behind it, and
             // error() has the path and a reason like "70000 does not fit u16 of @", where @ stands
             // for who has the other schema; its fault is none
  broken,    // the bytes are not in order: the reader has failed, and error() is its error
};

class Transcoder {
 public:
  /// The program is finished, and outlives the transcoder.
  explicit Transcoder(const Program& program) noexcept : program_(program) {}

  /// One value as it stands in a message: of an implicit struct, or any value of its own (protocol.md,
  /// section 8). Archives and values of tier custom take all that the reader has left. Unless it went over,
  /// `out` is as it was.
  [[nodiscard]] Went run(PairIndex pair, codec::Reader& reader, Buffer& out);
  /// A struct whose fields stand in febird, whatever its tier is: errors in a REPLY.
  [[nodiscard]] Went run_fields(PairIndex pair, codec::Reader& reader, Buffer& out);

  /// After not_over or broken.
  [[nodiscard]] const codec::DecodeError& error() const noexcept { return error_; }

 private:
  template <class Begin, class Read>
  Went go(PairIndex pair, codec::Reader& reader, Buffer& out, const Begin& begin, const Read& read);

  const Program& program_;
  codec::DecodeError error_;
};

}  // namespace mf::described
