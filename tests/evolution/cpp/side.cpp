// The table of one schema, compiled for each of them: `evolving`, the module of all, is defined as a name of
// its own, which is that of the table's function, too. methods.inc has METHOD(name) of each generated method.
#include "side.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "evolving.hpp"
#include "mf/client/call.hpp"
#include "mf/client/stream.hpp"
#include "mf/codec/tiered.hpp"
#include "mf/server/run.hpp"
#include "mf/server/stream.hpp"

namespace evolution_test {
namespace {

template <mf::Tier kTier, class T>
T value_of(const Value& bytes) {
  mf::codec::Reader reader(bytes);
  T value{};
  if (!mf::codec::decode<kTier>(reader, value) || !reader.finish())
    throw std::invalid_argument("not a value of the schema: " + reader.error().message());
  return value;
}

template <mf::Tier kTier, class T>
Value bytes_of(const T& value) {
  return mf::codec::to_bytes<kTier>(value);
}

// ---- errors, by their place in the method's list

template <class List>
struct Errors;

template <class... All>
struct Errors<mf::ErrorList<All...>> {
  static void raise(const Answers::Error& error) {
    std::size_t at = 0;
    ((at++ == error.index ? throw value_of<mf::Tier::febird, All>(error.value) : void()), ...);
    throw std::invalid_argument("the method declares fewer errors");
  }
  static void describe(const mf::DeclaredError& error, Ended& into) {
    std::size_t at = 0;
    (describe_as<All>(error, at++, into), ...);
  }

