#ifdef MF_BRIDGE_NATS
#include "bridge/nats_session.hpp"

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/core/text.hpp"

namespace mf::bridge::nats {
namespace {

constexpr std::int64_t kTimeout = 5'000;
constexpr std::int64_t kReconnectWait = 200;
constexpr std::int64_t kPingInterval = 5'000;

void ignore_error(natsConnection* /*connection*/, natsSubscription* /*subscription*/, natsStatus /*status*/,
                  void* /*closure*/) {}  // callers read the status of each function instead

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

namespace {

/// The settings that NATS takes here.
struct Settings {
  std::string credentials{};
  std::string ca{};
  std::string user{};
  std::string password{};
  std::string token{};
  std::string certificate{};
  std::string key{};
};

Settings settings_of(const EngineOptions& options) {
  Settings settings;
  const std::map<std::string_view, std::string*> places{{"credentials", &settings.credentials},
                                                        {"ca", &settings.ca},
                                                        {"user", &settings.user},
                                                        {"password", &settings.password},
                                                        {"token", &settings.token},
                                                        {"certificate", &settings.certificate},
                                                        {"key", &settings.key}};
  for (const auto& [key, value] : options.settings) {
    const auto found = places.find(key);
    if (found == places.end()) {
      std::vector<std::string> known;
      for (const auto& [name, place] : places) known.emplace_back(name);
      throw unusable("NATS has no setting \"" + key + "\" here, but " + some_of(known));
    }
    *found->second = value;
  }
  if (settings.certificate.empty() != settings.key.empty())
    throw unusable("NATS takes a certificate and its key, not one of them");
  return settings;
}

natsOptions* with_options(const EngineOptions& options, const std::string& where) {
  const auto settings = settings_of(options);
  natsOptions* made = nullptr;
  check(natsOptions_Create(&made), "NATS");
  Held<natsOptions, natsOptions_Destroy> held(made);
  check(natsOptions_SetURL(made, options.url.c_str()), "the address " + where);
  check(natsOptions_SetName(made, "mf-bridge"), "NATS");
  check(natsOptions_SetTimeout(made, kTimeout), "NATS");
  check(natsOptions_SetMaxReconnect(made, -1), "NATS");
  check(natsOptions_SetReconnectWait(made, kReconnectWait), "NATS");
  check(natsOptions_SetPingInterval(made, kPingInterval), "NATS");
  check(natsOptions_SetErrorHandler(made, ignore_error, nullptr), "NATS");
  if (const auto& file = settings.credentials; !file.empty())
    check(natsOptions_SetUserCredentialsFromFiles(made, file.c_str(), nullptr), "credentials " + file);
  if (const auto& file = settings.ca; !file.empty())
    check(natsOptions_LoadCATrustedCertificates(made, file.c_str()), "ca " + file);
  if (const auto& file = settings.certificate; !file.empty())
    check(natsOptions_LoadCertificatesChain(made, file.c_str(), settings.key.c_str()), "certificate " + file);
  if (!settings.user.empty())
    check(natsOptions_SetUserInfo(made, settings.user.c_str(), settings.password.c_str()), "user");
  if (!settings.token.empty()) check(natsOptions_SetToken(made, settings.token.c_str()), "token");
  return held.release();
}

}  // namespace

Session::Session(const EngineOptions& options)
    : options_(options), where_(shown_url(options.url)), with_(with_options(options, where_)) {
  auto status = NATS_OK;
  auto why = connect(status);
  if (why.empty()) return;
  if (status == NATS_CONNECTION_AUTH_FAILED) throw unusable(std::move(why));
  throw Error(Code::unavailable, Execution::unknown, why);
}

void Session::renew() {
  auto status = NATS_OK;
  if (const auto why = connect(status); !why.empty()) throw Error(Code::unavailable, Execution::unknown, why);
}

std::string Session::connect(natsStatus& status) {
  jetstream_.reset();
  connection_.reset();
  natsConnection* connection = nullptr;
  status = natsConnection_Connect(&connection, with_.get());
  if (status == NATS_OK) {
    connection_.reset(connection);
    jsCtx* jetstream = nullptr;
    check(natsConnection_JetStream(&jetstream, connection, nullptr), "JetStream");
    jetstream_.reset(jetstream);
    return {};
  }
  if (status == NATS_CONNECTION_AUTH_FAILED)
    return "NATS at " + where_ +
           " refuses the login: see credentials, user, password, token and certificate of --set";
  auto why = "NATS at " + where_ + " does not answer: " + natsStatus_GetText(status);
  const char* const more = nats_GetLastError(nullptr);
  if (status == NATS_SSL_ERROR && more != nullptr) why.append(": ").append(more);
  return why;
}

bool Session::closed() const {
  return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CLOSED;
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
    throw unusable("NATS at " + where_ + " has no JetStream: start it with --jetstream");
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
