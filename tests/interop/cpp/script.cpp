#include "script.hpp"

#include "mf/core/failure.hpp"
#include "modes.hpp"
#include "values.hpp"

namespace interop_test {

using namespace interop;

void Script::run() {
  for (const auto& agent : kRooms) check("who " + agent, "single", [&] { return is_at(agent); });
  numbers();
  texts();
  structs();
  notes_left();
  failures();
}

// Stubs differ only in their names, and each name is needed in four places.
#define SHAPE(name, Method, inputs, ...)                                                            \
  shape<methods::Shapes##Method, inputs>(                                                           \
      #name, __VA_ARGS__, [](const auto& to, const auto&... fields) { return to.name(fields...); }, \
      [](const auto& to, auto token, const auto&... fields) { to.async_##name(fields..., token); }, \
      &ShapesClient::name##_batch, &ShapesClient::name##_bulk)

void Script::numbers() {
  SHAPE(in0_out0, In0Out0, 0, {{}, {}});
  SHAPE(in4_out0, In4Out0, 4, {{-128, 65535, -70000, 1ULL << 40U}, {0, 0, 0, 0}});
  SHAPE(in6_out0, In6Out0, 6, {{1.5, 2.5, -4.0, 1e6, 0.25, 0.75F}, {0.0, 0.0, 0.0, 0.0, 0.0, -3.0F}});
  SHAPE(in0_out1, In0Out1, 0, {{}, {}});
  SHAPE(in1_out1, In1Out1, 1, {{0}, {-2147483647 - 1}, {2147483647}});
  SHAPE(in2_out1, In2Out1, 2, {{{1, -2, 3}, -3}, {{}, 5}});
  SHAPE(in3_out1, In3Out1, 3, {{1.0, 2.0, 3.5}, {1.0, 2.0, 3.0}});
  SHAPE(in6_out1, In6Out1, 6, {{-128, 32767, -5, 1LL << 50U, 4294967295U, 12}, {0, 0, 0, 0, 0, 0}});
  SHAPE(in4_out2, In4Out2, 4, {{-3, 5, 7, 0.5}, {1LL << 40U, -(1LL << 41U), 3, -2.0}});
  SHAPE(in6_out2, In6Out2, 6, {{true, 255, 65535, 7, 8, -1}, {false, 0, 0, 0, 0, 0}});
  SHAPE(fail, Fail, 1, {{0}, {1}, {2}, {3}, {4}, {6}, {8}});
}

void Script::texts() {
  std::string long_text;
  for (int i = 0; i < 100'000; ++i) long_text += "\xC3\xA9";
  SHAPE(in1_out0, In1Out0, 1, {{""}, {"ab\xE2\x82\xAC"}});
  SHAPE(in3_out0, In3Out0, 3, {{-5, {1, 2, 300'000}, "x"}, {0, {}, ""}});
  SHAPE(in4_out1, In4Out1, 4, {{"four", bytes("12345"), true, 0.125F}, {"", {}, false, -1.0F}});
  SHAPE(in0_out2, In0Out2, 0, {{}, {}});
  SHAPE(in3_out2, In3Out2, 3, {{"a", "b", 3}, {"", "", 0}});
  SHAPE(text, Text, 1, {{""}, {long_text}});
}

void Script::structs() {
  SHAPE(in2_out0, In2Out0, 2, {{255, point(1)}, {0, point(2)}});
  SHAPE(in5_out0, In5Out0, 5,
        {{{5, 1}, Pair{1, -77}, bytes({"\0\xff", 2}), Rank::mid, true}, {{}, {}, {}, Rank::low, false}});
  SHAPE(in5_out1, In5Out1, 5,
        {{{"b", "a"}, {{"k", 1}, {"j", 9}, {"i", 1}}, {1, 2, 3}, Language::ko, Rank::high},
         {{}, {}, {0, 0, 0}, Language{500}, {}}});
  SHAPE(in1_out2, In1Out2, 1, {{moment(1)}, {moment(900)}});
  SHAPE(in2_out2, In2Out2, 2, {{point(1), point(2)}, {point(3), point(3)}});
  SHAPE(in5_out2, In5Out2, 5,
        {{tree(4), hit(2), {hit(9), hit(3)}, {{Rank::low, hit(11)}}, 1LL << 35U}, {{}, hit(2), {}, {}, {}}});
  SHAPE(mirror, Mirror, 1, {{everything(3)}, {everything(40)}, {Everything{}}});
}

void Script::notes_left() {
  SHAPE(note0, Note0, 0, {{}, {}});
  SHAPE(note1, Note1, 1, {{-1}, {1LL << 62U}});
  SHAPE(note2, Note2, 2, {{"ab", {1, 2, 3}}, {"", {}}});
  SHAPE(note3, Note3, 3, {{255, 255, 255}, {1, 2, 3}});
  SHAPE(note4, Note4, 4, {{point(1), point(2), true, Rank::high}, {point(0), point(0), false, Rank::low}});
  SHAPE(note5, Note5, 5, {{"a", "bc", {}, hit(5), bytes("xyz")}, {"", "", -8, hit(0), {}}});
  SHAPE(note6, Note6, 6, {{1, 2, 3, 4, 5, 6}, {-2147483647 - 1, 0, 0, 0, 0, 0}});
}

#undef SHAPE

std::string Script::is_at(const std::string& agent) {
  return differ(mf::Outcome<std::string>(agent), ended([&] { return stub_.at(agent).who(); }));
}

std::string Script::notes(const std::string& name, const std::string& agent) {
  auto expected = room(agent).take_notes();
  auto got = stub_.at(agent).take_notes();
  if (!name.starts_with("note")) {
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
  }
  if (expected == got) return {};
  std::string problem = "expected the notes";
  for (const auto each : expected) problem += " " + std::to_string(each);
  problem += "; got";
  for (const auto each : got) problem += " " + std::to_string(each);
  return problem;
}

namespace {

using Failures = std::vector<std::optional<mf::Failure>>;  // none: a value

template <class T>
void collect(Failures& ends, const T& /*value*/) {
  ends.emplace_back();
}
template <class T>
void collect(Failures& ends, const mf::Outcome<T>& outcome) {
  ends.push_back(outcome.ok() ? std::nullopt : std::optional(outcome.failure()));
}
template <class T>
void collect(Failures& ends, const mf::Outcomes<T>& outcomes) {
  for (const auto& outcome : outcomes) collect(ends, outcome);
}
template <class T>
void collect(Failures& ends, const mf::Scattered<T>& outcomes) {
  for (const auto& each : outcomes) collect(ends, each.outcome);
}

/// Either the call fails so, or all of its outcomes do.
template <class Call>
void fails(const std::string& name, mf::Code code, mf::Execution execution, Call call) {
  check(name, "failures", [&]() -> std::string {
    Failures ends;
    try {
      collect(ends, call());
    } catch (const mf::Error& error) {
      ends.emplace_back(mf::failure_of(error));
    }
    const auto expected = mf::make_failure(code, execution, "");
    for (const auto& end : ends) {
      if (!end) return "expected " + shown(expected) + ", got a value";
      if (auto problem = differ(expected, *end); !problem.empty()) return problem;
    }
    return ends.empty() ? "no outcome at all" : "";
  });
}

}  // namespace

void Script::failures() {
  constexpr auto kInvalid = mf::Code::invalid_argument;
  constexpr auto kNever = mf::Execution::not_executed;
  const auto to = stub_.at("red");
  fails("a number out of range", kInvalid, kNever, [&] { return to.bounded(11, "x"); });
  fails("a text too long", kInvalid, kNever, [&] { return to.bounded(1, "123456789"); });
  const std::vector<ShapesBoundedRequest> held = {{10, "12345678"}};
  const std::vector<ShapesBoundedRequest> invalid = {{1, "a"}, {0, "a"}};
  check("bounds that hold", "failures",
        [&] { return differ_all({mf::Outcome<std::uint32_t>(10)}, to.bounded_bulk(held)); });
  fails("an item too small, bulk", kInvalid, kNever, [&] { return to.bounded_bulk(invalid); });

  const auto unknown = way_ == "mf" ? mf::Code::unavailable : mf::Code::unknown_agent;
  const auto nowhere = stub_.at("nowhere");
  const std::vector<ShapesSlowRequest> three(3, ShapesSlowRequest{1});
  fails("an unknown agent", unknown, kNever, [&] { return nowhere.who(); });
  fails("an unknown agent, bulk", unknown, kNever, [&] { return nowhere.slow_bulk(three); });
  fails("an unknown agent, batch", unknown, kNever, [&] { return nowhere.slow_batch(three).results(); });
  fails("an unknown agent, scatter", unknown, kNever, [&] { return stub_.on({"nowhere"}).who(); });
  if (way_ != "light") deadlines();
}

void Script::deadlines() {
  constexpr auto kLate = mf::Code::deadline_exceeded;
  constexpr auto kMaybe = mf::Execution::unknown;
  constexpr std::uint32_t kLong = 60'000;
  const auto to = stub_.at("red");
  const mf::CallOptions soon{.deadline = std::chrono::milliseconds(250)};
  const mf::BatchOptions batch{.deadline = soon.deadline};
  const std::vector<ShapesSlowRequest> two(2, ShapesSlowRequest{kLong});
  fails("the deadline of a call", kLate, kMaybe, [&] { return to.slow(kLong, soon); });
  fails("the deadline of the method", kLate, kMaybe, [&] { return to.slow(kLong); });
  fails("a deadline, async", kLate, kMaybe, [&] {
    auto future = begun<std::uint32_t>([&](auto token) { to.async_slow(kLong, soon, token); });
    return awaited(future);
  });
  fails("a deadline, batch", kLate, kMaybe, [&] { return to.slow_batch(two, batch).results(); });
  fails("a deadline, bulk", kLate, kMaybe, [&] { return to.slow_bulk(two, soon); });
  fails("a deadline, scatter", kLate, kMaybe, [&] { return stub_.on({"red"}).slow(kLong, soon); });
  check("after all that", "failures", [&] { return is_at("red"); });
}

}  // namespace interop_test
