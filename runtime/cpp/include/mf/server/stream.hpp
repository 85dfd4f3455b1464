// Handlers of methods with a stream, called by generated dispatch(). A plain handler runs on a thread of its
// own and may block; an asynchronous one takes over its reader and writer, and answers through its responder.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "mf/core/stream.hpp"
#include "mf/link/stream_values.hpp"
#include "mf/server/run.hpp"

namespace mf::server {

namespace detail {

template <class M>
constexpr bool kReads = M::kInfo.streams == Streams::params || M::kInfo.streams == Streams::both;
template <class M>
constexpr bool kWrites = M::kInfo.streams == Streams::results || M::kInfo.streams == Streams::both;

template <class M>
constexpr auto param_element_violation() -> link::Violation<typename M::ParamElement> {
  if constexpr (requires { &M::param_element_violation; }) {
    return &M::param_element_violation;
  } else {
    return nullptr;
  }
}

template <class M>
constexpr auto result_element_violation() -> link::Violation<typename M::ResultElement> {
  if constexpr (requires { &M::result_element_violation; }) {
    return &M::result_element_violation;
  } else {
    return nullptr;
  }
}

template <class M>
auto reader_of(const std::shared_ptr<Call>& call) {
  using Element = typename M::ParamElement;
  return StreamReader<Element>(std::make_shared<link::WireValues<Element, M::kParamElementTier, Call>>(
      call, param_element_violation<M>()));
}

template <class M>
auto writer_of(const std::shared_ptr<Call>& call) {
  using Element = typename M::ResultElement;
  call->set_results(M::kResultElementTier, link::kMethod<M>);
  return StreamWriter<Element>(std::make_shared<link::WireSink<Element, M::kResultElementTier, Call>>(
      call, result_element_violation<M>()));
}

template <class M>
typename M::Result invoke_stream(typename M::Servant& servant, const typename M::Request& request,
                                 const std::shared_ptr<Call>& call) {
  if constexpr (M::kInfo.streams == Streams::params) {
    auto reader = reader_of<M>(call);
    return M::invoke(servant, request, reader);
  } else if constexpr (M::kInfo.streams == Streams::results) {
    auto writer = writer_of<M>(call);
    return M::invoke(servant, request, writer);
  } else {
    auto reader = reader_of<M>(call);
    auto writer = writer_of<M>(call);
    return M::invoke(servant, request, reader, writer);
  }
}

/// False: the call was refused.
template <class M>
bool begin_stream(Incoming& in, typename M::Request& request) {
  if (!in.stream()) [[unlikely]] {
    refuse_kind(in, M::kInfo.streams);
    return false;
  }
  if (!decode_one<M>(in, request)) return false;
  if constexpr (!kReads<M>) in.ticket().call()->forbid_input();
  return true;
}

}  // namespace detail

template <class M>
void run_stream(Incoming& in, typename M::Servant& servant) {
  auto request = fresh<typename M::Request>();
  if (!detail::begin_stream<M>(in, request)) return;
  const auto call = in.ticket().call();
  const CallScope scope(in.info());
  auto outcome = outcome_of([&] { return detail::invoke_stream<M>(servant, request, call); });
  // What was written is sent before the reply, also if the reply says that the handler failed.
  (void)call->output().end_here();
  if (const auto drained = attempt([&] { call->output().drain(); }); !drained && outcome)
    outcome = drained.failure();
  detail::answer_one<M>(in, outcome);
}

template <class M>
void run_stream(Incoming& in, typename M::AsyncServant& servant) {
  auto request = fresh<typename M::Request>();
  if (!detail::begin_stream<M>(in, request)) return;
  const auto call = in.ticket().call();
  const CallScope scope(in.info());
  const auto answers = detail::stream_answers(
      in, link::kMethod<M>,
      std::unique_ptr<detail::Encoder>(new detail::EncoderOf<typename M::Result, M::kResultTier>(1)));
  mf::detail::Beginning beginning(answers.get(), 0);
  try {
    Responder<typename M::Result> responder(answers, 0);
    if constexpr (M::kInfo.streams == Streams::params) {
      M::invoke(servant, std::move(request), detail::reader_of<M>(call), std::move(responder));
    } else if constexpr (M::kInfo.streams == Streams::results) {
      M::invoke(servant, std::move(request), detail::writer_of<M>(call), std::move(responder));
    } else {
      M::invoke(servant, std::move(request), detail::reader_of<M>(call), detail::writer_of<M>(call),
                std::move(responder));
    }
  } catch (...) {
    beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
  }
}

}  // namespace mf::server
