// The replicated calls of one client to one group: what it sends, and when a call is over.
//
//     start -> (sent again when a leader changes, and after a while) -> enough acknowledgements of one epoch
//           -> refused for good | its deadline
//
// A window of calls is under way at a time: a call beyond it waits until all calls but a window's length
// before it have ended. A call's origin is made when it is sent for the first time, because it names the
// oldest call that the client still awaits: a replica takes no message that is kMostAhead before that one.
//
// Every sending of a call has the same origin and the same bytes, so that replicas know it again. A call ends
// exactly once, by an effect Done.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "mf/core/clock.hpp"
#include "mf/core/outcome.hpp"
#include "replicated/messages.hpp"

namespace mf::replicated {

inline constexpr std::uint64_t kDefaultWindow = 256;
inline constexpr std::chrono::milliseconds kFirstRepeat{250};
inline constexpr std::chrono::milliseconds kLongestRepeat{1'000};

/// What a call has come to: its version, which replicas have surely applied it, and their outcome.
struct Applied {
  Version version;
  std::vector<std::string> members;
  Outcome outcome;
};

/// The end of a call.
struct Done {
  std::uint64_t sequence = 0;
  std::variant<Applied, Failure> result;
};

/// To a member.
struct SendTo {
  std::string member;
  Message message;
};

using CallerEffect = std::variant<SendTo, Done>;

class Caller {
 public:
  /// `client`: the nonce of this caller alone. `window`: at most kMostAhead.
  Caller(const Uuid& client, std::vector<std::string> members, const Uuid& schema,
         std::uint64_t window = kDefaultWindow);

  [[nodiscard]] const Uuid& client() const noexcept { return client_; }
  [[nodiscard]] const std::vector<std::string>& members() const noexcept { return members_; }
  /// Whether no call is under way.
  [[nodiscard]] bool idle() const noexcept { return calls_.empty(); }
  /// The effects since the last call, in their order.
  [[nodiscard]] std::vector<CallerEffect> take();

  /// A call, known by the number that this gives. Beyond the window it waits for others to end.
  std::uint64_t start(std::string method, Bytes payload, Pattern pattern, Require require, TimePoint deadline,
                      TimePoint now);
  /// Nobody awaits it any more. It may be applied all the same.
  void cancel(std::uint64_t sequence);
  /// Ends all calls with this failure.
  void end_all(const Failure& failure);

  void connected(const std::string& member, TimePoint now);
  void disconnected(const std::string& member);
  void receive(const std::string& member, const Message& message, TimePoint now);
  /// Now and then, a few times in kFirstRepeat.
  void tick(TimePoint now);

 private:
  struct Call {
    Body body;
    std::size_t need = 0;
    TimePoint deadline{};
    TimePoint again_at{};
    std::chrono::milliseconds pause = kFirstRepeat;
    bool waits = true;  // for room in the window
    bool sent = false;
    std::map<std::tuple<std::uint64_t, Version>, std::set<std::string>> acked{};  // by epoch and version
    std::string refusal{};

    [[nodiscard]] std::size_t most() const;
    [[nodiscard]] bool acked_by(const std::string& member) const;
  };
  using Calls = std::map<std::uint64_t, Call>;

  void admit(TimePoint now);
  void send_all_again(TimePoint now);
  void send(Call& call, TimePoint now);
  void send_to(Call& call, const std::string& member, Message message);
  void given(const Given& message);
  void acked(const Ack& ack, TimePoint now);
  void refused(const std::string& member, const Refused& message);
  [[nodiscard]] Failure too_late(const Call& call) const;
  void end(Calls::iterator call, std::variant<Applied, Failure> result);
  [[nodiscard]] bool leader_is_connected() const;

  const Uuid client_;
  const std::vector<std::string> members_;
  const Uuid schema_;
  const std::uint64_t window_;
  std::optional<Leading> leading_;
  std::vector<std::string> connected_;  // in the order in which they were
  std::uint64_t next_ = 1;
  Calls calls_;
  std::deque<std::uint64_t> waiting_;
  std::vector<CallerEffect> effects_;
};

}  // namespace mf::replicated
