#include "mf/link/method.hpp"

#include "mf/core/failure.hpp"

namespace mf::link {
namespace {

bool declares(const Method& method, const DeclaredError& error) {
  for (const auto& declared : method.errors) {
    if (declared.is(error)) return true;
  }
  return false;
}

[[noreturn]] void refuse_item(const BatchMethod& method, std::size_t item, const std::string& bad) {
  refuse_argument(method.method, "item " + std::to_string(item) + ": " + codec::rooted("", bad));
}

/// The reason why servants cannot decode a request that is possibly undecodable.
std::optional<std::string> refusal(const RequestType& type, Items requests, std::size_t item) {
  Buffer bytes;
  type.encode(bytes, requests, item, 1);
  return codec::detail::refusal_of(bytes.span(), type.reads);
}

}  // namespace

bool Requests::decode(codec::Reader& reader, std::size_t count) {
  if (!reader.check_count(count, type_.min_encoded) || !reader.charge(count, type_.charged)) return false;
  first_ = type_.make(count);
  count_ = count;
  return type_.decode(reader, first_, count);
}

void Requests::copy(Items requests, std::size_t item) {
  first_ = type_.copy(static_cast<const std::byte*>(requests.first) + item * type_.size);
  count_ = 1;
}

void Requests::keep(std::span<const std::size_t> places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i != places[i]) type_.move(at(i), at(places[i]));
  }
  count_ = places.size();
}

std::string full_name(const Method& method) {
  return std::string(method.service.name) + "." + std::string(method.info.name);
}

void check_requests(const BatchMethod& method, Items requests) {
  if (method.request.violation == nullptr) return;
  for (std::size_t i = 0; i < requests.count; ++i) {
    if (const auto bad = method.request.violation(requests, i)) [[unlikely]]
      refuse_item(method, i, *bad);
  }
}

void check_sent_requests(const BatchMethod& method, Items requests) {
  check_requests(method, requests);
  if (method.request.readable == nullptr) return;
  for (std::size_t i = 0; i < requests.count; ++i) {
    if (method.request.readable(requests, i)) [[likely]]
      continue;
    if (const auto bad = refusal(method.request, requests, i)) refuse_item(method, i, *bad);
  }
}

void check_unsure_request(const Method& method, const RequestType& type, const void* request) {
  if (const auto bad = refusal(type, {request, 1}, 0)) refuse_argument(method, *bad);
}

void refuse_argument(const Method& method, const std::string& violation) {
  throw Error(Code::invalid_argument, Execution::not_executed,
              full_name(method) + ": " + codec::rooted("", violation));
}

Failure ended_here(const Method& method) {
  return not_executed(
      Code::invalid_argument,
      full_name(method) + ": this side has ended its stream, so that nothing more can be written");
}

Failure declared_or_failed(const Method& method, const Failure& failure) {
  return declares(method, *failure.declared) ? failure : mf::detail::undeclared(failure);
}

std::shared_ptr<const Failure> miscounted(std::size_t answered, std::size_t items) {
  return mf::detail::shared(may_have_run(
      Code::handler_failed,
      "the batch handler answered " + std::to_string(answered) + " of " + std::to_string(items) + " items"));
}

void log_oneway_failure(const Log& log, const Method& method, const Failure& failure) {
  log.write(Level::warning, "oneway_failed",
            {{"service", method.service.name},
             {"method", method.info.name},
             {"code", name(failure.code)},
             {"message", failure.message}});
}

}  // namespace mf::link
