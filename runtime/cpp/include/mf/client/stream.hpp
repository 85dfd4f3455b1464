// Calls with streams over a connection: the implementation of generated stubs and of the handles that they
// return.
//
// Starting a call never waits for a connection: reading and writing do. No thread belongs to it: a waiting
// thread reads the connection, as blocking calls do, and is interrupted when another thread ends the call;
// the reactor reads while no thread waits.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "mf/client/async_call.hpp"
#include "mf/client/call.hpp"
#include "mf/core/stream.hpp"
#include "mf/link/local_stream.hpp"
#include "mf/link/stream.hpp"
#include "mf/link/stream_values.hpp"

namespace mf::client {

/// A call with streams, without its types.
class StreamedCall : public AsyncCall,
                     public link::StreamPort,
                     public link::StreamCall,
                     public std::enable_shared_from_this<StreamedCall> {
 public:
  StreamedCall(const Target& target, const link::Method& method, const protocol::RequestHead& head,
               Gathered&& payload, const CallContext& context, const CallOptions& options, Tier param_tier);
  ~StreamedCall() override;

  [[nodiscard]] link::StreamIn& input() noexcept { return in_; }
  [[nodiscard]] link::StreamOut& output() noexcept { return out_; }
  /// Cancels the call unless it has ended.
  void abandon() noexcept;
  [[noreturn]] void fail(Failure failure);
  [[noreturn]] static void refuse_value(const std::string& violation);
  void cancel() override;

  /// After output().end_here(): sends END when all pending data have been sent. end_output() waits for that.
  void end_output();
  void end_output_later();
  /// Waits until the call has ended.
  void wait_for_end();
  /// Runs `done` when the call has ended, perhaps before this returns.
  void when_ended(UniqueFunction<void()> done);
  /// Runs `sent` on the client's own thread each time that the request is in a connection's output, which may
  /// be more than once. To be called before launch().
  void when_sent(std::function<void()> sent) { sent_ = std::move(sent); }

  [[nodiscard]] bool reads() const noexcept override { return method_.info.streams != Streams::params; }
  void on_schema(const link::Adaptation* adaptation) override;
  /// The adaptation to the server that the call was last sent to; null if that has the client's schema.
  [[nodiscard]] std::shared_ptr<const link::Adaptation> adaptation() const;
  void on_sent(const std::shared_ptr<link::ClientLink>& link, std::uint32_t id) override;
  [[nodiscard]] link::StreamEvent on_data(const protocol::Event& event) override;
  [[nodiscard]] link::StreamEvent on_credit(std::uint32_t bytes) override;
  [[nodiscard]] link::StreamEvent on_stopped() override { return out_.on_stopped(); }
  [[nodiscard]] link::StreamEvent on_room() override { return out_.on_room(); }
  void write_later() override { write_soon(); }

  void send_data(std::uint16_t count, Buffer&& payload, std::uint8_t flags) override;
  void send_credit(std::uint32_t bytes) override;
  void send_end() override;
  void send_cancel() override { abandon(); }
  void give_up(Failure why) override { end_with(std::move(why)); }
  [[nodiscard]] bool has_room() override;
  void flush() override;
  void write_soon() override;
  void check_process() override;
  void wait(link::Waiter& waiter, TimePoint until) override;
  [[nodiscard]] TimePoint wait_until() override;
  Failure out_of_time() override;
  [[nodiscard]] Failure ended_here() override { return link::ended_here(method_); }
  void at(TimePoint when, UniqueFunction<void()> work) override;

 protected:
  [[nodiscard]] bool runs_anywhere() const noexcept override { return true; }
  [[nodiscard]] link::StreamCall* stream() noexcept override { return this; }
  void on_again() noexcept override;
  /// Called by end(): both directions have ended; `why` is null for success.
  void end_streams(std::shared_ptr<const Failure> why);

 private:
  struct Place {
    std::shared_ptr<link::ClientLink> link;
    std::uint32_t id = 0;
    Tier tier{};  // the tier of the values sent
  };
  [[nodiscard]] Place place() const;
  void complete(link::StreamEvent event);
  void watch_idle();
  void end_with(Failure why) noexcept;

  const link::Method& method_;
  const Tier param_tier_;
  const std::chrono::nanoseconds idle_;
  link::StreamIn in_;
  link::StreamOut out_;
  std::atomic<std::int64_t> active_at_{0};
  bool data_seen_ = false;  // used only by the link, as is the next member
  bool idle_watched_ = false;
  bool adapted_before_ = false;  // used only by the thread that sends the call
  std::function<void()> sent_;

  mutable std::mutex mutex_;  // guards all members below
  Place place_;
  Tier sent_tier_;
  std::shared_ptr<const link::Adaptation> adaptation_;
  bool ended_ = false;
  link::Waiter* waiter_ = nullptr;
  UniqueFunction<void()> done_;
};

template <class M>
class StreamedCallOf final : public StreamedCall {
 public:
  using StreamedCall::StreamedCall;

