#include "mf/client/decode.hpp"

namespace mf::client::detail {
namespace {

std::string method_name(std::string_view service, std::string_view method) {
  return std::string(service) + "." + std::string(method);
}

}  // namespace

Failure bad_reply(std::string_view service, std::string_view method, std::string_view reason) {
  return Failure{.code = Code::decode_error,
                 .execution = Execution::unknown,
                 .message = "the reply of " + method_name(service, method) + ": " + std::string(reason),
                 .declared = nullptr};
}

Failure server_failure(const link::Reply& reply, std::string_view service, std::string_view method) {
  protocol::FailureRecord record;
  if (!protocol::parse_failure(reply.payload, record)) {
    return bad_reply(service, method, "a failure record that cannot be read");
  }
  return Failure{.code = reply.status,
                 .execution = record.execution,
                 .message = method_name(service, method) + ": " + std::string(record.message),
                 .declared = nullptr};
}

}  // namespace mf::client::detail
