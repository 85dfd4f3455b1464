#include "mf/codec/described/transcode.hpp"

#include <optional>

#include "codec/described/steps.hpp"
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

struct Transcoder::Memory {
  explicit Memory(const Program& program) {
    if (program.steps != nullptr) steps.emplace(program, scratches);
  }
  Scratches scratches;
  std::optional<StepRun> steps;
};

Transcoder::Transcoder(const Program& program) : program_(program), memory_(new Memory(program)) {}
Transcoder::Transcoder(Transcoder&&) noexcept = default;
Transcoder::~Transcoder() = default;

bool StepRun::pass_by_walk(TypeIndex type, codec::Reader& reader) {
  Nothing nothing;
  Walk<Nothing> walk(*program_.from, *program_.from, nullptr, reader, nothing, scratches_);
  return walk.febird({type, type, nullptr});
}

template <class Begin>
bool StepRun::convert_by_walk(PairIndex pair, codec::Reader& reader, const Begin& begin) {
  close();
  LayoutWriter writer(*program_.to, *out_);
  begin(writer);
  Walk<LayoutWriter> walk(*program_.from, *program_.to, &program_, reader, writer, scratches_);
  if (!walk.febird(walk.link(pair))) return false;
  writer.finish();
  open(*out_);
  return true;
}

bool StepRun::convert_by_walk(PairIndex pair, codec::Reader& reader) {
  return convert_by_walk(pair, reader, [](LayoutWriter& writer) { writer.begin_febird(); });
}

bool StepRun::convert_field_by_walk(const Step& step, codec::Reader& reader) {
  return convert_by_walk(step.what, reader,
                         [&](LayoutWriter& writer) { writer.begin_field(step.size, step.code != 0); });
}

template <class Begin, class Read>
Went Transcoder::go(PairIndex pair, codec::Reader& reader, Buffer& out, const Begin& begin,
                    const Read& read) {
  Scratches& scratches = memory_->scratches;
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

bool Transcoder::go_by_steps(std::uint32_t block, codec::Reader& reader, Buffer& out) {
  return block != kNone && memory_->steps->run(block, reader, out);
}

Went Transcoder::run(PairIndex pair, codec::Reader& reader, Buffer& out) {
  if (program_.steps != nullptr && go_by_steps(program_.steps->values[pair], reader, out)) return Went::over;
  return go(
      pair, reader, out, [](LayoutWriter& writer, const Type& type) { writer.begin(type); },
      [](auto& walk, const Link& link) { return walk.whole(link); });
}

Went Transcoder::run_fields(PairIndex pair, codec::Reader& reader, Buffer& out) {
  if (program_.steps != nullptr && go_by_steps(program_.steps->fields[pair], reader, out)) return Went::over;
  return go(
      pair, reader, out, [](LayoutWriter& writer, const Type& /*type*/) { writer.begin_fields(); },
      [](auto& walk, const Link& link) { return walk.fields(link); });
}

}  // namespace mf::described
