#include "server/access.hpp"

#include "mf/core/error.hpp"
#include "mf/core/text.hpp"

namespace mf::server {
namespace {

std::shared_ptr<const access::Rules> rules_of(const std::string& path) {
  if (path.empty()) return nullptr;
  return access::Rules::load(path).value();
}

}  // namespace

Access::Access(const ServerOptions& options)
    : authenticate_(options.authenticate),
      authorize_(options.authorize),
      rules_(rules_of(options.access)),
      log_(options.log) {}

bool Access::admits(const protocol::Hello& hello, std::string_view peer, const Identity& identity) const {
  if (!authenticate_) return true;
  try {
    return authenticate_({.authentication = hello.authentication, .name = hello.name, .peer = peer},
                         identity);
  } catch (...) {
    log_escaped_exception(log_, "ServerOptions::authenticate");
    return false;
  }
}

bool Access::may_call(const Identity& identity, std::string_view service, std::string_view agent,
                      std::string_view method) const {
  if (rules_) {
    const auto object = std::string(service) + "." + std::string(method);
    const access::Wish wish{.action = access::Action::call, .object = object, .agent = agent};
    if (!rules_->decide(identity, wish).allowed) return false;
  }
  return authorized(identity, service, agent, method);
}

void Access::check_subscription(const Identity& identity, std::string_view peer, std::string_view topic,
                                std::string_view agents) const {
  const access::Wish wish{.action = access::Action::subscribe, .object = topic, .agent = agents};
  if ((!rules_ || rules_->decide(identity, wish).allowed) && authorized(identity, topic, agents, "subscribe"))
    return;
  log_.write(Level::warning, "subscription_denied",
             {{"peer", peer}, {"identity", identity.str()}, {"topic", topic}, {"agents", agents}});
  throw Error(Code::permission_denied, Execution::not_executed,
              identity.str() + " may not subscribe to " + std::string(topic) +
                  (agents.empty() ? "" : " for \"" + shortened(agents) + "\""));
}

bool Access::authorized(const Identity& identity, std::string_view service, std::string_view agent,
                        std::string_view method) const {
  if (!authorize_) return true;
  try {
    return authorize_(identity, service, agent, method);
  } catch (...) {
    log_escaped_exception(log_, "ServerOptions::authorize");
    return false;
  }
}

}  // namespace mf::server
