// mf-bridge: connects a topic to an engine that keeps messages, JetStream of NATS or Kafka (docs/bridge.md).
//
//   mf-bridge in  --topic additions.topic --engine nats://localhost:4222 --from mf://localhost:7400
//   mf-bridge out --topic additions.topic --engine nats://localhost:4222 --listen tcp://127.0.0.1:7600
//
// Standard output gets one line once it works: of `in` the topic, of `out` the address listened at; the log
// goes to standard error. SIGHUP reads its files again. Exit codes: 0 stopped by SIGTERM or SIGINT, 1 it
// could not start or go on, 2 a mistake in its options, 3 calls were cut at the end of
// the drain timeout.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/program.hpp"
#include "mf/bridge/engine.hpp"
#include "mf/bridge/inward.hpp"
#include "mf/bridge/outward.hpp"
#include "mf/client/core.hpp"
#include "mf/core/error.hpp"
#include "mf/core/log.hpp"
#include "mf/server/server.hpp"
#include "mf/server/signals.hpp"
#include "mf/topics/described_topic.hpp"

namespace {

struct Arguments {
  std::string topic{};
  mf::bridge::EngineOptions engine{};
  std::vector<std::string> settings{};
  mf::app::Entrance entrance{.listen = "tcp://127.0.0.1:7600"};
  // in
  std::string from = "mf://127.0.0.1:7400";
  std::string agents{};
  std::string overflow{};
  std::uint32_t max_messages = mf::SubscribeOptions().max_messages;
  std::uint32_t max_bytes = mf::SubscribeOptions().max_bytes;
  // out
  std::string controller{};
  std::string name = mf::bridge::OutwardOptions().name;
  std::size_t subscribers = 1;
  std::uint32_t settle = 10'000;
};

/// What the topic is called where the engine does not take dots.
std::string plain(std::string name) {
  for (auto& c : name) {
    if (c == '.') c = '_';
  }
  return name;
}

/// "@FILE" is the first line of that file, so that a secret is in no list of processes.
std::string value_of(std::string given) {
  if (!given.starts_with('@')) return given;
  std::ifstream file(given.substr(1));
  std::string value;
  if (!std::getline(file, value))
    throw mf::Error(mf::Code::invalid_argument, mf::Execution::not_executed,
                    "the value of a setting cannot be read: " + given.substr(1));
  return value;
}

mf::bridge::EngineOptions engine_options(const Arguments& arguments, std::string_view topic,
                                         const mf::Log& log) {
  auto options = arguments.engine;
  const bool kafka = options.url.starts_with("kafka://");
  if (options.stream.empty()) options.stream = kafka ? std::string(topic) : plain(std::string(topic));
  if (options.subject.empty()) options.subject = "mf." + std::string(topic);
  for (const auto& setting : arguments.settings) {
    const auto equals = setting.find('=');
    if (equals == std::string::npos)
      throw mf::Error(mf::Code::invalid_argument, mf::Execution::not_executed,
                      "--set takes KEY=VALUE, not \"" + setting + "\"");
    options.settings.emplace_back(setting.substr(0, equals), value_of(setting.substr(equals + 1)));
  }
  options.log = log;
  return options;
}

std::optional<mf::Overflow> overflow_of(const std::string& text) {
  for (const auto each : {mf::Overflow::drop_oldest, mf::Overflow::drop_newest, mf::Overflow::block,
                          mf::Overflow::disconnect}) {
    if (text == mf::topics::name(each)) return each;
  }
  return std::nullopt;
}

/// Runs until SIGTERM or SIGINT, or until it fails; then throws that. SIGHUP calls `reload`.
template <class Run, class Reload>
void until_stopped(mf::server::StopSignals& signals, Run&& run, Reload&& reload) {
  std::exception_ptr failed;
  {
    const std::jthread thread([&](const std::stop_token& stop) {
      try {
        run(stop);
      } catch (...) {
        failed = std::current_exception();
        signals.wake();
      }
    });
    while (signals.wait() == mf::server::StopSignals::Wanted::reload) (void)reload();
  }
  if (failed) std::rethrow_exception(failed);
}

void bring_in(const Arguments& arguments) {
  const auto log = arguments.entrance.log();
  mf::server::StopSignals signals;
  const auto topic = mf::topics::DescribedTopic::of_file(arguments.topic);
  const auto engine_with = engine_options(arguments, topic->info().name(), log);
  const auto engine = mf::bridge::open_engine(engine_with);
  mf::ClientOptions client;
  client.tls = arguments.entrance.outward();
  client.credential.file = arguments.entrance.credential;
  client.log = log;
  const auto core = mf::client::Core::at(arguments.from, client);
  mf::bridge::InwardOptions options{.agents = arguments.agents, .stream = engine_with.stream, .log = log};
  options.subscribe.overflow = overflow_of(arguments.overflow);
  options.subscribe.max_messages = arguments.max_messages;
  options.subscribe.max_bytes = arguments.max_bytes;
  mf::bridge::Inward inward(core, *topic, *engine, options);
  until_stopped(
      signals,
      [&](const std::stop_token& stop) {
        inward.run(stop, [&] {
          std::cout << topic->info().name() << std::endl;
          log.write(mf::Level::info, "started",
                    {{"version", MF_VERSION},
                     {"topic", topic->info().name()},
                     {"engine", mf::app::without_password(engine_with.url)}});
        });
      },
      [&] { return core->reload(); });
  const auto stats = inward.stats();
  log.write(mf::Level::info, "bridge_ended",
            {{"topic", topic->info().name()},
             {"appended", stats.appended},
             {"missed", stats.missed},
             {"refused", stats.refused},
             {"unreadable", stats.unreadable}});
  core->close();
  log.write(mf::Level::info, "stopped");
}

/// Returns the exit code.
int bring_out(const Arguments& arguments) {
  const auto log = arguments.entrance.log();
  mf::server::StopSignals signals;
  const auto topic = mf::topics::DescribedTopic::of_file(arguments.topic);
  const auto engine_with = engine_options(arguments, topic->info().name(), log);
  const auto engine = mf::bridge::open_engine(engine_with);
  mf::bridge::OutwardOptions options{.name = arguments.name,
                                     .stream = engine_with.stream,
                                     .subscribers = arguments.subscribers,
                                     .settle = std::chrono::milliseconds(arguments.settle)};
  options.topics.log = log;
  const auto outward = std::make_shared<mf::bridge::Outward>(*topic, *engine, options);
  auto server_options = mf::app::server_options(arguments.entrance, log);
  server_options.controller = arguments.controller;
  server_options.controller_tls = arguments.entrance.outward();
  mf::Server server(server_options);
  server.offer(*outward);
  server.start();
  mf::app::say_where(server, arguments.entrance, "",
                     "every program that reaches this port can subscribe to the topic", log);
  until_stopped(
      signals, [&](const std::stop_token& stop) { outward->run(stop); }, [&] { return server.reload(); });
  const bool whole = server.stop();
  const auto stats = outward->stats();
  log.write(mf::Level::info, "bridge_ended",
            {{"topic", topic->info().name()},
             {"published", stats.published},
             {"duplicates", stats.duplicates},
             {"missed", stats.missed},
             {"skipped", stats.skipped}});
  return whole ? 0 : mf::kCallsCut;
}

/// Everything but whether the engine is there.
void check(const Arguments& arguments) {
  const auto topic = mf::topics::DescribedTopic::of_file(arguments.topic);
  (void)engine_options(arguments, topic->info().name(), {});
  mf::app::check_entrance(arguments.entrance);
}

/// Returns the option whose values may be secrets.
CLI::Option* add_common(CLI::App& app, Arguments& arguments) {
  mf::app::add_file(app, "--topic", arguments.topic,
                    "What `mfidlc descriptor SCHEMA --topic NAME` has written of the topic")
      ->required();
  app.add_option("--engine", arguments.engine.url, "The engine that keeps its messages")
      ->type_name("nats://HOST:PORT or kafka://HOST:PORT, or several with commas between them")
      ->required();
  app.add_option(
      "--stream", arguments.engine.stream,
      "The stream of NATS or the topic of Kafka; the topic's name if it is left out (with '_' for '.' "
      "in NATS)");
  app.add_option("--subject", arguments.engine.subject,
                 "The subject of NATS; \"mf.\" and the topic's name if it is left out");
  app.add_flag("--create", arguments.engine.create, "Make that stream if there is none");
  return app
      .add_option(
          "--set", arguments.settings,
          "A setting of the engine: of NATS credentials, user, password, token, ca, certificate and key, of "
          "Kafka all of librdkafka")
      ->type_name("KEY=VALUE or KEY=@FILE");
}

CLI::Option* add_in(CLI::App& app, Arguments& arguments) {
  auto* const in = app.add_subcommand("in", "Subscribe to the topic, and append its messages to the engine");
  in->configurable();
  auto* const set = add_common(*in, arguments);
  in->add_option("--from", arguments.from, "Where the publishers are")
      ->type_name("mf://HOST:PORT, relay://HOST:PORT or tcp://HOST:PORT")
      ->capture_default_str();
  in->add_option("--agents", arguments.agents, "Of which agents, as a pattern; all if it is left out");
  in->add_option("--overflow", arguments.overflow,
                 "What becomes of messages for which the engine leaves no room; block if the topic allows it")
      ->check(CLI::IsMember({"drop_oldest", "drop_newest", "block", "disconnect"}));
  in->add_option("--max-messages", arguments.max_messages, "How many messages may wait for the engine here")
      ->group("limits")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  in->add_option("--max-bytes", arguments.max_bytes, "How many bytes of messages may wait here")
      ->group("limits")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  mf::app::add_ca(*in, arguments.entrance, "publishers and controllers over TLS");
  mf::app::add_own_certificate(*in, arguments.entrance);
  mf::app::add_credential(*in, arguments.entrance);
  mf::app::add_log(*in, arguments.entrance);
  return set;
}

CLI::Option* add_out(CLI::App& app, Arguments& arguments) {
  auto* const out = app.add_subcommand("out", "Publish what the engine keeps of the topic to subscribers");
  out->configurable();
  auto* const set = add_common(*out, arguments);
  mf::app::add_entrance(*out, arguments.entrance, "controllers at mf+tls://");
  mf::app::add_access(*out, arguments.entrance, "which identities may subscribe");
  mf::app::add_own_certificate(*out, arguments.entrance);
  out->add_option("--controller", arguments.controller,
                  "The controllers at which subscribers find this bridge; none if it is left out")
      ->type_name("mf://HOST:PORT or mf+tls://HOST:PORT");
  out->add_option("--name", arguments.name,
                  "Whose offsets the engine keeps: one running bridge for each name")
      ->capture_default_str();
  out->add_option("--subscribers", arguments.subscribers, "It reads while so many subscribe")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  out->add_option("--settle", arguments.settle, "How long after a message has left its offset is kept")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(0, 3'600'000))
      ->capture_default_str();
  return set;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("A bridge of MF/IDL: a topic to and from an engine that keeps messages, NATS or Kafka.",
               "mf-bridge");
  app.set_version_flag("--version", "mf-bridge " MF_VERSION);
  app.require_subcommand(1);
  const auto* const set_in = add_in(app, arguments);
  const auto* const set_out = add_out(app, arguments);
  mf::app::Settings settings(app, "MF_BRIDGE_");
  settings.hide(*set_in);
  settings.hide(*set_out);
  if (const auto ended = settings.parse(argc, argv)) return *ended;
  if (settings.only_check()) {
    check(arguments);
    return mf::app::say_usable("mf-bridge");
  }
  if (app.got_subcommand("out")) return bring_out(arguments);
  bring_in(arguments);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return mf::app::guarded("mf-bridge", [&] { return run(argc, argv); });
}
