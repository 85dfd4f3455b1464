#include "mf/http/door.hpp"

#include <utility>

#include "http/core.hpp"
#include "http/session.hpp"
#include "mf/monitor/exposition.hpp"

namespace mf::http {
namespace {

HouseOptions house_of(const DoorOptions& options) {
  return {.what = "HTTP door",
          .listen = options.listen,
          .open = options.open,
          .knows_clients = options.knows_clients,
          .beyond =
              "could be used by every program that reaches it: demand certificates by https:// and "
              "--client-ca, take tokens by --token-keys over https://, listen at 127.0.0.1, or say --open",
          .tls = options.tls,
          .origins = options.origins,
          .names = options.names,
          .names_by = "--http-name",
          .origins_by = "--http-origin",
          .max_connections = options.max_connections,
          .max_body = options.max_body,
          .max_held_bytes = options.max_held_bytes,
          .header_timeout = options.header_timeout,
          .body_timeout = options.body_timeout,
          .idle_timeout = options.idle_timeout,
          .reload_interval = options.reload_interval,
          .log = options.log};
}

}  // namespace

void check(const DoorOptions& options) {
  check(house_of(options));
}

Core::Core(const DoorOptions& options, std::shared_ptr<relay::Relay> relay,
           std::shared_ptr<const server::Gatekeeper> gatekeeper)
    : House(house_of(options)),
      deadline_(options.deadline),
      relay_(std::move(relay)),
      gatekeeper_(std::move(gatekeeper)),
      reactor_(std::make_shared<transport::Reactor>(0, options.log)),
      callers_(relay_, reactor_),
      descriptions_(relay_, reactor_, callers_,
                    [this](UniqueFunction<void()> work) { post(std::move(work)); }),
      catalogue_(relay_, reactor_, [this](UniqueFunction<void()> work) { post(std::move(work)); }) {}

void Core::begin() {
  House::begin();
  options().log.write(Level::info, "http_started", {{"address", address()}, {"tls", tls() != nullptr}});
}

void Core::stop() {
  House::stop();
  // What runs there may refer to this.
  reactor_->stop();
}

void Core::welcome(boost::asio::ip::tcp::socket socket) {
  serve(*this, std::move(socket));
}

void Core::tidy(TimePoint now) {
  descriptions_.tidy(now);
  callers_.tidy(now);
}

void Core::closing() {
  descriptions_.close();
  catalogue_.close();
}

void Core::closed() {
  callers_.close();
}

void Core::expose(monitor::Exposition& out) const {
  using monitor::Kind;
  const auto value = [](const auto& figure) { return static_cast<double>(figure.load()); };
  const auto& counted = figures();
  out.gauge("mf_http_connections", "Open connections of the HTTP door.", value(counted.open));
  out.counter("mf_http_connections_accepted", "Connections that the HTTP door has accepted.",
              value(counted.connections));
  out.counter("mf_http_connections_refused", "Connections above the limit of the HTTP door.",
              value(counted.refused));
  out.counter("mf_http_connections_crowded_out", "Connections that were ended since a new one had no room.",
              value(counted.crowded_out));
  out.family("mf_http_requests", Kind::counter, "Requests that the HTTP door has answered.");
  out.sample({{"status", "2xx"}}, value(counted.good));
  out.sample({{"status", "4xx"}}, value(counted.client_errors));
  out.sample({{"status", "5xx"}}, value(counted.server_errors));
  out.counter("mf_http_calls", "Calls that the HTTP door has started; each item of a batch counts.",
              value(calls_));
  out.counter("mf_http_messages", "Values of streams and topics that the HTTP door has sent.",
              value(messages_));
}

Door::Door(DoorOptions options, std::shared_ptr<relay::Relay> relay,
           std::shared_ptr<const server::Gatekeeper> gatekeeper)
    : core_(std::make_shared<Core>(options, std::move(relay), std::move(gatekeeper))) {
  core_->begin();
}

Door::~Door() {
  core_->stop();
}

const std::string& Door::address() const noexcept {
  return core_->address();
}

bool Door::drain(std::chrono::milliseconds within) {
  return core_->drain(within);
}

bool Door::reload() {
  return core_->reload();
}

void Door::expose(monitor::Exposition& out) const {
  core_->expose(out);
}

}  // namespace mf::http
