#ifdef MF_BRIDGE_NATS
#include "bridge/nats_session.hpp"

#include <array>

namespace mf::bridge::nats {
namespace {

constexpr std::int64_t kTimeout = 5'000;
constexpr std::int64_t kReconnectWait = 200;
constexpr std::int64_t kPingInterval = 5'000;

void ignore_error(natsConnection* /*connection*/, natsSubscription* /*subscription*/, natsStatus /*status*/,
                  void* /*closure*/) {}  // what matters is told where it is asked

void check(natsStatus status, const std::string& what) {
  if (status != NATS_OK) throw unusable(what + ": " + natsStatus_GetText(status));
}

}  // namespace

Error away(const std::string& what, natsStatus status) {
  return {Code::unavailable, Execution::unknown, what + ": " + natsStatus_GetText(status)};
}

Error unusable(std::string why) {
  return {Code::invalid_argument, Execution::not_executed, std::move(why)};
}

Session::Session(const EngineOptions& options) : options_(options) {
  natsOptions* made = nullptr;
  check(natsOptions_Create(&made), "NATS");
  const Held<natsOptions, natsOptions_Destroy> held(made);
  check(natsOptions_SetURL(made, options.url.c_str()), "the address " + options.url);
  check(natsOptions_SetName(made, "mf-bridge"), "NATS");
  check(natsOptions_SetTimeout(made, kTimeout), "NATS");
  check(natsOptions_SetMaxReconnect(made, -1), "NATS");
  check(natsOptions_SetReconnectWait(made, kReconnectWait), "NATS");
  check(natsOptions_SetPingInterval(made, kPingInterval), "NATS");
  check(natsOptions_SetErrorHandler(made, ignore_error, nullptr), "NATS");
  for (const auto& [key, value] : options.settings) {
    if (key == "credentials") {
      check(natsOptions_SetUserCredentialsFromFiles(made, value.c_str(), nullptr), "credentials " + value);
    } else if (key == "ca") {
      check(natsOptions_LoadCATrustedCertificates(made, value.c_str()), "ca " + value);
    } else {
      throw unusable("NATS has no setting \"" + key + "\" here: credentials and ca are known");
    }
  }
  natsConnection* connection = nullptr;
  if (const auto status = natsConnection_Connect(&connection, made); status != NATS_OK)
    throw away("NATS at " + options.url + " does not answer", status);
  connection_.reset(connection);
  jsCtx* jetstream = nullptr;
  check(natsConnection_JetStream(&jetstream, connection, nullptr), "JetStream");
  jetstream_.reset(jetstream);
}

bool Session::connected() const {
  return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
}

std::uint64_t Session::reconnects() const {
  natsStatistics* made = nullptr;
  if (natsStatistics_Create(&made) != NATS_OK) return 0;
  const Held<natsStatistics, natsStatistics_Destroy> held(made);
  std::uint64_t reconnects = 0;
  (void)natsConnection_GetStats(connection_.get(), made);
  (void)natsStatistics_GetCounts(made, nullptr, nullptr, nullptr, nullptr, &reconnects);
  return reconnects;
}

void Session::need_stream() const {
  jsStreamInfo* info = nullptr;
  jsErrCode code{};
  auto status = js_GetStreamInfo(&info, jetstream_.get(), options_.stream.c_str(), nullptr, &code);
  const StreamInfo found(info);
  if (status == NATS_OK) return;
  if (code == JSNotEnabledErr || code == JSNotEnabledForAccountErr || status == NATS_NO_RESPONDERS)
    throw unusable("NATS at " + options_.url + " has no JetStream: start it with --jetstream");
  if (code != JSStreamNotFoundErr) throw away("stream " + options_.stream, status);
  if (!options_.create)
    throw unusable("NATS has no stream " + options_.stream + ": make it, with subject " + options_.subject +
                   ", or say --create");
  jsStreamConfig config;
  (void)jsStreamConfig_Init(&config);
  std::array<const char*, 1> subjects{options_.subject.c_str()};
  config.Name = options_.stream.c_str();
  config.Subjects = subjects.data();
  config.SubjectsLen = 1;
  jsStreamInfo* made = nullptr;
  status = js_AddStream(&made, jetstream_.get(), &config, nullptr, &code);
  const StreamInfo held(made);
  if (status == NATS_OK || code == JSStreamNameExistErr) return;
  if (code == 0) throw away("stream " + options_.stream + " cannot be made", status);
  throw unusable("stream " + options_.stream + " with subject " + options_.subject +
                 " cannot be made: " + nats_GetLastError(nullptr));
}

}  // namespace mf::bridge::nats
#endif
