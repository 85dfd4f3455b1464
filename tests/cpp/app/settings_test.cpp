// The options of the programs from their command line, the environment, a file and their defaults.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/child.hpp"
#include "support/folder.hpp"

namespace mf::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Ended {
  int code = -1;
  std::string output;
  std::string errors;
};

class SettingsTest : public testing::Test {
 protected:
  ~SettingsTest() override {
    for (const auto& name : variables_) ::unsetenv(name.c_str());
  }

  static Ended run(std::vector<std::string> arguments) {
    Child child(std::move(arguments));
    Ended ended{.output = child.all_output(), .errors = child.all_errors()};
    ended.code = child.wait().value_or(-1);
    return ended;
  }
  Ended controller(std::vector<std::string> arguments = {"--check"}) {
    arguments.insert(arguments.begin(), MF_CONTROLLER);
    if (!file_.empty()) arguments.insert(arguments.end(), {"--config", file_});
    return run(std::move(arguments));
  }
  /// The file that the programs read from now on.
  void write(const std::string& text) {
    file_ = folder_.path() / "mf.toml";
    std::ofstream(file_) << text;
  }
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    variables_.push_back(name);
  }
  /// The one mistake that mf-controller finds in this file, without the path.
  std::string mistake_in(const std::string& text) {
    write(text);
    const auto ended = controller();
    EXPECT_EQ(ended.code, 2) << ended.errors;
    EXPECT_EQ(ended.output, "");
    const std::string before = "mf-controller: " + file_ + ":";
    EXPECT_THAT(ended.errors, StartsWith(before));
    return ended.errors.starts_with(before) ? ended.errors.substr(before.size()) : ended.errors;
  }

  mftest::Folder folder_;
  std::string file_;
  std::vector<std::string> variables_;
};

TEST_F(SettingsTest, PrintTheSourceOfEachOption) {
  write("lease = 7\n\n[limits]\nmax_connections = 5\n");
  set("MF_CONTROLLER_LOG_LEVEL", "debug");
  const auto ended = controller({"--relay", "--print-config"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("relay = true  # --relay\n"), HasSubstr("lease = 7  # " + file_ + ":1\n"),
                    HasSubstr("limits.max_connections = 5  # " + file_ + ":4\n"),
                    HasSubstr("log.level = \"debug\"  # MF_CONTROLLER_LOG_LEVEL\n"),
                    HasSubstr("listen = \"tcp://127.0.0.1:7400\"  # default\n"),
                    HasSubstr("# tls.certificate is not set\n")));
}

TEST_F(SettingsTest, PreferTheCommandLineThenTheEnvironmentThenTheFile) {
  write("lease = 1\n");
  EXPECT_THAT(controller({"--print-config"}).output, HasSubstr("lease = 1  # " + file_ + ":1\n"));
  set("MF_CONTROLLER_LEASE", "2");
  EXPECT_THAT(controller({"--print-config"}).output, HasSubstr("lease = 2  # MF_CONTROLLER_LEASE\n"));
  EXPECT_THAT(controller({"--print-config", "--lease", "3"}).output, HasSubstr("lease = 3  # --lease\n"));
}

TEST_F(SettingsTest, NameTheFileInTheEnvironment) {
  write("lease = 9\n");
  set("MF_CONTROLLER_CONFIG", std::exchange(file_, ""));
  EXPECT_THAT(controller({"--print-config"}).output, HasSubstr("lease = 9  # "));
}

TEST_F(SettingsTest, ThatArePrintedAreAFileWithTheSameOptions) {
  write("listen = \"tcp://127.0.0.1:0\"\nrelay = true\ntls.client_ca = \"a \\\"b\\\"\"\n");
  const auto first = controller({"--print-config"}).output;
  write(first);
  const auto second = controller({"--print-config"});
  EXPECT_EQ(second.code, 0) << second.errors;
  EXPECT_THAT(second.output,
              AllOf(HasSubstr("tls.client_ca = \"a \\\"b\\\"\"  # "), HasSubstr("relay = true  # "),
                    HasSubstr("limits.max_connections = 16384")));
}

TEST_F(SettingsTest, AreUsedByTheProgram) {
  write("listen = \"tcp://127.0.0.1:0\"\nstore = \"memory:\"\n[log]\nlevel = \"off\"\n");
  Child child({MF_CONTROLLER, "--config", file_});
  EXPECT_THAT(child.line(), StartsWith("mf://127.0.0.1:"));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(child.all_errors(), "");
}

TEST_F(SettingsTest, NameTheLineOfEachMistakeAndWhatMayBeMeant) {
  EXPECT_EQ(mistake_in("lease = 3\nlimits.max_conections = 5\n"),
            "2: there is no key limits.max_conections; did you mean limits.max_connections?\n");
  EXPECT_EQ(mistake_in("max_connections = 5\n"),
            "1: there is no key max_connections; did you mean limits.max_connections?\n");
  EXPECT_EQ(mistake_in("\n[limts]\nmax_connections = 5\n"),
            "2: there is no section limts; did you mean limits?\n");
  EXPECT_EQ(mistake_in("listen = 7400\n"), "1: listen is an integer: give a string\n");
  EXPECT_EQ(mistake_in("lease = \"30\"\n"), "1: lease is a string: give an integer\n");
  EXPECT_EQ(mistake_in("relay = 1\n"), "1: relay is an integer: give true or false\n");
  EXPECT_THAT(mistake_in("[log]\nlevel = \"loud\"\n"), StartsWith("2: log.level: loud not in {"));
  EXPECT_THAT(mistake_in("lease = 0\n"), AllOf(StartsWith("1: lease: "), HasSubstr("0 not in range")));
  EXPECT_THAT(mistake_in("lease = 3\nlisten = \n"), StartsWith("2: this is no TOML: "));
  EXPECT_EQ(mistake_in("[etcd]\nkey = \"a\"\n"), "2: etcd.key requires etcd.certificate\n");
}

