#include "mf/client/decode.hpp"

#include "client/whole_failure.hpp"
#include "mf/core/failure.hpp"

namespace mf::client::detail {
namespace {

Failure bad_reply(const link::Method& method, std::string_view reason) {
  return may_have_run(Code::decode_error,
                      "the reply of " + link::full_name(method) + ": " + std::string(reason));
}

Failure declared_failure(const link::Method& method, std::size_t index, std::span<const std::byte> bytes) {
  const auto refuse = [](std::string message) {
    return may_have_run(Code::decode_error, std::move(message));
  };
  if (index >= method.errors.size()) {
    return refuse("the reply holds an error that the method does not declare");
  }
  codec::Reader reader(bytes);
  auto error = method.errors[index].decode(reader);
  if (!error) return refuse(reader.error().message());
  std::string name = error->type_name();
  return Failure{.code = Code::declared,
                 .execution = Execution::unknown,
                 .message = std::move(name),
                 .declared = std::move(error)};
}

/// The failure in the server's failure record.
Failure server_failure(const link::Reply& reply, const link::Method& method) {
  protocol::FailureRecord record;
  if (!protocol::parse_failure(reply.payload, record)) {
    return bad_reply(method, "a failure record that cannot be read");
  }
  return in_context(link::full_name(method) + ": ",
                    make_failure(reply.status, record.execution, std::string(record.message)));
}

void fail(Decoder& into, std::size_t item, Failure failure) {
  into.results.fail(item, mf::detail::shared(std::move(failure)));
}

/// A result that violates its constraints becomes a failure.
void check_result(const link::Method& method, std::size_t item, Decoder& into) {
  if (method.result_violation == nullptr) return;
  if (const auto bad = method.result_violation(into.value(item))) [[unlikely]]
    fail(into, item, bad_reply(method, *bad));
}

/// The failure of item `index` of a mixed reply, which is item `item` of the call.
bool take_failure(protocol::MixedReader& items, std::uint32_t index, const link::Method& method,
                  std::size_t item, Decoder& into) {
  const auto code = items.outcome(index);
  if (code == Code::declared) {
    std::uint16_t error = 0;
    std::span<const std::byte> bytes;
    if (!items.next_declared(error, bytes)) return false;
    fail(into, item, declared_failure(method, error, bytes));
    return true;
  }
  protocol::FailureRecord record;
  if (!items.next_failure(record)) return false;
  fail(into, item, make_failure(code, record.execution, std::string(record.message)));
  return true;
}

}  // namespace

std::optional<Failure> whole_failure(const link::Method& method, const link::Reply& reply) {
  if (reply.local()) return reply.failure;
  if (reply.status != Code::ok && reply.status != Code::declared) return server_failure(reply, method);
  return std::nullopt;
}

void take_apart(const link::Method& method, const link::Reply& reply, std::size_t first, std::size_t items,
                Decoder& into) {
  const auto set_all = [&](Failure failure) {
    const auto shared = mf::detail::shared(std::move(failure));
    for (std::size_t item = 0; item < items; ++item) into.results.fail(first + item, shared);
  };
  const auto refuse = [&](std::string_view why) { set_all(bad_reply(method, why)); };
  if (auto whole = whole_failure(method, reply)) return set_all(*std::move(whole));
  const bool mixed = reply.status == Code::declared;
  if (reply.count != items) return refuse("another number of items than were sent");
  if (reply.encoding != static_cast<std::uint8_t>(method.result_tier))
    return refuse("another encoding than the schema says");
  if (!mixed) {
    codec::Reader reader = reply.reader();
    if (!into.decode(reader, first, items, 0) || !reader.finish()) return refuse(reader.error().message());
    for (std::size_t item = 0; item < items; ++item) check_result(method, first + item, into);
    return;
  }
  protocol::MixedReader outcomes(reply.payload, reply.count);
  if (!outcomes.ok()) return refuse("outcomes that do not fit");
  codec::Reader reader(outcomes.rest());
  if (!reply.owner.empty()) reader.set_owner(reply.owner);
  for (std::uint32_t i = 0; i < reply.count; ++i) {
    if (outcomes.outcome(i) != Code::ok) continue;
    if (!into.decode(reader, first + i, 1, i)) return refuse(reader.error().message());
    check_result(method, first + i, into);
  }
  if (!outcomes.skip_results(reader.offset())) return refuse("results that do not fit");
  for (std::uint32_t i = 0; i < reply.count; ++i) {
    if (outcomes.outcome(i) == Code::ok) continue;
    if (!take_failure(outcomes, i, method, first + i, into)) return refuse("a record that ends early");
  }
  if (!outcomes.finished()) refuse("bytes behind the last record");
}

void take_unsent(const link::Reply& reply, std::size_t first, link::Results& results) {
  if (reply.local() || reply.status != Code::declared) return;
  protocol::MixedReader outcomes(reply.payload, reply.count);
  for (std::uint32_t i = 0; i < reply.count; ++i) {
    protocol::FailureRecord record;
    if (outcomes.outcome(i) == Code::ok || !outcomes.next_failure(record)) continue;
    results.fail(first + i, mf::detail::shared(make_failure(outcomes.outcome(i), record.execution,
                                                            std::string(record.message))));
  }
}

}  // namespace mf::client::detail
