// Config::load(), held to tests/config/cases.json, as Python is (tests/python/config), and its keys, held to
// docs/config.schema.json.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mf/config/config.hpp"
#include "mf/core/error.hpp"
#include "support/folder.hpp"

namespace mf::config {
namespace {

namespace json = boost::json;
using testing::StartsWith;

json::value read_json(const std::string& path) {
  std::ifstream file(MF_SOURCE_DIR "/" + path);
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

const json::array& cases() {
  static const json::value all = read_json("tests/config/cases.json");
  return all.as_array();
}

std::string text_of(const json::value& value) {
  return std::string(value.as_string());
}

/// In a folder of its own, where the file is called F.
class LoadTest : public testing::Test {
 protected:
  LoadTest() { std::filesystem::current_path(folder_.path()); }
  ~LoadTest() override { std::filesystem::current_path("/"); }

  static void write(std::string_view text) { std::ofstream("F") << text; }

  static Environment none() {
    return [](const std::string&) { return std::optional<std::string>(); };
  }

  /// The lines of the error.
  static std::vector<std::string> mistakes_of(const std::string& path,
                                              const Environment& environment = none()) {
    std::vector<std::string> lines;
    try {
      (void)Config::load(path, environment);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      std::istringstream text(error.message());
      for (std::string line; std::getline(text, line);) lines.push_back(line);
    }
    return lines;
  }

  mftest::Folder folder_;
};

class LoadCase : public LoadTest, public testing::WithParamInterface<std::size_t> {
 protected:
  [[nodiscard]] const json::object& given() const { return cases().at(GetParam()).as_object(); }

  [[nodiscard]] Environment environment() const {
    std::map<std::string, std::string> variables;
    if (const auto* const found = given().if_contains("environment"); found != nullptr) {
      for (const auto& [name, value] : found->as_object()) variables[name] = text_of(value);
    }
    return [variables](const std::string& name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }

  static json::object values_of(const Config& config) {
    json::array forwarded;
    for (const auto& key : config.client.forward_metadata) forwarded.emplace_back(key);
    const auto dead_after = std::chrono::milliseconds(config.client.dead_after).count();
    return {{"listen", config.server.listen},
            {"url", config.url},
            {"workers", config.server.workers},
            {"drain_timeout_ms", config.server.drain_timeout.count()},
            {"max_connections", config.server.max_connections},
            {"certificate", config.server.tls.certificate},
            {"dead_after_ms", dead_after},
            {"forward_metadata", std::move(forwarded)}};
  }
};

TEST_P(LoadCase, EndsAsTheTableSays) {
  SCOPED_TRACE(text_of(given().at("name")));
  write(text_of(given().at("file")));
  if (const auto* const mistakes = given().if_contains("mistakes"); mistakes != nullptr) {
    std::vector<std::string> wanted;
    for (const auto& line : mistakes->as_array()) wanted.push_back(text_of(line));
    EXPECT_EQ(mistakes_of("F", environment()), wanted);
    return;
  }
  if (const auto* const line = given().if_contains("no_toml_at"); line != nullptr) {
    const auto lines = mistakes_of("F");
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_THAT(lines[0], StartsWith("F:" + std::to_string(line->as_int64()) + ": this is no TOML: "));
    return;
  }
  const auto config = Config::load("F", environment());
  const auto values = values_of(config);
  for (const auto& [name, value] : given().at("values").as_object())
    EXPECT_EQ(values.at(name), value) << name;
  if (const auto* const sources = given().if_contains("sources"); sources != nullptr) {
    for (const auto& [key, place] : sources->as_object()) {
      ASSERT_TRUE(config.sources.contains(key)) << key;
      EXPECT_EQ(config.sources.find(key)->second, text_of(place)) << key;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, LoadCase, testing::Range(std::size_t{0}, cases().size()));

TEST_F(LoadTest, ReadsTheFileThatTheEnvironmentNames) {
  write("server.workers = 2\n");
  ::setenv("MF_CONFIG", "F", 1);
  const auto workers = Config::load().server.workers;
  ::unsetenv("MF_CONFIG");
  EXPECT_EQ(workers, 2U);
  EXPECT_EQ(Config::load().server.workers, ServerOptions().workers);
}

TEST_F(LoadTest, NamesAFileThatCannotBeRead) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(mistakes_of("none"), Lines{"none: cannot be read: No such file or directory"});
  EXPECT_EQ(mistakes_of("."), Lines{".: cannot be read: it is no file"});
  ASSERT_EQ(::mkfifo("fifo", 0600), 0);
  EXPECT_EQ(mistakes_of("fifo"), Lines{"fifo: cannot be read: it is no file"});
  write(std::string((std::size_t{1} << 20U) + 1, '#'));
  EXPECT_EQ(mistakes_of("F"), Lines{"F: cannot be read: it is larger than 1 MiB"});
  write("\n\xff = 1\n");
  EXPECT_THAT(mistakes_of("F"), testing::ElementsAre(testing::MatchesRegex("F:[12]: this is no TOML: .*")));
}

TEST_F(LoadTest, NamesTwentyMistakesAtMost) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "k" + std::to_string(i) + " = 1\n";
  write(text);
  EXPECT_EQ(mistakes_of("F").size(), 20U);
}

TEST_F(LoadTest, FillsTheOptions) {
  write(
      "[server]\ncontroller = \"mf://127.0.0.1:1\"\n[server.tls]\ncertificate = \"c\"\nkey = "
      "\"k\"\nclient_ca = \"ca\"\n"
      "[server.limits]\nconcurrent = 3\nqueued = 0\n[client]\ntoken_file = \"t\"\n[client.tls]\nserver_name "
      "= \"n\"\n"
      "[log]\nlevel = \"error\"\n");
  const auto config = Config::load("F", none());
  EXPECT_EQ(config.server.controller, "mf://127.0.0.1:1");
  EXPECT_EQ(config.server.tls, (TlsOptions{.ca = "ca", .certificate = "c", .key = "k"}));
  EXPECT_EQ(config.server.limit.concurrent, 3U);
  EXPECT_EQ(config.server.limit.queued, 0U);
  EXPECT_EQ(config.client.credential.file, "t");
  EXPECT_EQ(config.client.tls.server_name, "n");
  EXPECT_FALSE(config.server.log.wants(Level::warning));
  EXPECT_FALSE(config.client.log.wants(Level::warning));
}

/// The keys of a section of the schema, with their paths.
void collect(const json::object& section, const std::string& above,
             std::map<std::string, json::object>& found) {
  for (const auto& [name, value] : section.at("properties").as_object()) {
    const auto key = above + std::string(name);
    if (value.as_object().contains("properties"))
      collect(value.as_object(), key + ".", found);
    else
      found[key] = value.as_object();
  }
}

TEST(ConfigKeys, AreThoseOfTheSchema) {
  std::map<std::string, json::object> schema;
  collect(read_json("docs/config.schema.json").as_object(), "", schema);
  const std::map<Kind, std::string> types{{Kind::text, "string"},
                                          {Kind::integer, "integer"},
                                          {Kind::number, "number"},
                                          {Kind::boolean, "boolean"},
                                          {Kind::list, "array"}};
  EXPECT_EQ(schema.size(), keys().size());
  for (const auto& key : keys()) {
    ASSERT_TRUE(schema.contains(key.name)) << key.name;
    const auto& entry = schema.at(key.name);
    EXPECT_EQ(text_of(entry.at("type")), types.at(key.kind)) << key.name;
    if (key.kind == Kind::integer || key.kind == Kind::number) {
      EXPECT_EQ(entry.at("minimum").as_int64(), key.least) << key.name;
      EXPECT_EQ(entry.at("maximum").as_int64(), key.most) << key.name;
    }
    json::array choices;
    for (const auto& word : key.choices) choices.emplace_back(word);
    EXPECT_EQ(entry.contains("enum") ? entry.at("enum").as_array() : json::array(), choices) << key.name;
  }
}

}  // namespace
}  // namespace mf::config
