#include "bridge/engine.hpp"

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf::bridge {
namespace {

Error invalid(const std::string& why) {
  return {Code::invalid_argument, Execution::not_executed, why};
}

}  // namespace

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

std::unique_ptr<Engine> open_engine(const EngineOptions& options) {
  const std::string_view url = options.url;
  const bool nats = url.starts_with("nats://") || url.starts_with("tls://");
  if (!nats && !url.starts_with("kafka://"))
    throw invalid("\"" + shortened(url) +
                  "\" names no engine: nats://HOST:PORT (JetStream) and kafka://HOST:PORT are known");
  auto engine = nats ? open_nats(options) : open_kafka(options);
  if (!engine)
    throw invalid(std::string("this program was built without ") +
                  (nats ? "NATS: libnats-dev" : "Kafka: librdkafka-dev") +
                  " was not there (packaging/apt-bridge.txt names it)");
  return engine;
}

}  // namespace mf::bridge
