#include "replicated/adapting.hpp"

#include <utility>

#include "mf/core/failure.hpp"
#include "mf/link/converting.hpp"

namespace mf::replicated {

std::optional<std::uint16_t> AdaptedMessages::index_of(std::string_view method) const {
  const auto methods = adaptation_->plan().here->methods();
  for (std::size_t index = 0; index < methods.size(); ++index)
    if (methods[index].name == method) return static_cast<std::uint16_t>(index);
  return std::nullopt;
}

std::optional<Failure> AdaptedMessages::request(std::uint16_t index, std::string_view& method,
                                                Bytes& payload) const {
  if (!adaptation_->allows(index)) return adaptation_->refusal_of(index);
  const auto& plan = adaptation_->method(index);
  method = plan.there;
  if (!plan.converts) return std::nullopt;
  link::Conversion conversion(adaptation_, index, link::Direction::to_server, plan.params, "parameter");
  codec::Reader reader(payload.span());
  Buffer out;
  auto converted = conversion.fields(reader, out);
  if (converted.went != described::Went::over)
    return not_executed(Code::invalid_argument, std::move(converted.why));
  payload = Bytes(std::move(out));
  return std::nullopt;
}

std::optional<Failure> AdaptedMessages::outcome(std::uint16_t index, replication::Outcome& outcome) const {
  const auto code = static_cast<Code>(outcome.status);
  const auto& plan = adaptation_->method(index);
  if (!plan.converts || (code != Code::ok && code != Code::declared)) return std::nullopt;
  link::Conversion conversion(adaptation_, index, link::Direction::to_client, plan.results, "result");
  codec::Reader reader(outcome.payload.span());
  Buffer out;
  link::Converted converted;
  if (code == Code::ok) {
    converted = conversion.fields(reader, out);
  } else {
    if (outcome.error >= plan.errors.size()) return std::nullopt;
    const auto& error = plan.errors[outcome.error];
    if (error.here == evolution::ErrorPlan::kUndeclared)
      return may_have_run(Code::handler_failed, link::undeclared(*adaptation_, index, error));
    converted = conversion.error(error, reader, out);
    outcome.error = error.here;
  }
  if (converted.went != described::Went::over)
    return may_have_run(Code::decode_error, std::move(converted.why));
  outcome.payload = Bytes(std::move(out));
  return std::nullopt;
}

}  // namespace mf::replicated