  /// To be called after the call has ended.
  [[nodiscard]] Outcome<typename M::Result>& outcome() noexcept { return outcome_; }

 private:
  void end(link::Reply&& reply) override {
    outcome_ = decode_single<M>(reply);
    end_streams(outcome_.ok() ? nullptr : mf::detail::shared(Failure(outcome_.failure())));
  }

  Outcome<typename M::Result> outcome_;
};

template <class M>
class StreamEnding final : public mf::detail::Ending<typename M::Result> {
  using Result = typename M::Result;

 public:
  explicit StreamEnding(std::shared_ptr<StreamedCallOf<M>> call) noexcept : call_(std::move(call)) {}
  Result finish() override {
    if (!call_->output().end_here()) call_->ended_here().raise();
    call_->end_output();
    call_->wait_for_end();
    return std::move(call_->outcome()).value();
  }
  void async_finish(Callback<Result> done) override {
    if (!call_->output().end_here()) return done(call_->ended_here());
    call_->when_ended([call = call_, done = std::move(done)]() mutable { done(std::move(call->outcome())); });
    call_->end_output_later();
  }
  void cancel() noexcept override { call_->abandon(); }

 private:
  std::shared_ptr<StreamedCallOf<M>> call_;
};

class StreamClosing final : public mf::detail::Closing {
 public:
  explicit StreamClosing(std::shared_ptr<StreamedCall> call) noexcept : call_(std::move(call)) {}
  void done_writing() override {
    if (call_->output().end_here()) call_->end_output();
  }

 private:
  std::shared_ptr<StreamedCall> call_;
};

namespace detail {

template <class M>
constexpr Tier param_tier() {
  if constexpr (M::kInfo.streams == Streams::results) {
    return Tier::memcpy;
  } else {
    return M::kParamElementTier;
  }
}

template <class M>
auto sink_of(const std::shared_ptr<StreamedCallOf<M>>& call) {
  using In = typename M::ParamElement;
  return std::make_shared<link::WireSink<In, M::kParamElementTier, StreamedCall>>(
      call, link::detail::param_violation<M>());
}

template <class M>
auto values_of(const std::shared_ptr<StreamedCallOf<M>>& call) {
  using Out = typename M::ResultElement;
  return std::make_shared<link::WireValues<Out, M::kResultElementTier, StreamedCall>>(
      call, link::detail::result_violation_of_element<M>());
}

template <class M>
auto handle_of(const std::shared_ptr<StreamedCallOf<M>>& call) {
  if constexpr (M::kInfo.streams == Streams::results) {
    return StreamReader<typename M::ResultElement>(values_of<M>(call));
  } else if constexpr (M::kInfo.streams == Streams::params) {
    return ClientStream<typename M::ParamElement, typename M::Result>(
        sink_of<M>(call), std::make_shared<StreamEnding<M>>(call));
  } else {
    return DuplexStream<typename M::ParamElement, typename M::ResultElement>(
        sink_of<M>(call), std::make_shared<StreamClosing>(call), values_of<M>(call));
  }
}

}  // namespace detail

namespace detail {

/// The values of a stream whose end is that of its call, for interceptors.
template <class T>
class InterceptedValues final : public mf::detail::Values<T> {
 public:
  InterceptedValues(std::shared_ptr<ClientWay> way, std::shared_ptr<mf::detail::Values<T>> inner) noexcept
      : way_(std::move(way)), inner_(std::move(inner)) {}
  ~InterceptedValues() override { way_->give_up(); }

