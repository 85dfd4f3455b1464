#include "mf/server/incoming.hpp"

#include "mf/server/run.hpp"

namespace mf::server {

void Ticket::answer(std::uint16_t status, Tier tier, Buffer& payload) {
  const auto link = std::exchange(link_, nullptr);
  if (!link) return;
  if (oneway_) return link->end_request(payload_size_);
  head_.status = status;
  head_.encoding = static_cast<std::uint8_t>(tier);
  link->send_reply(head_, payload, payload_size_);
}

void Ticket::fail(Code code, Execution execution, std::string_view message) {
  const auto link = std::exchange(link_, nullptr);
  if (!link) return;
  if (oneway_) return link->end_request(payload_size_);
  link->send_failure(head_, code, execution, message, payload_size_);
}

void Ticket::done() {
  if (const auto link = std::exchange(link_, nullptr)) link->end_request(payload_size_);
}

void refuse_method(Incoming& in) {
  in.ticket().fail(Code::internal, Execution::not_executed,
                   "a method index that the generated code does not know");
}

namespace detail {

Failure invalid_argument(std::string violation) {
  return Failure{.code = Code::invalid_argument,
                 .execution = Execution::not_executed,
                 .message = std::move(violation),
                 .declared = nullptr};
}

Failure invalid_result(const std::string& violation) {
  return Failure{.code = Code::handler_failed,
                 .execution = Execution::unknown,
                 .message = "the handler's result breaks the schema: " + violation,
                 .declared = nullptr};
}

Failure invalid_error(std::string_view error, const std::string& violation) {
  return Failure{.code = Code::handler_failed,
                 .execution = Execution::unknown,
                 .message = "the handler's error breaks the schema: " + codec::rooted(error, violation),
                 .declared = nullptr};
}

Failure not_answered(std::size_t answered, std::size_t items) {
  return Failure{.code = Code::handler_failed,
                 .execution = Execution::unknown,
                 .message = "the batch handler answered " + std::to_string(answered) + " of " +
                            std::to_string(items) + " items",
                 .declared = nullptr};
}

void log_oneway_failure(const Log& log, const ServiceInfo& service, const MethodInfo& method,
                        const Failure& failure) {
  log.write(Level::warning, "oneway_failed",
            {{"service", service.name},
             {"method", method.name},
             {"code", name(failure.code)},
             {"message", failure.message}});
}

}  // namespace detail

}  // namespace mf::server
