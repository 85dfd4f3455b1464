// What the store reads of etcd's answers, and which words refuse all else.

#include "controller/etcd_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace {

namespace etcd = mf::controller::etcd;
using mf::controller::EtcdError;

TEST(EtcdJson, RevisionsAreNumbersOrTheirTexts) {
  EXPECT_EQ(etcd::revision_of(etcd::parsed(R"({"header":{"revision":7}})")), 7);
  EXPECT_EQ(etcd::revision_of(etcd::parsed(R"({"header":{"revision":"9223372036854775807"}})")), INT64_MAX);
  EXPECT_EQ(etcd::revision_of(etcd::parsed(R"({"header":{}})")), 0);
}

TEST(EtcdJson, ARevisionThatIsNo64BitNumberIsRefused) {
  for (const char* number :
       {R"("9223372036854775808")", R"("7x")", R"("")", R"(" 7")", "1.5", "[]", "null"}) {
    const auto answer = etcd::parsed(std::string(R"({"header":{"revision":)") + number + "}}");
    EXPECT_THROW(static_cast<void>(etcd::revision_of(answer)), EtcdError) << number;
  }
}

TEST(EtcdJson, AFirstKeyHasItsValueAndRevision) {
  const auto first = etcd::first_of(
      etcd::parsed(R"({"kvs":[{"key":"YQ==","value":"AAE=","mod_revision":"6"},{"key":"Yg=="}]})"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->key, "a");
  EXPECT_EQ(first->value.text(), std::string("\0\1", 2));
  EXPECT_EQ(first->revision, 6);
  EXPECT_FALSE(etcd::first_of(etcd::parsed(R"({"kvs":[]})")));
  EXPECT_FALSE(etcd::first_of(etcd::parsed("{}")));
}

TEST(EtcdJson, AnythingButAnAnswerIsRefusedWithItsText) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(etcd::first_of(etcd::parsed(text)));
    } catch (const EtcdError& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("<html>"), "what has come is no answer of etcd: <html>");
  for (const char* text :
       {"", "[]", R"({"kvs":[7]})", R"({"kvs":[{"key":"?"}]})", R"({"kvs":[{"value":7}]})"})
    EXPECT_THAT(refusal(text), testing::StartsWith("what has come is no answer of etcd: ")) << text;
}

}  // namespace
