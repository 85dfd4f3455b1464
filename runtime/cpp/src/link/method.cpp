#include "mf/link/method.hpp"

namespace mf::link {
namespace {

bool declares(const Method& method, const DeclaredError& error) {
  for (const auto& declared : method.errors) {
    if (declared.is(error)) return true;
  }
  return false;
}

using Check = std::optional<std::string> (*)(Items requests, std::size_t item);

void check_items(const BatchMethod& method, Items requests, Check check) {
  if (check == nullptr) return;
  for (std::size_t i = 0; i < requests.count; ++i) {
    if (const auto bad = check(requests, i)) [[unlikely]] {
      refuse_argument(method.method, "item " + std::to_string(i) + ": " + *bad);
    }
  }
}

}  // namespace

std::string full_name(const Method& method) {
  return std::string(method.service.name) + "." + std::string(method.info.name);
}

void check_requests(const BatchMethod& method, Items requests) {
  check_items(method, requests, method.violation);
}

void check_sent_requests(const BatchMethod& method, Items requests) {
  check_items(method, requests, method.violation);
  check_items(method, requests, method.refusal);
}

void refuse_argument(const Method& method, const std::string& violation) {
  throw Error(Code::invalid_argument, Execution::not_executed, full_name(method) + ": " + violation);
}

Failure declared_or_failed(const Method& method, const Failure& failure) {
  return declares(method, *failure.declared) ? failure : mf::detail::undeclared(failure);
}

void raise_handler_failure(const Method& method) {
  auto failure = mf::detail::handler_failure();
  if (failure.declared) failure = declared_or_failed(method, failure);
  failure.raise();
}

void log_oneway_failure(const Log& log, const Method& method, const Failure& failure) {
  log.write(Level::warning, "oneway_failed",
            {{"service", method.service.name},
             {"method", method.info.name},
             {"code", name(failure.code)},
             {"message", failure.message}});
}

}  // namespace mf::link
