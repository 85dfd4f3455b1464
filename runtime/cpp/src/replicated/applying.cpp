#include "mf/replicated/applying.hpp"

#include "mf/core/failure.hpp"
#include "mf/server/incoming.hpp"

namespace mf::replicated {
namespace {

replication::Outcome text(Code code, std::string message) {
  return {.status = static_cast<std::uint8_t>(code), .error = 0, .payload = Bytes(std::move(message))};
}

}  // namespace

replication::Outcome failed(const link::Method& method, const Failure& failure,
                            link::HandlerFailures& failures) {
  const auto logged = [&](const Failure& of) {
    return text(of.code, failures.message_after(method, {}, of));
  };
  if (!failure.declared) return logged(failure);
  for (std::size_t i = 0; i < method.errors.size(); ++i) {
    const auto& error = method.errors[i];
    if (!error.is(*failure.declared)) continue;
    if (const auto bad = error.refusal(*failure.declared))
      return logged(may_have_run(Code::handler_failed, "the handler's error breaks the schema: " + *bad));
    Buffer fields;
    error.encode(fields, *failure.declared);
    return {.status = static_cast<std::uint8_t>(Code::declared),
            .error = static_cast<std::uint16_t>(i),
            .payload = Bytes(std::move(fields))};
  }
  return logged(mf::detail::undeclared(failure));
}

void refuse(Application& message, const ServiceInfo& service) {
  message.done(text(Code::unknown_method, std::string(service.name) + " has no replicated method '" +
                                              std::string(message.method) + "'"));
}

void refuse_call(server::Incoming& in) {
  in.ticket().fail(Code::unknown_method, Execution::not_executed,
                   "this method is replicated: it is called through its replicas");
}

namespace detail {

Failure undecodable(const codec::Reader& reader) {
  return may_have_run(Code::decode_error,
                      reader.failed() ? reader.error().message() : "another encoding than the schema says");
}

}  // namespace detail
}  // namespace mf::replicated
