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

/// What a handler has written is sent before the reply, also if the reply says that the handler failed.
template <class M>
void end_stream(Incoming& in, Outcome<typename M::Result>& outcome) {
  const auto& call = in.ticket().call();
  (void)call->output().end_here();
  if (const auto drained = attempt([&] { call->output().drain(); }); !drained && outcome)
    outcome = drained.failure();
}

/// A plain handler with interceptors around it.
template <class M>
[[gnu::noinline]] void run_stream_intercepted(Incoming& in, typename M::Servant& servant,
                                              const typename M::Request& request) {
  ServerWay way(in, link::kMethod<M>, CallKind::stream, {&request, 1});
  if (!way.begin(in, link::kMethod<M>)) return;
  const ReportsTo reports(in, way);
  const auto call = in.ticket().call();
  const auto handler = [&] { return outcome_of([&] { return invoke_stream<M>(servant, request, call); }); };
  auto outcome = way.has_around()
                     ? way.run([&] { return Answer(handler()); }).template take<typename M::Result>()
                     : handler();
  end_stream<M>(in, outcome);
  way.gives(mf::detail::end_of(outcome));
  answer_one<M>(in, outcome);
}

template <class M>
void invoke_async_stream(typename M::AsyncServant& servant, typename M::Request&& request,
                         const std::shared_ptr<Call>& call, Responder<typename M::Result> responder) {
  if constexpr (M::kInfo.streams == Streams::params) {
    M::invoke(servant, std::move(request), reader_of<M>(call), std::move(responder));
  } else if constexpr (M::kInfo.streams == Streams::results) {
    M::invoke(servant, std::move(request), writer_of<M>(call), std::move(responder));
  } else {
    M::invoke(servant, std::move(request), reader_of<M>(call), writer_of<M>(call), std::move(responder));
  }
}

/// Starts an asynchronous handler; an exception before it has handed over its responder is its answer.
template <class M>
void start_async_stream(typename M::AsyncServant& servant, typename M::Request&& request,
                        const std::shared_ptr<Call>& call,
                        const std::shared_ptr<mf::detail::Answers>& answers) {
  mf::detail::Beginning beginning(answers.get(), 0);
  try {
    invoke_async_stream<M>(servant, std::move(request), call, Responder<typename M::Result>(answers, 0));
  } catch (...) {
    beginning.fail(mf::detail::shared(mf::detail::handler_failure()));
  }
}

/// An asynchronous handler with interceptors around it.
template <class M>
void start_through(const std::shared_ptr<ServerWay>& way, typename M::AsyncServant& servant,
                   typename M::Request&& request, const std::shared_ptr<Call>& call,
                   const std::shared_ptr<mf::detail::Answers>& answers) {
  using Result = typename M::Result;
  auto begin = [&servant, call, moved = std::move(request)](AnswerDone done) mutable {
    auto pass_on = [done = std::move(done)](Outcome<Result>&& outcome) mutable {
      done(Answer(std::move(outcome)));
    };
    start_async_stream<M>(
        servant, std::move(moved), call,
        std::make_shared<mf::detail::AnswerTo<Result, decltype(pass_on)>>(std::move(pass_on)));
  };
  std::make_shared<mf::detail::LaterHandler>(way, std::move(begin))
      ->start(AnswerDone([answers](Answer&& answer) {
        auto outcome = std::move(answer).template take<Result>();
        answers->answer(0, &outcome);
      }));
}

}  // namespace detail

template <class M>
void run_stream(Incoming& in, typename M::Servant& servant) {
  auto request = fresh<typename M::Request>();
  if (!detail::begin_stream<M>(in, request)) return;
  const auto call = in.ticket().call();
  const CallScope scope(in.info());
  if (in.interceptors() != nullptr) [[unlikely]]
    return detail::run_stream_intercepted<M>(in, servant, request);
  auto outcome = outcome_of([&] { return detail::invoke_stream<M>(servant, request, call); });
  detail::end_stream<M>(in, outcome);
  detail::answer_one<M>(in, outcome);
}

template <class M>
void run_stream(Incoming& in, typename M::AsyncServant& servant) {
  auto request = fresh<typename M::Request>();
  if (!detail::begin_stream<M>(in, request)) return;
  const auto call = in.ticket().call();
  const CallScope scope(in.info());
  std::shared_ptr<ServerWay> way;
  if (in.interceptors() != nullptr) [[unlikely]] {
    way = std::make_shared<ServerWay>(in, link::kMethod<M>, CallKind::stream, link::Items{&request, 1});
    if (!way->begin(in, link::kMethod<M>)) return;
    way->keep();
    way->forget_arguments();
    in.ticket().set_way(way);
  }
  const auto answers = detail::stream_answers(
      in, link::kMethod<M>,
      std::unique_ptr<detail::Encoder>(new detail::EncoderOf<typename M::Result, M::kResultTier>(1)));
  if (way && way->has_around())
    return detail::start_through<M>(way, servant, std::move(request), call, answers);
  detail::start_async_stream<M>(servant, std::move(request), call, answers);
}

}  // namespace mf::server