  bool next(T& value) override {
    try {
      if (inner_->next(value)) return true;
    } catch (...) {
      way_->fail_with(Failure::from_current_exception());
      throw;
    }
    way_->end_with({});
    return false;
  }
  void async_next(Callback<std::optional<T>> done) override {
    inner_->async_next([way = way_, done = std::move(done)](Outcome<std::optional<T>>&& next) mutable {
      if (!next.ok()) {
        way->fail_with(next.failure());
      } else if (!next.value()) {
        way->end_with({});
      }
      done(std::move(next));
    });
  }
  void cancel() noexcept override {
    inner_->cancel();
    way_->give_up();
  }

 private:
  const std::shared_ptr<ClientWay> way_;
  const std::shared_ptr<mf::detail::Values<T>> inner_;
};

/// What is written to an intercepted stream: a failure may be the end of the call, which reading says.
template <class T>
class InterceptedSink final : public mf::detail::Sink<T>, public mf::detail::Closing {
 public:
  InterceptedSink(std::shared_ptr<ClientWay> way, std::shared_ptr<mf::detail::Sink<T>> inner,
                  std::shared_ptr<mf::detail::Closing> closing) noexcept
      : way_(std::move(way)), inner_(std::move(inner)), closing_(std::move(closing)) {}

  bool write(const T& value) override {
    return noting([&] { return inner_->write(value); });
  }
  void async_write(const T& value, Callback<bool> done) override {
    inner_->async_write(value, [way = way_, done = std::move(done)](Outcome<bool>&& written) mutable {
      if (!written.ok()) way->note_failure(written.failure());
      done(std::move(written));
    });
  }
  void flush() override {
    noting([&] { inner_->flush(); });
  }
  void done_writing() override {
    noting([&] { closing_->done_writing(); });
  }

 private:
  template <class Work>
  auto noting(Work work) {
    try {
      return work();
    } catch (...) {
      way_->note_failure(Failure::from_current_exception());
      throw;
    }
  }

  const std::shared_ptr<ClientWay> way_;
  const std::shared_ptr<mf::detail::Sink<T>> inner_;
  const std::shared_ptr<mf::detail::Closing> closing_;
};

/// The end of a stream of parameters, which is that of its call.
template <class R>
class InterceptedEnding final : public mf::detail::Ending<R> {
 public:
  InterceptedEnding(std::shared_ptr<ClientWay> way, std::shared_ptr<mf::detail::Ending<R>> inner) noexcept
      : way_(std::move(way)), inner_(std::move(inner)) {}
  ~InterceptedEnding() override { way_->give_up(); }

  R finish() override {
    auto outcome = attempt([&] { return inner_->finish(); });
    way_->end(outcome);
    return std::move(outcome).value();
  }
  void async_finish(Callback<R> done) override {
    inner_->async_finish([way = way_, done = std::move(done)](Outcome<R>&& outcome) mutable {
      way->end(outcome);
      done(std::move(outcome));
    });
  }
  void cancel() noexcept override {
    inner_->cancel();
    way_->give_up();
  }

