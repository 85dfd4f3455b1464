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

namespace {

bool take_item(protocol::MixedReader& items, std::uint32_t item, ReplySink& sink) {
  const auto code = items.outcome(item);
  if (code == Code::ok) {
    sink.take_next(item);
    return true;
  }
  if (code == Code::declared) {
    std::uint16_t index = 0;
    std::span<const std::byte> bytes;
    if (!items.next_declared(index, bytes)) return false;
    sink.set_declared(item, index, bytes);
    return true;
  }
  protocol::FailureRecord record;
  if (!items.next_failure(record)) return false;
  sink.set(item, Failure{.code = code,
                         .execution = record.execution,
                         .message = std::string(record.message),
                         .declared = nullptr});
  return true;
}

}  // namespace

void take_apart(const link::Reply& reply, std::size_t items, Tier tier, std::string_view service,
                std::string_view method, ReplySink& sink) {
  const auto refuse = [&](std::string_view why) { sink.set_all(bad_reply(service, method, why)); };
  if (reply.local) return sink.set_all(reply.failure);
  const bool mixed = reply.status == Code::declared;
  if (reply.status != Code::ok && !mixed) return sink.set_all(server_failure(reply, service, method));
  if (reply.count != items) return refuse("another number of items than were sent");
  if (reply.encoding != static_cast<std::uint8_t>(tier))
    return refuse("another encoding than the schema says");
  if (!mixed) {
    codec::Reader reader(reply.payload);
    if (!sink.decode_results(reader, items) || !reader.finish()) return refuse(reader.error().message());
    return sink.take_all();
  }
  protocol::MixedReader outcomes(reply.payload, reply.count);
  if (!outcomes.ok()) return refuse("outcomes that do not fit");
  codec::Reader reader(outcomes.rest());
  if (!sink.decode_results(reader, outcomes.results()) || !outcomes.skip_results(reader.offset())) {
    return refuse(reader.error().message());
  }
  for (std::uint32_t i = 0; i < reply.count; ++i) {
    if (!take_item(outcomes, i, sink)) return refuse("a record that ends early");
  }
  if (!outcomes.finished()) refuse("bytes behind the last record");
}

}  // namespace mf::client::detail
