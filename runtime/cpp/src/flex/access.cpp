#include "flex/access.hpp"

#include <cstddef>
#include <utility>

#include "mf/core/current_call.hpp"
#include "mf/flex.server.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kMostNames = 4'096;

}  // namespace

bool MailAccess::may_send(const Identity& identity, std::string_view agent) const {
  const auto slash = agent.rfind('/');
  const auto name = slash == std::string_view::npos ? agent : agent.substr(slash + 1);
  return rules_->decide(identity, {.action = access::Action::send, .object = name}).allowed;
}

bool MailAccess::may_be(const Identity& identity, std::string_view peer, std::string_view name) const {
  const access::Wish wish{
      .action = access::Action::register_, .object = methods::kMailboxService.name, .agent = name};
  if (rules_->decide(identity, wish).allowed) return true;
  log_.write(Level::warning, "source_denied",
             {{"peer", peer}, {"identity", identity.str()}, {"source", name}});
  return false;
}

Admitted::Admitted(std::shared_ptr<const MailAccess> access)
    : access_(std::move(access)),
      identity_(access_ ? current_call().identity() : Identity()),
      peer_(access_ ? current_call().peer : std::string_view()) {}

bool Admitted::operator()(const std::string& source) {
  if (!access_ || names_.contains(source)) return true;
  if (!access_->may_be(identity_, peer_, source)) return false;
  if (names_.size() < kMostNames) names_.insert(source);
  return true;
}

}  // namespace mf::flex
