// Lines of a log as JSON.

#include "mf/core/log_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace mf {
namespace {

/// A log whose last line is kept as JSON.
class AsJson final : public LogSink {
 public:
  void write(Level /*level*/, std::string_view line) noexcept override {
    json_ = log_line_as_json("", line, limit);
  }
  [[nodiscard]] const std::string& json() const { return json_; }

  std::size_t limit = 4096;

 private:
  std::string json_;
};

class LogAsJson : public testing::Test {
 protected:
  std::string written(std::string_view event, std::initializer_list<LogField> fields = {}) {
    log_.write(Level::info, event, fields);
    return sink_->json();
  }

  std::shared_ptr<AsJson> sink_ = std::make_shared<AsJson>();
  Log log_{sink_};
};

TEST_F(LogAsJson, HasEventAndFieldsAsMembers) {
  EXPECT_EQ(written("stopped"), R"({"event":"stopped"})");
  EXPECT_EQ(written("stopped", {{"code", 3}, {"peer", "127.0.0.1:1"}, {"empty", ""}}),
            R"({"event":"stopped","code":"3","peer":"127.0.0.1:1","empty":""})");
  EXPECT_EQ(written("odd event", {{"a key", "a b=c d"}}), R"({"event":"odd event","a key":"a b=c d"})");
}

TEST_F(LogAsJson, EscapesWhatAPeerHasWritten) {
  EXPECT_EQ(written("e", {{"v", "a\"b\\c\n\t\x01\x7f"}}),
            R"({"event":"e","v":"a\"b\\c\u000a\u0009\u0001\u007f"})");
  EXPECT_EQ(written("e", {{"v", "\xc3\xa4\xff"}}), "{\"event\":\"e\",\"v\":\"\xc3\xa4\xc3\xbf\"}");
  EXPECT_EQ(written("e", {{"v", "\\x41 \\n"}}), R"({"event":"e","v":"\\x41 \\n"})");
  EXPECT_EQ(written("e", {{"v", "\",\"forged\":\""}}), R"({"event":"e","v":"\",\"forged\":\""})");
}

TEST_F(LogAsJson, SaysThatItWasCut) {
  sink_->limit = 40;
  EXPECT_EQ(written("e", {{"a", "1"}, {"b", "0123456789"}, {"c", "2"}}),
            R"({"event":"e","a":"1","cut":true})");
  sink_->limit = 100'000;
  const std::string longest(512, 'x');
  const auto all = written("e", {{"a", longest},
                                 {"b", longest},
                                 {"c", longest},
                                 {"d", longest},
                                 {"e", longest},
                                 {"f", longest},
                                 {"g", longest},
                                 {"h", longest}});
  EXPECT_THAT(all, testing::EndsWith(R"(x","cut":true})"));
}

TEST(LogFormats, HaveTheNamesOfTheKey) {
  LogFormat format = LogFormat::text;
  EXPECT_TRUE(parse_log_format("json", format));
  EXPECT_EQ(format, LogFormat::json);
  EXPECT_TRUE(parse_log_format("text", format));
  EXPECT_EQ(format, LogFormat::text);
  EXPECT_FALSE(parse_log_format("JSON", format));
}

}  // namespace
}  // namespace mf
