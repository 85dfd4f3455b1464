#include "mf/bridge/engine.hpp"

#include "mf/core/error.hpp"
#include "mf/core/failure.hpp"
#include "mf/core/text.hpp"

namespace mf::bridge {
#ifndef MF_BRIDGE_NATS
std::unique_ptr<Engine> open_nats(const EngineOptions& /*options*/) {
  return nullptr;
}
#endif
#ifndef MF_BRIDGE_KAFKA
std::unique_ptr<Engine> open_kafka(const EngineOptions& /*options*/) {
  return nullptr;
}
#endif

std::string shown_url(std::string_view url) {
  std::string shown;
  while (!url.empty()) {
    const auto end = url.find(',');
    auto each = url.substr(0, end);
    const auto scheme = each.find("://");
    const auto start = scheme == std::string_view::npos ? 0 : scheme + 3;
    const auto at = each.rfind('@');
    shown.append(shown.empty() ? "" : ",").append(each.substr(0, start));
    shown += each.substr(at == std::string_view::npos ? start : at + 1);
    url = end == std::string_view::npos ? std::string_view() : url.substr(end + 1);
  }
  return shown;
}

std::unique_ptr<Engine> open_engine(const EngineOptions& options) {
  const std::string_view url = options.url;
  const bool nats = url.starts_with("nats://") || url.starts_with("tls://");
  if (!nats && !url.starts_with("kafka://"))
    throw not_executed_error(
        Code::invalid_argument,
        "\"" + shortened(shown_url(url)) +
            "\" names no engine: nats://HOST:PORT (JetStream) and kafka://HOST:PORT are known");
  auto engine = nats ? open_nats(options) : open_kafka(options);
  if (!engine)
    throw not_executed_error(Code::invalid_argument,
                             std::string("this program was built without ") +
                                 (nats ? "NATS: libnats-dev" : "Kafka: librdkafka-dev") +
                                 " was not there (packaging/apt-bridge.txt names it)");
  return engine;
}

}  // namespace mf::bridge