 private:
  template <class E>
  static void describe_as(const mf::DeclaredError& error, std::size_t at, Ended& into) {
    const auto* const typed = dynamic_cast<const E*>(&error);
    if (typed == nullptr) return;
    into.error = at;
    into.value = bytes_of<mf::Tier::febird>(*typed);
  }
};

// ---- the client

void call_any(const mf::client::Target& target, const mf::link::Method& method,
              const mf::protocol::RequestHead& head, mf::client::Encode encode,
              mf::client::detail::Decoder& into) {
  const mf::CallOptions options{.deadline = std::chrono::seconds(20)};
  const mf::client::Context context(target, options, method.info);
  mf::link::ReplySlot slot;
  target.call(slot, method.info, head, encode, context);
  if (!method.info.oneway || slot.reply.local())
    mf::client::detail::take_apart(method, slot.reply, 0, head.count, into);
}

template <class M>
Ended ended(const mf::Outcome<typename M::Result>& outcome) {
  Ended as{.failure = {.code = mf::Code::ok, .execution = {}, .message = {}, .declared = {}}};
  if (outcome.ok()) {
    if constexpr (!std::is_void_v<typename M::Result>) as.value = bytes_of<M::kResultTier>(outcome.value());
  } else {
    as.failure = outcome.failure();
    if (as.failure.declared) Errors<typename M::Errors>::describe(*as.failure.declared, as);
  }
  return as;
}

/// What the client library does for all methods alike; generated stubs add what takes the compiler longer.
template <class M>
std::vector<Ended> call(const mf::client::Target& target, std::span<const Value> requests,
                        std::span<const Value> /*elements*/) {
  using Result = typename M::Result;
  std::vector<typename M::Request> items;
  for (const auto& each : requests) items.push_back(value_of<M::kRequestTier, typename M::Request>(each));
  const auto encode = [&](mf::Gathered& payload) {
    payload.buffer.resize(mf::codec::encoded_batch_size<M::kRequestTier>(items.data(), items.size()));
    mf::codec::Writer writer(payload.buffer.data());
    mf::codec::encode_batch<M::kRequestTier>(writer, items.data(), items.size());
  };
  auto head = mf::client::detail::head<M>();
  head.count = static_cast<std::uint32_t>(items.size());
  if (items.size() > 1) head.flags |= mf::protocol::kBulk;
  mf::client::detail::DecoderOf<Result, M::kResultTier> decoder(items.size());
  call_any(target, mf::link::kMethod<M>, head, encode, decoder);
  std::vector<Ended> all;
  for (const auto& outcome : mf::client::detail::outcomes<Result>(decoder)) all.push_back(ended<M>(outcome));
  return all;
}

/// mf::client::stream() with the request's fields, which only generated stubs know by their names.
template <class M>
auto begin(const mf::client::Target& target, const Value& request) {
  mf::Gathered payload;
  payload.buffer.append(request);
  auto head = mf::client::detail::head<M>();
  head.flags |= mf::protocol::kStream;
  const mf::CallOptions options{.deadline = std::chrono::seconds(20)};
  const mf::client::Context context(target, options, M::kInfo);
  const auto call =
      std::make_shared<mf::client::StreamedCallOf<M>>(target, mf::link::kMethod<M>, head, std::move(payload),
                                                      context, options, mf::client::detail::param_tier<M>());
  auto handle = mf::client::detail::handle_of<M>(call);
  mf::client::AsyncCall::launch(call, context.now);
  return handle;
}

template <class M>
std::vector<Ended> stream(const mf::client::Target& target, std::span<const Value> requests,
                          [[maybe_unused]] std::span<const Value> elements) {
  std::vector<Value> got;
  auto outcome = mf::attempt([&]() -> typename M::Result {
    auto handle = begin<M>(target, requests.front());
    if constexpr (M::kInfo.streams != mf::Streams::results) {
      for (const auto& each : elements)
        if (!handle.write(value_of<M::kParamElementTier, typename M::ParamElement>(each))) break;
    }
    if constexpr (M::kInfo.streams == mf::Streams::params) {
      return handle.finish();
    } else {
      if constexpr (M::kInfo.streams == mf::Streams::both) handle.done_writing();
      while (const auto element = handle.next()) got.push_back(bytes_of<M::kResultElementTier>(*element));
      if constexpr (!std::is_void_v<typename M::Result>) return {};
    }
  });
  auto as = ended<M>(outcome);
  as.elements = std::move(got);
  return {as};
}

// ---- the server

/// What runs for a method of the servant above in the place of what was generated.
template <class M>
struct Served : M {
  using Servant = Echo;
  using Request = typename M::Request;
  using Result = typename M::Result;
  static Result invoke(Echo& servant, const Request& request) {
    servant.answers().came(bytes_of<M::kRequestTier>(request));
    return answer(servant);
  }
  /// Of asynchronous servants, of which there are none here.
  template <class... Ends>
  static void invoke(typename M::AsyncServant& /*servant*/, Request&& /*request*/, Ends&&... /*ends*/) {}
  static auto invoke_batch(Echo& servant, const Request* requests, std::size_t count) {
    return mf::server::each<Served>(servant, {requests, count});
  }
  static Result answer(Echo& servant) {
    if (const auto error = servant.answers().error(M::kInfo.name)) Errors<typename M::Errors>::raise(*error);
    if constexpr (!std::is_void_v<Result>)
      return value_of<M::kResultTier, Result>(servant.answers().result(M::kInfo.name));
  }
  template <class Reader>
  static void read(Echo& servant, Reader& reader) {
    while (const auto element = reader.next())
      servant.answers().came(bytes_of<M::kParamElementTier>(*element));
  }
  template <class Writer>
  static void write(Echo& servant, Writer& writer) {
    for (const auto& each : servant.answers().elements(M::kInfo.name))
      if (!writer.write(value_of<M::kResultElementTier, typename M::ResultElement>(each))) return;
  }
  template <class Stream>
  static Result invoke(Echo& servant, const Request& request, Stream& stream) {
    servant.answers().came(bytes_of<M::kRequestTier>(request));
    if constexpr (M::kInfo.streams == mf::Streams::params) {
      read(servant, stream);
    } else {
      write(servant, stream);
    }
    return answer(servant);
  }
  template <class Reader, class Writer>
  static Result invoke(Echo& servant, const Request& request, Reader& reader, Writer& writer) {
    servant.answers().came(bytes_of<M::kRequestTier>(request));
    read(servant, reader);
    write(servant, writer);
    return answer(servant);
  }
};

template <class M>
void serve(mf::server::Incoming& incoming, Echo& servant) {
  if constexpr (M::kInfo.streams == mf::Streams::none) {
    mf::server::run<Served<M>>(incoming, servant);
  } else {
    mf::server::run_stream<Served<M>>(incoming, servant);
  }
}

template <class M>
constexpr Method method() {
  if constexpr (M::kInfo.streams == mf::Streams::none) {
    return {M::kInfo.name, &call<M>, &serve<M>};
  } else {
    return {M::kInfo.name, &stream<M>, &serve<M>};
  }
}

constexpr Method kMethods[] = {
#define METHOD(name) method<::evolving::methods::name>(),
#include "methods.inc"
};

}  // namespace

#define SIDE_OF(module) side_of_##module
#define SIDE(module) SIDE_OF(module)
Side SIDE(evolving)() {
  return {&::evolving::methods::kEvolvingService, kMethods};
}

}  // namespace evolution_test
