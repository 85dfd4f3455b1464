// What a client pays once for each pair of schemas of a service: reading the two descriptors and planning.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "best.hpp"
#include "mf/codec/described/schema.hpp"
#include "mf/evolution/plan.hpp"

namespace bench_codecs {
namespace {

using mf::described::Schema;

/// Each method takes a struct and a list of them, and answers with another; later, numbers are wider, fields
/// stand in another order, and there is one more.
std::string service(int methods, bool later) {
  const std::string number = later ? "u64" : "u32";
  const std::string moved = later ? "" : " title string\n";
  const std::string added = later ? " title string\n origin string?\n" : "";
  std::string text = "service bench.Index\n";
  std::string types;
  for (int i = 100; i < 100 + methods; ++i) {
    const std::string n = std::to_string(i);
    text += " method m" + n + "\n  params febird\n   query bench.Query" + n + "\n   limit " + number +
            "\n   more list<bench.Query" + n + ">\n  results febird\n   value bench.Hits" + n +
            "\n  throws bench.Failed\n";
    types += "type bench.Hit" + n + " struct febird\n doc " + number + "\n" + moved +
             " score f32\n positions list<" + number + ">\n mode bench.Mode\n" + added + "type bench.Hits" +
             n + " struct febird\n hits list<bench.Hit" + n + ">\n by_name map<string,bench.Hit" + n + ">\n" +
             "type bench.Query" + n + " struct febird\n words list<string>\n from " + number +
             "\n mode bench.Mode\n tags map<string,string>\n";
  }
  return text + "type bench.Failed error febird\n why string\n" + types +
         "type bench.Mode enum u8 open\n fast 0\n exact 1\n" + (later ? " both 2\n" : "");
}

std::shared_ptr<const Schema> read(const std::string& text) {
  auto schema = Schema::read(text);
  if (!schema.ok()) throw std::runtime_error(schema.error().message());
  return std::make_shared<const Schema>(std::move(*schema));
}

}  // namespace

void measure_plans() {
  constexpr int kMethods = 50;
  const std::string older = service(kMethods, false);
  const std::string newer = service(kMethods, true);
  const double reading = best([&] { read(older); }, 5);
  const auto here = read(older);
  const auto there = read(newer);
  const double planning = best(
      [&] {
        const auto plan = mf::evolution::make_plan(here, there);
        if (!plan.refusal.empty() || !plan.methods.front().callable()) throw std::runtime_error(plan.refusal);
      },
      5);
  std::printf("a service of %d methods, %zu bytes of descriptor: %.0f us to read it, %.0f us to plan\n",
              kMethods, older.size(), reading / 1e3, planning / 1e3);
}

}  // namespace bench_codecs
