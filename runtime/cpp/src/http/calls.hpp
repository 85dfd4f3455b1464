// Calls of described methods with JSON: one result, or streams. No thread waits for them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/callers.hpp"
#include "http/description.hpp"
#include "http/problem.hpp"
#include "mf/client/async_call.hpp"
#include "mf/client/stream.hpp"
#include "mf/core/metadata.hpp"
#include "mf/core/unique_function.hpp"
#include "mf/server/taps.hpp"

namespace mf::http {

/// What a client says of a call beside its arguments.
struct Settings {
  std::optional<std::string> agent{};  // as users write it; nothing: any, or the service has none
  std::chrono::nanoseconds deadline{};
  bool idempotent = false;
  Metadata metadata{};
};

/// Known before the method is called.
struct Callee {
  std::shared_ptr<Caller> caller;
  std::shared_ptr<const Description> description;
  std::size_t method = 0;
  std::string_view peer{};             // the address of its client
  const server::Taps* taps = nullptr;  // that see the call
};

/// What the taps of the relay keep of a call until it ends.
class TappedCall;

/// A running call, to be cancelled when its client has gone.
using Running = std::shared_ptr<client::AsyncCall>;

/// `done` is called once with the answer, on any thread; but not if a problem is returned, which is that of
/// the arguments.
[[nodiscard]] std::variant<Running, Problem> start_call(const Callee& callee, const Settings& settings,
                                                        std::string_view arguments,
                                                        UniqueFunction<void(Answer&&)> done);

/// A call with streams. Functions for its client are called on one thread at a time.
class Streaming final : public client::StreamedCall {
 public:
  Streaming(const client::Target& target, const Callee& callee, const protocol::RequestHead& head,
            Gathered&& payload, const client::CallContext& context, const CallOptions& options, Tier tier,
            std::unique_ptr<TappedCall> tap);
  ~Streaming() override;

  /// The answer; once the call has ended.
  [[nodiscard]] const Answer& answer() const noexcept { return answer_; }
  [[nodiscard]] bool sends() const noexcept {
    return description_->at(method_).params_stream != described::kNoType;
  }
  [[nodiscard]] bool receives() const noexcept {
    return description_->at(method_).results_stream != described::kNoType;
  }
  /// Calls `each` with the JSON of every value that has come; a problem: one cannot be read.
  enum class Came : std::uint8_t { values, nothing, ended };
  template <class Each>
  [[nodiscard]] std::variant<Came, Problem> take(const Each& each) {
    link::StreamIn::Frame frame;
    const auto got = input().take(frame);
    if (got != link::StreamIn::Got::values)
      return got == link::StreamIn::Got::ended ? Came::ended : Came::nothing;
    codec::Reader reader(frame.bytes.span());
    for (std::uint32_t i = 0; i < frame.count; ++i) {
      auto json = next_value(frame, reader);
      if (auto* const problem = std::get_if<Problem>(&json)) return std::move(*problem);
      each(std::string_view(std::get<std::string>(json)));
    }
    return Came::values;
  }
  /// Sends one value of the stream of parameters; `done` is called when the next one may be sent, with false
  /// if the server wants no more. A problem: the text is no such value.
  [[nodiscard]] std::optional<Problem> send(std::string_view json, UniqueFunction<void(bool)> done);
  void end_sending();

 private:
  void end(link::Reply&& reply) override;
  [[nodiscard]] Answer next_value(const link::StreamIn::Frame& frame, codec::Reader& reader) const;

  const std::shared_ptr<const Description> description_;
  const std::size_t method_;
  const std::unique_ptr<TappedCall> tap_;  // null: no tap wants to see it
  Answer answer_;
};

[[nodiscard]] std::variant<std::shared_ptr<Streaming>, Problem> start_stream(const Callee& callee,
                                                                             const Settings& settings,
                                                                             std::string_view arguments);

}  // namespace mf::http
