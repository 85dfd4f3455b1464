// What a bridge reads without generated code, and writes beside a payload: descriptions and headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "bridge/described.hpp"
#include "mf/bridge/engine.hpp"
#include "mf/core/error.hpp"

namespace mftest::record_test {
namespace {

using namespace topics::events;
using mf::Overflow;
using mf::bridge::Record;
using mf::topics::DescribedTopic;
using testing::HasSubstr;

std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), mf::Code::invalid_argument);
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

template <class Topic>
void expect_as_generated(mf::Tier tier) {
  const auto topic = described<Topic>();
  const auto& made = topic->info();
  const auto& wanted = Topic::kTopic;
  EXPECT_EQ(made.name(), wanted.name());
  EXPECT_EQ(made.service.fingerprint, wanted.service.fingerprint);
  EXPECT_EQ(made.service.descriptor, descriptor_of(wanted.service));
  EXPECT_EQ(made.service.annex, annex_of(wanted.service));
  EXPECT_EQ(made.per_agent, wanted.per_agent);
  EXPECT_EQ(made.replay, wanted.replay);
  EXPECT_EQ(made.overflow, wanted.overflow);
  EXPECT_EQ(made.default_overflow, wanted.default_overflow);
  EXPECT_EQ(topic->tier(), tier);
}

TEST(DescribedTopic, AllThatGeneratedCodeKnowsOfATopicIsReadOutOfItsDescription) {
  expect_as_generated<AdditionsTopic>(mf::Tier::febird);
  expect_as_generated<TicksTopic>(mf::Tier::memcpy);
  expect_as_generated<ReportsTopic>(mf::Tier::archive);
  expect_as_generated<ChangesTopic>(mf::Tier::febird);
}

TEST(DescribedTopic, WhatIsNoDescriptionIsRefusedInWords) {
  const auto refused = [](const std::string& text) {
    return refusal_of([&] { const DescribedTopic topic(text); });
  };
  const auto whole = std::string(descriptor_of(AdditionsTopic::kTopic.service));
  EXPECT_THAT(refused(""), HasSubstr("does not begin with \"topic\""));
  EXPECT_THAT(refused("service a.B\nannex a.B\n"), HasSubstr("does not begin with \"topic\""));
  EXPECT_THAT(refused(whole), HasSubstr("it has no annex"));
  EXPECT_THAT(refused("topic a.B\nannex a.B\n"), HasSubstr("does not say what its values are"));
  EXPECT_THAT(refused("topic a.B\n value a.C\nannex a.B\n"), HasSubstr("the tier of its value a.C"));
  EXPECT_THAT(refusal_of([] { (void)DescribedTopic::of_file("/nowhere"); }), HasSubstr("/nowhere"));
}

class Headers : public testing::Test {
 protected:
  Headers() {
    const auto values = mf::bridge::headers_of(record_);
    for (std::size_t i = 0; i < values.size(); ++i)
      headers_[std::string(mf::bridge::kHeaders[i])] = values[i];
  }
  std::optional<std::string> read(Record& into) {
    return mf::bridge::read_headers(
        [&](std::string_view name) -> std::optional<std::string_view> {
          const auto found = headers_.find(name);
          if (found == headers_.end()) return std::nullopt;
          return found->second;
        },
        into);
  }

  const std::unique_ptr<DescribedTopic> topic_ = described<AdditionsTopic>();
  const Record record_ = record_of(*topic_,
                                   "eu/b\xc3\xbc"
                                   "cher 100%\r\n",
                                   12);
  std::map<std::string, std::string, std::less<>> headers_;
};

TEST_F(Headers, ARecordIsReadOutOfItsHeadersAsItWas) {
  Record read;
  EXPECT_EQ(read.sequence, 0U);
  ASSERT_EQ(this->read(read), std::nullopt);
  EXPECT_EQ(read.topic, "topics.events.Additions");
  EXPECT_EQ(read.agent, record_.agent);
  EXPECT_EQ(read.publisher, record_.publisher);
  EXPECT_EQ(read.sequence, 12U);
  EXPECT_EQ(read.time, record_.time);
  EXPECT_EQ(read.tier, mf::Tier::febird);
  EXPECT_EQ(read.schema, record_.schema);
}

TEST_F(Headers, TheyArePrintableWhateverTheAgentIs) {
  EXPECT_EQ(headers_["mf-agent"], "eu/b%c3%bccher%20100%25%0d%0a");
  EXPECT_EQ(headers_["mf-publisher"], "07000000-0000-0000-0000-000000000000");
  EXPECT_EQ(headers_["mf-time"], "1012");
  EXPECT_EQ(mf::bridge::id_of(record_),
            "07000000-0000-0000-0000-000000000000/eu/b%c3%bccher%20100%25%0d%0a/12");
}

TEST_F(Headers, TheOneThatIsWrongOrMissingIsNamed) {
  const auto whole = headers_;
  const std::map<std::string, std::vector<std::string>> wrong{
      {"mf-agent", {"%", "%4", "%zz"}},
      {"mf-publisher", {"", "07", "0700000g-0000-0000-0000-000000000000"}},
      {"mf-sequence", {"", "0", "-1", "1x"}},
      {"mf-time", {"", "now"}},
      {"mf-tier", {"", "fast"}},
      {"mf-schema", {"", "ab"}}};
  for (const auto& [name, values] : wrong) {
    for (const auto& value : values) {
      headers_ = whole;
      headers_[name] = value;
      Record read;
      EXPECT_THAT(this->read(read).value_or(""), HasSubstr(name)) << value;
    }
  }
  for (const auto name : mf::bridge::kHeaders) {
    headers_ = whole;
    headers_.erase(std::string(name));
    Record read;
    EXPECT_EQ(this->read(read), "it has no header " + std::string(name));
  }
}

TEST(Engines, AnAddressOfNoneIsRefusedInWords) {
  EXPECT_THAT(refusal_of([] { (void)mf::bridge::open_engine({.url = "amqp://here"}); }),
              HasSubstr("\"amqp://here\" names no engine"));
}

TEST(Engines, OneThatThisProgramWasBuiltWithoutIsNamedWithItsPackage) {
  const auto expect = [](const mf::bridge::EngineOptions& options, bool built, const char* package) {
    if (built) {
      EXPECT_NE(mf::bridge::open_engine(options), nullptr);
    } else {
      EXPECT_THAT(refusal_of([&] { (void)mf::bridge::open_engine(options); }), HasSubstr(package));
    }
  };
  const mf::bridge::EngineOptions nats{.url = "nats://127.0.0.1:1"};
  const mf::bridge::EngineOptions kafka{.url = "kafka://127.0.0.1:1"};
  expect(nats, mf::bridge::open_nats(nats) != nullptr, "libnats-dev");
  expect(kafka, mf::bridge::open_kafka(kafka) != nullptr, "librdkafka-dev");
}

}  // namespace
}  // namespace mftest::record_test
