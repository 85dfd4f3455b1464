#include "mf/codec/described/transcode.hpp"

#include "codec/described/walk_values.hpp"
#include "codec/described/writer.hpp"

namespace mf::described {

namespace {

/// Behind a value that has no equal; false if its bytes are not in order, either.
template <class Read>
bool step_over(const Program& program, codec::Reader& reader, Scratches& scratches, const Read& read) {
  Nothing nothing;
  Walk<Nothing> walk(*program.from, *program.from, nullptr, reader, nothing, scratches);
  walk.trust();
  return read(walk);
}

}  // namespace

template <class Begin, class Read>
Went Transcoder::go(PairIndex pair, codec::Reader& reader, Buffer& out, const Begin& begin,
                    const Read& read) {
  Scratches scratches;
  const auto start = reader.place();
  LayoutWriter writer(*program_.to, out);
  Walk<LayoutWriter> walk(*program_.from, *program_.to, &program_, reader, writer, scratches);
  const Link link = walk.link(pair);
  begin(writer, program_.to->type(link.to));
  if (read(walk, link)) {
    writer.finish();
    return Went::over;
  }
  writer.give_up();
  error_ = reader.error();
  if (!walk.misfit()) return Went::broken;
  reader.return_to(start);
  const Link same{link.from, link.from, nullptr};
  if (step_over(program_, reader, scratches, [&](auto& over) { return read(over, same); }))
    return Went::not_over;
  error_ = reader.error();
  return Went::broken;
}

Went Transcoder::run(PairIndex pair, codec::Reader& reader, Buffer& out) {
  return go(
      pair, reader, out, [](LayoutWriter& writer, const Type& type) { writer.begin(type); },
      [](auto& walk, const Link& link) { return walk.whole(link); });
}

Went Transcoder::run_fields(PairIndex pair, codec::Reader& reader, Buffer& out) {
  return go(
      pair, reader, out, [](LayoutWriter& writer, const Type& /*type*/) { writer.begin_fields(); },
      [](auto& walk, const Link& link) { return walk.fields(link); });
}

}  // namespace mf::described
