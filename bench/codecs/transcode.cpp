// bench-transcode: bytes of one schema to bytes of the next by described::Transcoder, beside a plain read of
// the same bytes by generated code.
//
//   same      the schemas are alike: what is read is checked and written again
//   widened   numbers are wider, and there is a field more
//   moved     fields are in another order, too
//   archive   all structs are of tier archive in the next schema
//   febird    the opposite
//
// and what it costs once to plan for the two schemas of a service (plans.cpp).
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "best.hpp"
#include "convert.hpp"
#include "mf/codec/described/transcode.hpp"
#include "mf/codec/value.hpp"
#include "payload.hpp"
#include "payload/archived.hpp"
#include "values.hpp"

namespace {

using bench_codecs::best;
using mf::described::FieldStep;
using mf::described::index_of;
using mf::described::Kind;
using mf::described::kNone;
using mf::described::Pair;
using mf::described::PairIndex;
using mf::described::Program;
using mf::described::Rule;
using mf::described::Schema;
using mf::described::Type;
using mf::described::TypeIndex;

constexpr std::string_view kHeartbeat =
    "value payload.Heartbeat\n"
    "type payload.Heartbeat struct febird\n pool string\n serial i64\n costs array<f64,8>\n"
    " queues list<payload.Queue>\n mode payload.Mode\n tags map<string,string>\n hosts list<string>\n"
    "type payload.Mode enum u8 open\n enabled 0\n read_only 1\n disabled 2\n dead 3\n"
    "type payload.Queue struct febird\n name string\n active i32\n max i32\n queued i32\n";
constexpr std::string_view kHeartbeatWidened =
    "value payload.Heartbeat\n"
    "type payload.Heartbeat struct febird\n pool string\n serial i64\n costs array<f64,8>\n"
    " queues list<payload.Queue>\n mode payload.Mode\n tags map<string,string>\n hosts list<string>\n zone "
    "string?\n"
    "type payload.Mode enum u8 open\n enabled 0\n read_only 1\n disabled 2\n dead 3\n"
    "type payload.Queue struct febird\n name string\n active i64\n max i64\n queued i64\n";
constexpr std::string_view kHeartbeatMoved =
    "value payload.Heartbeat\n"
    "type payload.Heartbeat struct febird\n hosts list<string>\n zone string?\n pool string\n serial i64\n"
    " costs array<f64,8>\n queues list<payload.Queue>\n mode payload.Mode\n tags map<string,string>\n"
    "type payload.Mode enum u8 open\n enabled 0\n read_only 1\n disabled 2\n dead 3\n"
    "type payload.Queue struct febird\n active i64\n max i64\n queued i64\n name string\n";
constexpr std::string_view kHeartbeatArchive =
    "value payload.Heartbeat\n"
    "type payload.Heartbeat struct archive\n pool 1: string\n serial 2: i64\n costs 3: array<f64,8>\n"
    " queues 4: list<payload.Queue>\n mode 5: payload.Mode\n tags 6: map<string,string>\n hosts 7: "
    "list<string>\n"
    "type payload.Mode enum u8 open\n enabled 0\n read_only 1\n disabled 2\n dead 3\n"
    "type payload.Queue struct archive\n name 1: string\n active 2: i32\n max 3: i32\n queued 4: i32\n";

constexpr std::string_view kSearch =
    "value payload.SearchResult\n"
    "type payload.Hit struct febird\n doc u32\n score f32\n title string\n positions list<u32>\n features "
    "list<f32>\n"
    "type payload.SearchResult struct febird\n hits list<payload.Hit>\n";
constexpr std::string_view kSearchWidened =
    "value payload.SearchResult\n"
    "type payload.Hit struct febird\n doc u64\n score f64\n title string\n positions list<u64>\n features "
    "list<f32>\n"
    " url string?\n"
    "type payload.SearchResult struct febird\n hits list<payload.Hit>\n";
constexpr std::string_view kSearchMoved =
    "value payload.SearchResult\n"
    "type payload.Hit struct febird\n title string\n doc u64\n url string?\n features list<f32>\n score f64\n"
    " positions list<u64>\n"
    "type payload.SearchResult struct febird\n hits list<payload.Hit>\n";
constexpr std::string_view kSearchArchive =
    "value payload.SearchResult\n"
    "type payload.Hit struct archive\n doc 1: u32\n score 2: f32\n title 3: string\n positions 4: list<u32>\n"
    " features 5: list<f32>\n"
    "type payload.SearchResult struct archive\n hits 1: list<payload.Hit>\n";

Schema read(std::string_view text) {
  auto schema = Schema::read(text);
  if (!schema.ok()) throw std::runtime_error(schema.error().message());
  return std::move(*schema);
}

/// Matches types by the names of their fields, which is enough for these schemas.
class Joins {
 public:
  explicit Joins(Program& program) : program_(program) {}

