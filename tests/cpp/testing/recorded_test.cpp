// Recordings of `mf record`: tests/vectors/recordings, which Python reads as well
// (tests/mf_tools/test_recordings.py), and files that are too large or cannot be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "mf/codec/json.hpp"
#include "mf/testing/recorded.hpp"
#include "shop.hpp"
#include "support/folder.hpp"

namespace mftest::recorded_test {
namespace {

using mf::Code;
using mf::testing::RecordedCall;
using mf::testing::RecordedCalls;
using mf::testing::RecordedMessages;
using testing::EndsWith;
using testing::HasSubstr;
using namespace shop::methods;

const std::filesystem::path kFolder = std::filesystem::path(MF_SOURCE_DIR) / "tests/vectors/recordings";

boost::json::value json_of(std::string_view text) {
  return boost::json::parse(text, {}, {.max_depth = 100});
}

const boost::json::array& cases() {
  static const auto& read = *new boost::json::value([] {
    std::ostringstream file;
    file << std::ifstream(kFolder / "expected.json").rdbuf();
    return json_of(std::move(file).str());
  }());
  return read.as_array();
}

std::string text_of(const boost::json::object& object, const char* key) {
  const auto* const found = object.if_contains(key);
  return found == nullptr ? "" : std::string(found->as_string());
}

bool is_at(const boost::json::object& object, const char* key, std::chrono::nanoseconds time) {
  return std::llround(object.at(key).to_number<double>() * 1e9) == time.count();
}

/// The values that a call has as what generated code makes of them, in JSON again.
template <class M>
void expect_values(const RecordedCall& call, const boost::json::object& expected) {
  ASSERT_TRUE(call.is<M>());
  const auto request = call.request<M>();
  ASSERT_EQ(request.has_value(), expected.contains("arguments"));
  if constexpr (requires { request->word; }) {
    EXPECT_EQ(request->word, text_of(expected.at("arguments").as_object(), "word"));
    EXPECT_EQ(request->most, expected.at("arguments").at("most").to_number<std::uint32_t>());
  } else if constexpr (requires { request->title; }) {
    EXPECT_EQ(request->title, text_of(expected.at("arguments").as_object(), "title"));
  } else if constexpr (requires { request->under; }) {
    EXPECT_EQ(json_of(mf::to_json(request->under)), expected.at("arguments").at("under"));
  }
  if constexpr (!std::is_void_v<typename M::Result>) {
    const auto result = call.result<M>();
    ASSERT_EQ(result.has_value(), expected.contains("result"));
    if (result) {
      EXPECT_EQ(json_of(mf::to_json(*result)), expected.at("result"));
    }
  }
}

void expect_call(const RecordedCall& call, const boost::json::object& expected) {
  SCOPED_TRACE(call.service + "." + call.method);
  EXPECT_EQ(call.line, expected.at("line").to_number<std::size_t>());
  EXPECT_TRUE(is_at(expected, "seconds", call.began)) << call.began.count();
  EXPECT_TRUE(is_at(expected, "took", call.took)) << call.took.count();
  EXPECT_EQ(call.service, text_of(expected, "service"));
  EXPECT_EQ(call.method, text_of(expected, "method"));
  EXPECT_EQ(call.agent, text_of(expected, "agent"));
  EXPECT_EQ(mf::name(call.code), text_of(expected, "code"));
  EXPECT_EQ(call.error, text_of(expected, "error"));
  EXPECT_EQ(call.stream, expected.contains("stream"));
  EXPECT_EQ(call.description == nullptr, call.stream);
  if (call.method == "find") return expect_values<ShopFind>(call, expected);
  if (call.method == "item") return expect_values<ShopItem>(call, expected);
  if (call.method == "now") return expect_values<ClockNow>(call, expected);
  if (call.method == "count") return expect_values<ShopCount>(call, expected);
  if (call.method == "file") return expect_values<CatalogFile>(call, expected);
  FAIL() << "a method that this test does not know";
}

template <class M>
void read_values(const RecordedCall& call) {
  if (!call.is<M>()) return;
  static_cast<void>(call.request<M>());
  static_cast<void>(call.result<M>());
}

/// Reads all, with the values.
std::vector<RecordedCall> calls_of(const std::string& path) {
  std::vector<RecordedCall> found;
  RecordedCalls calls(path, {kShopService, kClockService, kCatalogService});
  while (auto call = calls.next()) {
    read_values<ShopFind>(*call);
    read_values<ShopItem>(*call);
    read_values<ShopOrder>(*call);
    read_values<CatalogFile>(*call);
    found.push_back(*std::move(call));
  }
  return found;
}

std::vector<mf::testing::RecordedMessage<shop::Sold>> messages_of(const std::string& path) {
  std::vector<mf::testing::RecordedMessage<shop::Sold>> found;
  RecordedMessages<shop::Sold> messages(path);
  while (auto message = messages.next()) found.push_back(*std::move(message));
  return found;
}

/// What is said of a file, without the code.
std::string refusal_of(const std::string& path, bool of_calls) {
  try {
    if (of_calls) {
      calls_of(path);
    } else {
      messages_of(path);
    }
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.execution(), mf::Execution::not_executed);
    return error.message();
  }
  return "it was read";
}

std::string at(const std::filesystem::path& path, std::string words) {
  const std::string_view place("{path}");
  return words.replace(words.find(place), place.size(), path.string());
}

TEST(Recorded, VectorsAreReadOrRefusedInTheWordsOfPython) {
  EXPECT_GT(cases().size(), 25U);
  for (const auto& each : cases()) {
    const auto& expected = each.as_object();
    const auto path = kFolder / text_of(expected, "file");
    const bool of_calls = text_of(expected, "of") == "calls";
    SCOPED_TRACE(path.filename());
    if (expected.contains("error")) {
      EXPECT_EQ(refusal_of(path, of_calls), at(path, text_of(expected, "error")));
      continue;
    }
    const auto& read = expected.at("read").as_array();
    if (of_calls) {
      const auto found = calls_of(path);
      ASSERT_EQ(found.size(), read.size());
      for (std::size_t i = 0; i < read.size(); ++i) expect_call(found[i], read[i].as_object());
      continue;
    }
    const auto found = messages_of(path);
    ASSERT_EQ(found.size(), read.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      const auto& message = read[i].as_object();
      EXPECT_TRUE(is_at(message, "t", found[i].since_first));
      EXPECT_EQ(found[i].agent, text_of(message, "agent"));
      EXPECT_EQ(json_of(mf::to_json(found[i].value)), message.at("value"));
    }
  }
}

TEST(Recorded, ADescriptionComesWithEachOfItsCalls) {
  const auto found = calls_of(kFolder / "calls.rec");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].description, found[1].description);
  EXPECT_EQ(found[0].description->service, "shop.Shop");
  EXPECT_THAT(found[0].description->descriptor, HasSubstr("method find"));
  const RecordedMessages<shop::Sold> sales(kFolder / "messages.rec");
  EXPECT_EQ(sales.description().service, "shop.Sales");
}

