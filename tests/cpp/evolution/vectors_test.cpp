// The rules, held to the cases that both languages agree on (tests/vectors/evolution).
#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "mf/core/hex.hpp"
#include "mf/evolution/plan.hpp"
#include "mf/link/adaptation.hpp"
#include "mf/link/converting.hpp"
#include "mf/protocol/reply.hpp"

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

std::vector<std::byte> bytes(std::string_view text) {
  std::vector<std::byte> made;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    made.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return made;
}

/// What a client with the one schema does at a server with the other.
struct Adapting {
  std::shared_ptr<const described::Schema> here;
  std::shared_ptr<const described::Schema> there;
  std::shared_ptr<const link::Adaptation> adaptation;

  Adapting(const json::value& pair, const std::string& direction)
      : here(schema(pair.at(direction == "old_to_new" ? "old" : "new"))),
        there(schema(pair.at(direction == "old_to_new" ? "new" : "old"))) {
    const ServiceInfo own{.name = here->name()};
    adaptation =
        std::make_shared<const link::Adaptation>(own, Fingerprint{}, make_plan(here, there), std::string());
  }
};

std::string request_of(const Adapting& adapting, std::uint16_t index, const json::value& request) {
  const auto own = bytes(text(request, "own"));
  protocol::RequestHead head{
      .route = 0, .tier = Tier::memcpy, .flags = 0, .count = 1, .deadline = 0, .id = 0};
  const auto adapted = link::adapted_request(*adapting.adaptation, index);
  if (!adapted) return to_hex(own);
  if (const auto ended = adapted->send(std::span<const std::byte>(own), head)) return ended->failure.message;
  return to_hex(adapted->payload().buffer.span());
}

std::string result_of(const Adapting& adapting, std::uint16_t index, const json::value& result) {
  const auto theirs = bytes(text(result, "theirs"));
  const auto adapted = link::adapted_request(*adapting.adaptation, index);
  if (!adapted) return to_hex(theirs);
  protocol::RequestHead head{
      .route = 0, .tier = Tier::memcpy, .flags = 0, .count = 1, .deadline = 0, .id = 0};
  EXPECT_EQ(adapted->send(std::span<const std::byte>(), head), std::nullopt);
  link::Reply reply;
  reply.count = 1;
  const auto& method = adapting.adaptation->method(index);
  reply.encoding = static_cast<std::uint8_t>(adapting.there->type(method.results_type).tier);
  reply.payload = theirs;
  adapted->receive(reply);
  if (reply.status == Code::ok) return to_hex(reply.payload);
  if (reply.local()) return reply.failure.message;
  protocol::MixedReader outcomes(reply.payload, 1);
  protocol::FailureRecord record;
  EXPECT_EQ(outcomes.outcome(0), Code::decode_error);
  EXPECT_TRUE(outcomes.next_failure(record));
  return std::string(record.message);
}

TEST(EvolutionVectors, ValuesBecomeTheOtherSchemasBytesOrAreRefusedInWords) {
  std::size_t seen = 0;
  for (const auto& pair : pairs()) {
    for (const std::string direction : {"old_to_new", "new_to_old"}) {
      const Adapting adapting(pair, direction);
      ASSERT_EQ(adapting.adaptation->refusal(), "");
      for (const auto& value : pair.at("values").as_array()) {
        if (text(value, "direction") != direction) continue;
        const auto* const method = adapting.here->method(text(value, "method"));
        ASSERT_NE(method, nullptr);
        const auto index = static_cast<std::uint16_t>(method - adapting.here->methods().data());
        for (const std::string part : {"request", "result"}) {
          if (!value.as_object().contains(part)) continue;
          const auto& each = value.at(part);
          const auto made =
              part == "request" ? request_of(adapting, index, each) : result_of(adapting, index, each);
          const auto wanted = each.as_object().contains("fault")
                                  ? text(each, "fault")
                                  : text(each, part == "request" ? "theirs" : "own");
          EXPECT_EQ(made, wanted) << direction << " " << method->name << " " << json::serialize(each);
          ++seen;
        }
      }
    }
  }
  EXPECT_GE(seen, 600U);
}

}  // namespace
}  // namespace mf::evolution
