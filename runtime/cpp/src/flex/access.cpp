#include "flex/access.hpp"

#include <cstddef>
#include <utility>

#include "mf/core/current_call.hpp"
#include "mf/core/text.hpp"
#include "mf/flex.server.hpp"

namespace mf::flex {
namespace {

constexpr std::size_t kMostNames = 4'096;

}  // namespace

std::optional<Failure> MailAccess::denied(std::string_view process) const {
  const auto& call = current_call();
  const auto& identity = call.identity();
  const auto decision = file_.rules()->decide(identity, {.action = access::Action::send, .object = process});
  if (decision.allowed) return std::nullopt;
  log_.write(
      Level::warning, "send_denied",
      {{"peer", call.peer}, {"identity", identity.str()}, {"process", process}, {"line", decision.line}});
  return not_executed(Code::permission_denied,
                      identity.str() + " may not send to '" + shortened(process) + "'");
}

bool MailAccess::may_be(const Identity& identity, std::string_view peer, std::string_view name) const {
  const access::Wish wish{
      .action = access::Action::register_, .object = methods::kMailboxService.name, .agent = name};
  const auto decision = file_.rules()->decide(identity, wish);
  if (decision.allowed) return true;
  log_.write(Level::warning, "source_denied",
             {{"peer", peer}, {"identity", identity.str()}, {"source", name}, {"line", decision.line}});
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