TEST(Recorded, ACallOfAnotherMethodIsNotReadAsThisOne) {
  const auto found = calls_of(kFolder / "calls.rec");
  EXPECT_FALSE(found[0].is<ShopFind>());
  try {
    static_cast<void>(found[0].request<ShopFind>());
    FAIL() << "it was read";
  } catch (const mf::Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_THAT(error.message(), HasSubstr("line 7: it is a call of shop.Shop.item, not of shop.Shop.find"));
  }
}

TEST(Recorded, AValueThatIsTooDeepLeavesTheOtherCallsReadable) {
  RecordedCalls calls(kFolder / "deep_argument.rec", {kClockService, kCatalogService});
  EXPECT_TRUE(calls.next()->is<ClockNow>());
  const auto deep = calls.next();
  EXPECT_EQ(deep->result<CatalogFile>()->name, "sea");
  EXPECT_THROW(static_cast<void>(deep->request<CatalogFile>()), mf::Error);
  EXPECT_FALSE(calls.next());
}

TEST(Recorded, NamesOfTheFileAreShortenedAndEscapedInErrors) {
  auto call = calls_of(kFolder / "calls.rec").front();
  call.service = std::string(std::size_t{1} << 20U, 's');
  call.method = "a\nb";
  try {
    static_cast<void>(call.request<ShopFind>());
    FAIL() << "it was read";
  } catch (const mf::Error& error) {
    EXPECT_THAT(error.message(), EndsWith("line 7: it is a call of \"" + std::string(100, 's') +
                                          R"(…"."a\nb", not of shop.Shop.find)"));
  }
}

/// Of a file in `folder` with what comes behind the first line of the one in the vectors.
std::filesystem::path written(const Folder& folder, const char* head_of,
                              const std::vector<std::string>& lines) {
  auto path = folder.path() / "some.rec";
  std::string head;
  std::getline(std::ifstream(kFolder / head_of), head);
  std::ofstream file(path);
  file << head << "\n";
  for (const auto& line : lines) file << line << "\n";
  return path;
}

TEST(Recorded, NothingComesAfterALineThatWasRefused) {
  const std::string call = R"({"t":0,"service":"shop.Clock","method":"now","agent":"","code":"OK","took":0})";
  const std::string no_method =
      R"({"t":0,"service":"shop.Clock","method":"then","agent":"","code":"OK","took":0})";
  const Folder folder;
  for (const auto& wrong : {std::string("{}"), no_method}) {
    RecordedCalls calls(written(folder, "calls.rec", {call, wrong, call}), {kClockService});
    EXPECT_THROW(static_cast<void>(calls.next()), mf::Error);
    EXPECT_FALSE(calls.next());
    EXPECT_FALSE(calls.next());
  }
  const std::string sold = R"({"t":0,"agent":"","value":{"title":"","count":1}})";
  const std::string other = R"({"t":0,"agent":"","value":7})";
  for (const auto& wrong : {std::string("{}"), other}) {
    RecordedMessages<shop::Sold> messages(written(folder, "messages.rec", {sold, wrong, sold}));
    EXPECT_TRUE(messages.next());
    EXPECT_THROW(static_cast<void>(messages.next()), mf::Error);
    EXPECT_FALSE(messages.next());
    EXPECT_FALSE(messages.next());
  }
}

TEST(Recorded, WhatCannotBeReadIsNamed) {
  const Folder folder;
  const std::string missing = folder.path() / "none.rec";
  EXPECT_EQ(refusal_of(missing, true), "'" + missing + "' cannot be read: No such file or directory");
  EXPECT_EQ(refusal_of(folder.path(), false),
            "'" + folder.path().string() + "' cannot be read: Is a directory");
}

TEST(Recorded, ALineWithoutEndIsRefusedBeforeItIsRead) {
  const Folder folder;
  const auto path = folder.path() / "long.rec";
  std::string head;
  std::getline(std::ifstream(kFolder / "messages.rec"), head);
  std::ofstream(path) << head << "\n";
  const auto place = std::to_string(head.size() + 1);
  std::filesystem::resize_file(path, std::uintmax_t{1} << 36U);  // zeros that take no room
  EXPECT_EQ(refusal_of(path, false),
            "'" + path.string() + "': line 2 (at byte " + place + ") is longer than 32 MiB");
}

TEST(Recorded, CallsWaitForFewOthersAndStayInOrder) {
  const Folder folder;
  const auto path = folder.path() / "many.rec";
  std::ofstream file(path);
  file << R"({"mf_calls":1})" << "\n";
  constexpr int kCalls = 3000;
  for (int i = 0; i < kCalls; ++i) {
    const int began = i % 2 == 0 ? i + 1 : i - 1;  // each two have ended the other way round
    file << R"({"t":)" << began
         << R"(,"service":"shop.Clock","method":"now","agent":"","code":"OK","took":0})"
         << "\n";
  }
  file.close();
  int next = 0;
  for (const auto& call : calls_of(path)) EXPECT_EQ(call.began, std::chrono::seconds(next++));
  EXPECT_EQ(next, kCalls);
}

}  // namespace
}  // namespace mftest::recorded_test