TEST_F(SettingsTest, NameAllMistakesAtOnce) {
  write("lease = true\nlisen = \"a\"\n");
  set("MF_CONTROLLER_RELAY", "yes");
  const auto ended = controller();
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors, "mf-controller: " + file_ + ":1: lease is true or false: give an integer\n" +
                              file_ +
                              ":2: there is no key lisen; did you mean listen?\n"
                              "MF_CONTROLLER_RELAY: relay is \"yes\": give true or false\n");
}

TEST_F(SettingsTest, RefuseAFileThatCannotBeRead) {
  file_ = folder_.path() / "none.toml";
  EXPECT_EQ(controller().errors, "mf-controller: " + file_ + ": cannot be read: No such file or directory\n");
  file_ = folder_.path();
  EXPECT_EQ(controller().errors, "mf-controller: " + file_ + ": cannot be read: it is no file\n");
}

TEST_F(SettingsTest, SayWhichVariableIsNoOption) {
  set("MF_CONTROLLER_LISTN", "tcp://127.0.0.1:0");
  set("MF_CONTROLLER_PORT_7400_TCP_ADDR", "10.0.0.7");  // as Kubernetes sets for a service of this name
  const auto output = controller({"--print-config"}).output;
  EXPECT_THAT(output, HasSubstr("# MF_CONTROLLER_LISTN is set, and is no option; did you mean "
                                "MF_CONTROLLER_LISTEN?\n"));
  EXPECT_THAT(output, Not(HasSubstr("TCP_ADDR")));
}

TEST_F(SettingsTest, AreCheckedWithTheFilesThatTheyNameAndNothingStarts) {
  write("listen = \"tcp://127.0.0.1:1\"\n");  // a port that only root may take
  auto ended = controller();
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_EQ(ended.output, "mf-controller: the options can be used\n");

  write("listen = \"tls://127.0.0.1:1\"\ntls.certificate = \"/none.pem\"\ntls.key = \"/none.key\"\n");
  ended = controller();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.errors, AllOf(StartsWith("mf-controller: "), HasSubstr("/none.pem")));

  write("etcd.user = \"mf\"\netcd.password_file = \"/none\"\n");
  EXPECT_THAT(controller().errors, HasSubstr("/none"));
}

TEST_F(SettingsTest, DoNotConcernSubcommands) {
  write("lease = 0\n");
  set("MF_CONTROLLER_CONFIG", file_);
  const auto ended = run({MF_CONTROLLER, "token", "show", "/none"});
  EXPECT_THAT(ended.errors, HasSubstr("/none"));
  EXPECT_THAT(ended.errors, Not(HasSubstr("lease")));
}

TEST_F(SettingsTest, AreNamedByTheHelpWithTheirVariables) {
  const auto ended = controller({"--help"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.output, HasSubstr("MF_CONTROLLER_LIMITS_MAX_CONNECTIONS"));
}

TEST_F(SettingsTest, OfTheRelayHaveSections) {
  write("controller = \"mf://127.0.0.1:1\"\n[limits]\nservers = 3\n[server]\nkey = \"k\"\n");
  const auto ended = run({MF_RELAY, "--config", file_, "--check"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors, "mf-relay: " + file_ + ":5: server.key requires server.certificate\n");
  write("trusted_user = [1000, 1001]\n");
  EXPECT_THAT(run({MF_RELAY, "--config", file_, "--print-config"}).output,
              HasSubstr("trusted_user = [\"1000\", \"1001\"]  # "));
}

TEST_F(SettingsTest, ThatAreRequiredMayBeInTheFile) {
  auto ended = run({MF_BRIDGE, "in", "--check"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.errors,
            "mf-bridge: --topic is required; it may also be topic in the file, or MF_BRIDGE_TOPIC\n"
            "--engine is required; it may also be engine in the file, or MF_BRIDGE_ENGINE\n");
  write("topic = \"a.topic\"\nengine = \"nats://127.0.0.1:1\"\n");
  ended = run({MF_BRIDGE, "in", "--config", file_, "--check"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.errors, HasSubstr("a.topic"));
}

TEST_F(SettingsTest, AreNotPrintedWhereTheyAreSecrets) {
  write("topic = \"a\"\nengine = \"nats://user:hidden1@127.0.0.1:1\"\nset = [\"password=hidden2\"]\n");
  const auto ended = run({MF_BRIDGE, "out", "--config", file_, "--print-config"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("engine = \"nats://...@127.0.0.1:1\""),
                                  HasSubstr("set = \"(not shown)\""), Not(HasSubstr("hidden"))));
}

}  // namespace
}  // namespace mf::app
