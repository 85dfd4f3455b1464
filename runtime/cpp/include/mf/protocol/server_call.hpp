#pragma once
// The server's state machine of one call (decision 0019), from the REQUEST to the end of its handler. No
// socket, no clock, no lock.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mf::protocol {

enum class ServerCallState : std::uint8_t { received, waiting, running, stopping, ended };
inline constexpr std::size_t kServerCallStates = 5;

enum class ServerCallEvent : std::uint8_t {
  started,   // a thread, or the loop, starts the handler
  queued,    // it will be run later
  answered,  // the handler has ended, or the call was refused before it started
  data,      // of a stream, as are the next two
  end_of_stream,
  credit,
  cancelled,  // the client does not want the reply any more
  expired,
  lost,  // the connection has ended
};
inline constexpr std::size_t kServerCallEvents = 9;

enum class ServerCallStep : std::uint8_t {
  none,
  run,
  wait,
  deliver,  // pass what has arrived to the handler's stream
  answer,
  refuse,  // answer that it was not executed
  stop,    // ask the handler to stop
  drop,    // no answer is expected
  wrong,   // in the table only: an error of the driver
};

[[nodiscard]] const char* name(ServerCallState state) noexcept;
[[nodiscard]] const char* name(ServerCallEvent event) noexcept;
[[nodiscard]] const char* name(ServerCallStep step) noexcept;

class ServerCall {
 public:
  explicit ServerCall(bool oneway = false) noexcept : oneway_(oneway) {}

  /// Throws std::logic_error for an event that is invalid in this state.
  ServerCallStep on(ServerCallEvent event);

  [[nodiscard]] ServerCallState state() const noexcept { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] bool ended() const noexcept { return state() == ServerCallState::ended; }
  /// Copies the state of another one.
  void take_over(const ServerCall& from) noexcept { state_.store(from.state(), std::memory_order_release); }

 private:
  std::atomic<ServerCallState> state_{ServerCallState::received};
  bool oneway_;
};

namespace detail {
struct ServerCallCell {
  ServerCallState state = ServerCallState::ended;
  ServerCallStep step = ServerCallStep::wrong;
};
using ServerCallRow = std::array<ServerCallCell, kServerCallEvents>;
inline constexpr ServerCallCell kMistake{};
inline constexpr ServerCallCell kRun{ServerCallState::running, ServerCallStep::run};
inline constexpr ServerCallCell kQueue{ServerCallState::waiting, ServerCallStep::wait};
inline constexpr ServerCallCell kKeep{ServerCallState::received, ServerCallStep::deliver};
inline constexpr ServerCallCell kStore{ServerCallState::waiting, ServerCallStep::deliver};
inline constexpr ServerCallCell kFeed{ServerCallState::running, ServerCallStep::deliver};
inline constexpr ServerCallCell kAnswer{ServerCallState::ended, ServerCallStep::answer};
inline constexpr ServerCallCell kRefuse{ServerCallState::ended, ServerCallStep::refuse};
inline constexpr ServerCallCell kDrop{ServerCallState::ended, ServerCallStep::drop};
inline constexpr ServerCallCell kStop{ServerCallState::stopping, ServerCallStep::stop};
inline constexpr ServerCallCell kStays{ServerCallState::stopping, ServerCallStep::none};
inline constexpr ServerCallCell kOver{ServerCallState::ended, ServerCallStep::none};
// clang-format off
inline constexpr std::array<ServerCallRow, kServerCallStates> kServerCallTable{{
  //             started  queued   answered  data    end     credit  cancelled expired  lost
  /* received */ {kRun,   kQueue,  kAnswer,  kKeep,  kKeep,  kKeep,  kRefuse,  kRefuse, kDrop},
  /* waiting  */ {kRun,   kMistake, kAnswer,  kStore, kStore, kStore, kRefuse,  kRefuse, kDrop},
  /* running  */ {kMistake, kMistake,  kAnswer,  kFeed,  kFeed,  kFeed,  kStop,    kStop,   kStop},
  /* stopping */ {kMistake, kMistake,  kDrop,    kStays, kStays, kStays, kStays,   kStays,  kStays},
  /* ended    */ {kOver,    kOver,    kOver,    kOver,  kOver,  kOver,  kOver,    kOver,   kOver},
}};
// clang-format on
}  // namespace detail

}  // namespace mf::protocol
