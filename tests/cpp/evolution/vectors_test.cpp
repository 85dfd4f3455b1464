// The rules, held to the cases that both languages agree on (tests/vectors/evolution).
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "mf/evolution/plan.hpp"

namespace mf::evolution {
namespace {

namespace json = boost::json;

std::vector<json::value> pairs() {
  std::vector<std::filesystem::path> files;
  for (const auto& folder :
       std::filesystem::directory_iterator(std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/evolution"))
    if (const auto file = folder.path() / "cases.json"; exists(file)) files.push_back(file);
  std::ranges::sort(files);
  std::vector<json::value> read;
  for (const auto& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    read.push_back(json::parse(text.str()));
  }
  return read;
}

std::string text(const json::value& of, std::string_view key) {
  const auto& value = of.at(key);
  return value.is_null() ? std::string() : std::string(value.as_string());
}

std::shared_ptr<const described::Schema> schema(const json::value& of) {
  auto read = described::Schema::read(text(of, "descriptor"), text(of, "annex"));
  if (!read) throw std::runtime_error(read.error().message());
  return std::make_shared<const described::Schema>(*std::move(read));
}

TEST(EvolutionVectors, EachMethodHasItsVerdictAndItsReason) {
  std::size_t seen = 0;
  for (const auto& pair : pairs()) {
    const auto before = schema(pair.at("old"));
    const auto after = schema(pair.at("new"));
    for (const std::string direction : {"old_to_new", "new_to_old"}) {
      const auto& here = direction == "old_to_new" ? before : after;
      const auto plan = make_plan(here, direction == "old_to_new" ? after : before);
      ASSERT_EQ(plan.refusal, "");
      for (const auto& each : pair.at("cases").as_array()) {
        if (each.at(direction).is_null()) continue;
        const auto method = text(each, "method");
        const auto* const found = here->method(method);
        ASSERT_NE(found, nullptr) << method;
        const auto& made = plan.methods[static_cast<std::size_t>(found - here->methods().data())];
        EXPECT_EQ(name(made.verdict), text(each, direction)) << direction << " " << text(each, "name");
        EXPECT_EQ(made.reason, text(each, "reason_" + direction)) << direction << " " << text(each, "name");
        ++seen;
      }
    }
  }
  EXPECT_GE(seen, 300U);
}

}  // namespace
}  // namespace mf::evolution
