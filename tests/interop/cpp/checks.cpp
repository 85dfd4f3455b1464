#include "checks.hpp"

#include "interop.hpp"

namespace interop_test {

namespace {

/// What servers say in place of the text of an exception.
constexpr std::string_view kHidden = "the handler has failed: the log of its server ";

template <class E>
bool both_are(const mf::Failure& one, const mf::Failure& other) {
  const auto* left = dynamic_cast<const E*>(one.declared.get());
  const auto* right = dynamic_cast<const E*>(other.declared.get());
  return left != nullptr && right != nullptr && *left == *right;
}

}  // namespace

void record(const std::string& name, std::string_view mode, const std::string& problem) {
  say({{"name", text(name)},
       {"mode", text(mode)},
       {"ok", problem.empty() ? "true" : "false"},
       {"detail", text(problem)}});
}

void check(const std::string& name, std::string_view mode, mf::FunctionRef<std::string()> body) {
  std::string problem;
  try {
    problem = body();
  } catch (const std::exception& error) {
    problem = std::string("threw ") + error.what();
  }
  record(name, mode, problem);
}

std::string shown(const mf::Failure& failure) {
  return std::string(mf::name(failure.code)) + " (" + mf::name(failure.execution) + "): " + failure.message +
         (failure.declared ? std::string(" declared ") + failure.declared->what() : "");
}

std::string differ(const mf::Failure& expected, const mf::Failure& got) {
  const bool same =
      expected.declared
          ? both_are<interop::Refused>(expected, got) || both_are<interop::Missing>(expected, got)
          : !got.declared && expected.code == got.code && expected.execution == got.execution &&
                (got.message.find(expected.message) != std::string::npos ||
                 got.message.find(kHidden) != std::string::npos);
  return same ? "" : "expected " + shown(expected) + ", got " + shown(got);
}

}  // namespace interop_test
