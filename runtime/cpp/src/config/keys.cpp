// The keys of configuration files of servers and clients. Python has the same table (mf/config/keys.py),
// which has what they mean, too; docs/config.schema.json is made of that one, and tests hold both to it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mf/config/config.hpp"

namespace mf::config {
namespace {

constexpr std::int64_t kSecondsOfADay = 86'400;
constexpr std::int64_t kMostU32 = UINT32_MAX;
constexpr std::int64_t kMostWindow = INT32_MAX;
constexpr std::int64_t kMostConnections = 1'048'576;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48U;

Key text(const char* name) {
  return {.name = name, .kind = Kind::text};
}
Key list(const char* name) {
  return {.name = name, .kind = Kind::list};
}
Key choice(const char* name, std::vector<std::string> words) {
  return {.name = name, .kind = Kind::text, .choices = std::move(words)};
}
Key flag(const char* name) {
  return {.name = name, .kind = Kind::boolean};
}
Key integer(const char* name, std::int64_t least, std::int64_t most) {
  return {.name = name, .kind = Kind::integer, .least = least, .most = most};
}
Key seconds(const char* name, std::int64_t least) {
  return {.name = name, .kind = Kind::number, .least = least, .most = kSecondsOfADay};
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> all{
      text("server.listen"),
      text("server.controller"),
      text("server.advertise"),
      flag("server.open"),
      flag("server.error_texts"),
      integer("server.workers", 1, 1'024),
      seconds("server.drain_timeout", 0),
      seconds("server.reload_interval", 1),
      text("server.access"),
      text("server.monitor"),
      text("server.tls.certificate"),
      text("server.tls.key"),
      text("server.tls.client_ca"),
      text("server.tls.client_crl"),
      text("server.controller_tls.ca"),
      text("server.controller_tls.crl"),
      text("server.controller_tls.certificate"),
      text("server.controller_tls.key"),
      text("server.controller_tls.server_name"),
      text("server.token.keys"),
      text("server.token.audience"),
      integer("server.limits.concurrent", 1, kMostU32),
      integer("server.limits.queued", 0, kMostU32),
      integer("server.limits.max_payload", 1'024, kMostU32),
      integer("server.limits.max_in_flight", 1, kMostU32),
      integer("server.limits.max_bindings", 1, kMostU32),
      integer("server.limits.max_streams", 0, 8'192),
      integer("server.limits.stream_window", 1'024, kMostWindow),
      integer("server.limits.max_connections", 1, kMostConnections),
      integer("server.limits.max_connections_per_host", 0, kMostConnections),
      integer("server.limits.max_handshakes", 1, kMostConnections),
      integer("server.limits.max_held_bytes", 1'048'576, kMostBytes),
      text("client.url"),
      seconds("client.wait_for_server", 0),
      seconds("client.dead_after", 0),
      seconds("client.reload_interval", 1),
      text("client.token_file"),
      list("client.forward_metadata"),
      integer("client.limits.max_payload", 1'024, kMostU32),
      text("client.tls.ca"),
      text("client.tls.crl"),
      text("client.tls.certificate"),
      text("client.tls.key"),
      text("client.tls.server_name"),
      choice("log.level", {"debug", "info", "warning", "error", "off"}),
      choice("log.format", {"text", "json"}),
  };
  return all;
}

}  // namespace mf::config