 private:
  const std::shared_ptr<ClientWay> way_;
  const std::shared_ptr<mf::detail::Ending<R>> inner_;
};

template <class T>
StreamReader<T> watched(const std::shared_ptr<ClientWay>& way, StreamReader<T>&& reader) {
  return StreamReader<T>(std::make_shared<InterceptedValues<T>>(way, std::move(reader).release()));
}
template <class T, class R>
ClientStream<T, R> watched(const std::shared_ptr<ClientWay>& way, ClientStream<T, R>&& stream) {
  auto [sink, ending] = std::move(stream).release();
  return ClientStream<T, R>(std::make_shared<InterceptedSink<T>>(way, std::move(sink), nullptr),
                            std::make_shared<InterceptedEnding<R>>(way, std::move(ending)));
}
template <class In, class Out>
DuplexStream<In, Out> watched(const std::shared_ptr<ClientWay>& way, DuplexStream<In, Out>&& stream) {
  auto [sink, closing] = std::move(stream).release_writer();
  const auto writing = std::make_shared<InterceptedSink<In>>(way, std::move(sink), std::move(closing));
  return DuplexStream<In, Out>(writing, writing,
                               std::make_shared<InterceptedValues<Out>>(way, std::move(stream).release()));
}

/// A call behind its interceptors, or without any. Its deadline counts from `made`.
template <class M, class... Args>
auto stream_past(const Target& target, const CallOptions& options, TimePoint made,
                 const std::shared_ptr<CallFacts>* facts, const Args&... args) {
  if (const auto local = target.local<M>()) {
    return link::local_handle<M>(
        link::local_stream<M>(local, target.shared_servant(), target.servants(), options, args...));
  }
  check_arguments<M>(args...);
  Gathered payload(take_scratch());
  encode_arguments<M>(payload, args...);
  const Context context(target, options, M::kInfo, made == TimePoint{} ? mf::now() : made, facts);
  auto head = detail::head<M>();
  head.flags |= protocol::kStream;
  if (context.metadata != nullptr) [[unlikely]] {
    prepend_metadata(payload, *context.metadata);
    head.flags |= protocol::kMetadata;
  }
  const auto call = std::make_shared<StreamedCallOf<M>>(target, link::kMethod<M>, head, std::move(payload),
                                                        context, options, detail::param_tier<M>());
  AsyncCall::stop_with(call, options.stop);
  auto handle = detail::handle_of<M>(call);
  AsyncCall::launch(call, context.now);
  return handle;
}

/// It is open when it has gone through the interceptors, and ends later.
template <class M, class... Args>
[[gnu::noinline]] auto stream_intercepted(const Target& target, const CallOptions& options,
                                          const Args&... args) {
  using Handle = decltype(stream_past<M>(target, options, {}, nullptr, args...));
  const auto given = [&] { return std::shared_ptr<typename M::Request>(new typename M::Request{args...}); };
  const auto way = std::make_shared<ClientWay>(target, options, M::kInfo, CallKind::stream, 1);
  way->set_arguments(link::copied_request(given));
  way->keep_target();
  way->begin();
  auto answer = way->run([&](const ClientWay::Next& next) {
    const auto opened = attempt([&] {
      return std::make_shared<Handle>(stream_past<M>(target, next.options, next.made, next.facts, args...));
    });
    return opened.ok() ? Answer::shared(opened.value()) : Answer(opened.failure());
  });
  way->forget_arguments();
  auto handle = std::move(answer).template take<Handle>();
  if (!handle.ok()) {
    way->fail_with(handle.failure());
    handle.failure().raise();
  }
  return watched(way, std::move(handle).value());
}

}  // namespace detail

/// Starts a call and returns the handle for the method's kind of streams. Throws Error for invalid arguments.
template <class M, class... Args>
auto stream(const Target& target, const CallOptions& options, const Args&... args) {
  if (target.is_intercepted()) [[unlikely]]
    return detail::stream_intercepted<M>(target, options, args...);
  return detail::stream_past<M>(target, options, {}, nullptr, args...);
}

/// The asynchronous version: completes with the Outcome of what stream() returns.
template <class M, class Token, class... Args>
auto start_stream(const Target& target, const CallOptions& options, Token&& token, const Args&... args) {
  using Handle = decltype(stream<M>(target, options, args...));
  return Completes<std::decay_t<Token>, Handle>::initiate(
      std::forward<Token>(token),
      [begun = attempt([&] { return stream<M>(target, options, args...); })](
          Callback<Handle> done, const std::stop_token& /*stop*/ = {}) mutable { done(std::move(begun)); });
}

}  // namespace mf::client