  PairIndex join(TypeIndex from_index, TypeIndex to_index) {
    for (PairIndex i = 0; i < program_.pairs.size(); ++i)
      if (program_.pairs[i].from == from_index && program_.pairs[i].to == to_index) return i;
    const Type& from = program_.from->type(from_index);
    const Type& to = program_.to->type(to_index);
    const auto at = static_cast<PairIndex>(program_.pairs.size());
    program_.pairs.push_back({.rule = Rule::same, .from = from_index, .to = to_index});
    Pair pair = program_.pairs[at];
    switch (from.kind) {
      case Kind::structure:
        pair.rule = Rule::record;
        record(pair, from, to);
        break;
      case Kind::list:
      case Kind::array:
        pair.rule = Rule::sequence;
        pair.element = join(from.element, to.element);
        break;
      case Kind::map:
        pair.rule = Rule::map;
        pair.key = join(from.key, to.key);
        pair.element = join(from.element, to.element);
        break;
      default:
        if (from.kind != to.kind) pair.rule = Rule::number;
    }
    program_.pairs[at] = pair;
    return at;
  }

 private:
  void record(Pair& pair, const Type& from, const Type& to) {
    std::vector<FieldStep> steps;
    const auto fields = program_.from->fields(from);
    for (std::uint32_t i = 0; i < to.count; ++i) {
      const auto& made = program_.to->fields(to)[i];
      const auto* const field = program_.from->field(from, made.name);
      FieldStep step{.to_field = i};
      if (field != nullptr) {
        step.from_field = static_cast<std::uint32_t>(field - fields.data());
        step.pair = join(field->type, made.type);
      }
      steps.push_back(step);
    }
    pair.first = static_cast<std::uint32_t>(program_.fields.size());
    pair.count = to.count;
    program_.fields.insert(program_.fields.end(), steps.begin(), steps.end());
  }

  Program& program_;
};

template <class T>
void measure(const char* name, const T& value, std::string_view from_text,
             std::vector<std::pair<const char*, std::string_view>> others) {
  const std::vector<std::byte> bytes = mf::to_bytes(value);
  T back;
  const double plain = best([&] {
    if (!mf::from_bytes_into(std::span<const std::byte>(bytes), back)) throw std::runtime_error("not read");
  });
  std::printf("%-10s %6zu bytes   plain read %8.0f ns %6.0f MB/s\n", name, bytes.size(), plain,
              static_cast<double>(bytes.size()) * 1e3 / plain);
  const Schema from = read(from_text);
  for (const auto& [what, text] : others) {
    const Schema to = read(text);
    Program program;
    program.from = &from;
    program.to = &to;
    PairIndex root = 0;
    if (text == from_text) {
      program.pairs.push_back({.rule = Rule::same, .from = from.value(), .to = to.value()});
    } else {
      root = Joins(program).join(from.value(), to.value());
    }
    if (const std::string wrong = finish(program); !wrong.empty()) throw std::runtime_error(wrong);
    mf::described::Transcoder transcoder(program);
    mf::Buffer out;
    const double took = best([&] {
      out.clear();
      mf::codec::Reader reader(bytes);
      if (transcoder.run(root, reader, out) != mf::described::Went::over)
        throw std::runtime_error(transcoder.error().message());
    });
    std::printf("  %-10s %6zu bytes   %19.0f ns %6.0f MB/s   %.1f plain reads\n", what, out.size(), took,
                static_cast<double>(bytes.size()) * 1e3 / took, took / plain);
  }
}

template <class Archived, class T>
Archived archived(const T& value) {
  Archived made;
  bench_codecs::convert(value, made);
  return made;
}

}  // namespace

namespace bench_codecs {
void measure_plans();  // plans.cpp
}

int main() {
  bench_codecs::measure_plans();
  measure("heartbeat", bench_codecs::heartbeat(), kHeartbeat,
          {{"same", kHeartbeat},
           {"widened", kHeartbeatWidened},
           {"moved", kHeartbeatMoved},
           {"archive", kHeartbeatArchive}});
  measure(
      "search", bench_codecs::search_result(), kSearch,
      {{"same", kSearch}, {"widened", kSearchWidened}, {"moved", kSearchMoved}, {"archive", kSearchArchive}});
  measure("heartbeat", archived<payload::archived::Heartbeat>(bench_codecs::heartbeat()), kHeartbeatArchive,
          {{"same", kHeartbeatArchive}, {"febird", kHeartbeat}});
  measure("search", archived<payload::archived::SearchResult>(bench_codecs::search_result()), kSearchArchive,
          {{"same", kSearchArchive}, {"febird", kSearch}});
}
