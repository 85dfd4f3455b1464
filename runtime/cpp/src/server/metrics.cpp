// The metrics of a server, and whether it is ready: what its monitor serves.
#include <string>
#include <string_view>
#include <vector>

#include "mf/monitor/door.hpp"
#include "mf/monitor/tally.hpp"
#include "server/core.hpp"

namespace mf {
namespace {

using monitor::Kind;

constexpr monitor::CallFamilies kCalls{
    .calls = "mf_server_calls",
    .calls_help = "Calls that have ended, items of batches one by one.",
    .duration = "mf_server_call_duration_seconds",
    .duration_help = "From the arrival of a request, or a batch, to its answer.",
};

void expose_connections(const ConnectionStats& of, std::size_t most_bytes, monitor::Exposition& out) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  out.gauge("mf_server_connections", "Open connections.", number(of.open));
  out.gauge("mf_server_handshakes", "Open connections without a HELLO.", number(of.handshakes));
  out.gauge("mf_server_open_calls", "Calls that wait or run.", number(of.calls));
  out.gauge("mf_server_held_bytes", "What all connections hold together.", number(of.held_bytes));
  out.gauge("mf_server_max_held_bytes", "The most that they may hold together.", number(most_bytes));
  out.counter("mf_server_connections_accepted", "Accepted connections.", number(of.accepted));
  out.counter("mf_server_connections_refused", "Connections above a limit.", number(of.refused));
  out.counter("mf_server_connections_turned_away", "Connections for which there was no file descriptor.",
              number(of.turned_away));
  out.family("mf_server_connections_cut", Kind::counter, "Connections that were ended, by the limit.");
  out.sample({{"limit", "handshake"}}, number(of.cut_handshakes));
  out.sample({{"limit", "progress"}}, number(of.cut_progress));
  out.sample({{"limit", "memory"}}, number(of.cut_memory));
  out.sample({{"limit", "protocol"}}, number(of.cut_protocol));
  out.sample({{"limit", "idle"}}, number(of.cut_idle));
}

}  // namespace

void Server::Core::expose(monitor::Exposition& out) const {
  const auto all = stats();
  out.family("mf_build_info", Kind::gauge, "The version of the runtime.");
  out.sample({{"version", MF_VERSION}, {"language", "cpp"}}, 1);
  out.gauge("mf_server_ready", "Whether it may be given work: 1 or 0.", not_ready().empty() ? 1 : 0);
  monitor::expose_calls(*tallies_, kCalls, out);
  out.gauge("mf_server_running", "Messages of methods with a limit that run.",
            static_cast<double>(all.running));
  out.gauge("mf_server_waiting", "Messages of methods with a limit that wait.",
            static_cast<double>(all.waiting));
  out.counter("mf_server_oneway_dropped", "One-way calls that a limit refused.",
              static_cast<double>(all.dropped));
  expose_connections(all.connections, load_->most(), out);
  if (tls_)
    out.gauge("mf_server_certificate_expires_timestamp_seconds",
              "When the certificate that is shown at tls:// expires, in seconds since 1970.",
              transport::certificate_expires(*tls_));
  if (options_.expose) options_.expose(out);
}

std::string Server::Core::not_ready() const {
  std::string lines;
  const auto why = readiness_->why_not();
  for (const auto& reason : *why) lines.append(reason).append("\n");
  return lines;
}

std::vector<std::string> Server::Core::own_reasons() const {
  std::vector<std::string> why;
  const auto reason = [&](std::string text) { why.push_back(std::move(text)); };
  std::shared_ptr<Registrar> registrar;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) reason("the server is stopping");
    registrar = registrar_;
  }
  if (registrar && !registrar->registered()) reason("the server is not registered at its controller");
  if (load_->over()) reason("its connections hold more than max_held_bytes");
  if (!options_.not_ready) return why;
  try {
    if (const auto own = options_.not_ready(); !own.empty()) reason(own);
  } catch (...) {
    log_escaped_exception(options_.log, "ServerOptions::not_ready");
    reason("ServerOptions::not_ready threw");
  }
  return why;
}

}  // namespace mf
