#include "mf/config/config.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "mf/core/log_output.hpp"
#include "mf/protocol/limits.hpp"

namespace mf {
namespace {

using config::Value;
using config::Values;

/// Puts values into options, each where it is set.
class Filling {
 public:
  explicit Filling(const Values& values) : values_(values) {}

  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }

  void set(std::string_view key, std::string& option) const {
    if (const auto* const value = find(key); value != nullptr) option = value->texts.front();
  }
  void set(std::string_view key, access::File& option) const {
    if (const auto* const value = find(key); value != nullptr) option = value->texts.front();
  }
  void set(std::string_view key, bool& option) const {
    if (const auto* const value = find(key); value != nullptr) option = value->texts.front() == "true";
  }
  template <class Number>
    requires std::is_integral_v<Number>
  void set(std::string_view key, Number& option) const {
    if (const auto* const value = find(key); value != nullptr) option = number<Number>(*value);
  }
  template <class Rep, class Period>
  void set(std::string_view key, std::chrono::duration<Rep, Period>& option) const {
    const auto* const value = find(key);
    if (value == nullptr) return;
    const std::chrono::duration<double> seconds(number<double>(*value));
    option = std::chrono::round<std::chrono::duration<Rep, Period>>(seconds);
  }
  void set(std::string_view key, std::vector<std::string>& option) const {
    if (const auto* const value = find(key); value != nullptr) option = value->texts;
  }
  /// The options of TLS in a section of this name, with a dot at its end.
  void set_tls(const std::string& section, TlsOptions& options) const {
    set(section + "ca", options.ca);
    set(section + "crl", options.crl);
    set(section + "certificate", options.certificate);
    set(section + "key", options.key);
    set(section + "server_name", options.server_name);
  }

 private:
  [[nodiscard]] const Value* find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  /// The text was checked when it was gathered.
  template <class Number>
  static Number number(const Value& value) {
    Number parsed{};
    const auto& text = value.texts.front();
    (void)std::from_chars(text.data(), text.data() + text.size(), parsed);
    return parsed;
  }

  const Values& values_;
};

void fill(const Filling& filling, ServerOptions& options) {
  filling.set("server.listen", options.listen);
  filling.set("server.controller", options.controller);
  filling.set("server.advertise", options.advertise);
  filling.set("server.open", options.open);
  filling.set("server.error_texts", options.error_texts);
  filling.set("server.workers", options.workers);
  filling.set("server.drain_timeout", options.drain_timeout);
  filling.set("server.reload_interval", options.reload_interval);
  filling.set("server.access", options.access);
  filling.set("server.monitor", options.monitor);
  filling.set("server.tls.certificate", options.tls.certificate);
  filling.set("server.tls.key", options.tls.key);
  filling.set("server.tls.client_ca", options.tls.ca);
  filling.set("server.tls.client_crl", options.tls.crl);
  filling.set_tls("server.controller_tls.", options.controller_tls);
  filling.set("server.token.keys", options.token_keys);
  filling.set("server.token.audience", options.token_audience);
  filling.set("server.limits.concurrent", options.limit.concurrent);
  if (filling.has("server.limits.queued"))
    filling.set("server.limits.queued", options.limit.queued.emplace());
  filling.set("server.limits.max_payload", options.max_payload);
  filling.set("server.limits.max_in_flight", options.max_in_flight);
  filling.set("server.limits.max_bindings", options.max_bindings);
  filling.set("server.limits.max_streams", options.max_streams);
  filling.set("server.limits.stream_window", options.stream_window);
  filling.set("server.limits.max_connections", options.max_connections);
  filling.set("server.limits.max_connections_per_host", options.max_connections_per_host);
  filling.set("server.limits.max_handshakes", options.max_handshakes);
  filling.set("server.limits.max_held_bytes", options.max_held_bytes);
}

void fill(const Filling& filling, ClientOptions& options) {
  filling.set("client.wait_for_server", options.wait_for_server);
  filling.set("client.dead_after", options.dead_after);
  filling.set("client.reload_interval", options.reload_interval);
  filling.set("client.token_file", options.credential.file);
  filling.set("client.forward_metadata", options.forward_metadata);
  filling.set("client.limits.max_payload", options.max_payload);
  filling.set_tls("client.tls.", options.tls);
}

/// Adds what fits in each place, but not together.
void check_together(const Values& values, const ServerOptions& server, config::Mistakes& mistakes) {
  constexpr std::pair<const char*, const char*> kTogether[] = {
      {"server.limits.queued", "server.limits.concurrent"},
      {"server.token.keys", "server.token.audience"},
      {"server.token.audience", "server.token.keys"},
      {"server.tls.certificate", "server.tls.key"},
      {"server.tls.key", "server.tls.certificate"},
      {"server.controller_tls.certificate", "server.controller_tls.key"},
      {"server.controller_tls.key", "server.controller_tls.certificate"},
      {"client.tls.certificate", "client.tls.key"},
      {"client.tls.key", "client.tls.certificate"},
  };
  for (const auto& [key, other] : kTogether) {
    const auto found = values.find(key);
    if (found != values.end() && !values.contains(other))
      mistakes.add(found->second.place, std::string(key) + " requires " + other);
  }
  if (const auto forwarded = values.find("client.forward_metadata"); forwarded != values.end()) {
    for (const auto& key : forwarded->second.texts) {
      const char* const reason = key == Metadata::kAuthorization ? "a token and never passed on"
                                 : !Metadata::is_key(key)        ? "no key of metadata"
                                                                 : nullptr;
      if (reason != nullptr)
        mistakes.add(forwarded->second.place,
                     "client.forward_metadata has " + config::quoted(key) + ", which is " + reason);
    }
  }
  if (const auto bytes = std::uint64_t{server.max_streams} * server.stream_window;
      bytes > protocol::kMaxWindows) {
    auto found = values.find("server.limits.max_streams");
    if (found == values.end()) found = values.find("server.limits.stream_window");
    mistakes.add(found->second.place, "server.limits.max_streams times stream_window is " +
                                          std::to_string(bytes) + " bytes: together they may take " +
                                          std::to_string(protocol::kMaxWindows));
  }
}

}  // namespace

Config Config::load(const std::string& path, const config::Environment& environment) {
  const auto name = path.empty() ? environment("MF_CONFIG").value_or("") : path;
  config::Mistakes mistakes;
  const auto values = config::gather(config::keys(), name.empty() ? std::vector<Value>() : config::read(name),
                                     "MF_", environment, mistakes);
  Config config;
  const Filling filling(values);
  fill(filling, config.server);
  fill(filling, config.client);
  filling.set("client.url", config.url);
  check_together(values, config.server, mistakes);
  mistakes.throw_any();
  std::string word = "info";
  filling.set("log.level", word);
  Level level = Level::info;
  (void)parse_level(word, level);
  filling.set("log.format", word = "text");
  LogFormat format = LogFormat::text;
  (void)parse_log_format(word, format);
  config.server.log = config.client.log = Log(standard_error_log(format), level);
  for (const auto& [key, value] : values) config.sources.emplace(key, value.place);
  return config;
}

}  // namespace mf
