// What the peers of a server may do: its access file, and its functions `authenticate` and `authorize`.
//
// Asked once for each connection, BIND and subscription, never for a call; and again about what was asked
// before when files were read again. Thread-safe, as far as the functions of the user are. A function that
// throws denies.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "mf/access/file.hpp"
#include "mf/core/identity.hpp"
#include "mf/protocol/control.hpp"
#include "mf/server/server.hpp"

namespace mf::server {

class Access {
 public:
  /// Throws Error(INVALID_ARGUMENT), with file, line and a suggestion, for an access file that cannot be
  /// used.
  explicit Access(const ServerOptions& options);

  /// Whether every peer may call everything.
  [[nodiscard]] bool limits_nothing() const noexcept { return !file_ && !authorize_; }
  /// Whether peers are asked for what they show before they have a session.
  [[nodiscard]] bool authenticates() const noexcept { return static_cast<bool>(authenticate_); }
  [[nodiscard]] bool has_file() const noexcept { return static_cast<bool>(file_); }
  [[nodiscard]] access::Reread refresh(bool always) const { return file_.refresh(always, log_); }

  /// Whether the peer may have a session.
  [[nodiscard]] bool admits(const protocol::Hello& hello, std::string_view peer,
                            const Identity& identity) const;
  /// The line is that of the access file; 0 if there is none, and for what `authorize` denies.
  [[nodiscard]] access::Decision may_call(const Identity& identity, std::string_view service,
                                          std::string_view agent, std::string_view method) const;
  /// `agents`: the pattern, as sent.
  [[nodiscard]] access::Decision may_subscribe(const Identity& identity, std::string_view topic,
                                               std::string_view agents) const;
  /// Whether the identity may read all that the controller of this server lists.
  [[nodiscard]] access::Decision may_list(const Identity& identity) const;
  /// Whether the peer may steer this server (mf.admin). Without an access file it must be a process of this
  /// host, of root or of the server's own user as far as the system says so; `relayed`, that its calls come
  /// through a relay, refuses it then.
  [[nodiscard]] access::Decision may_administer(const Identity& identity, std::string_view peer,
                                                std::string_view method, bool relayed) const;
  /// Whether the peer may pass on the identities of its clients.
  [[nodiscard]] bool may_relay(const Identity& relay) const;
  /// Logs, once for each relay, that what it says of its clients is not believed.
  void note_not_believed(const Identity& relay, const Identity& client, std::string_view peer) const;
  [[nodiscard]] const Log& log() const noexcept { return log_; }

 private:
  [[nodiscard]] access::Decision decided(const Identity& identity, const access::Wish& wish,
                                         std::string_view service, std::string_view method) const;
  [[nodiscard]] bool authorized(const Identity& identity, std::string_view service, std::string_view agent,
                                std::string_view method) const;

  const decltype(ServerOptions::authenticate) authenticate_;
  const decltype(ServerOptions::authorize) authorize_;
  const access::File file_;
  const Log log_;
  mutable std::mutex mutex_;
  mutable std::set<std::string, std::less<>> not_believed_;  // those that the log has named; under mutex_
};

/// What the peer of one connection was allowed and denied. Thread-safe.
class Rights {
 public:
  explicit Rights(std::shared_ptr<const Access> access) : access_(std::move(access)) {}

  [[nodiscard]] access::Decision may_call(const Identity& identity, std::string_view service,
                                          std::string_view agent, std::string_view method);
  /// Throws PERMISSION_DENIED, and logs it. `agents`: the pattern, as sent.
  void check_subscription(const Identity& identity, std::string_view peer, std::string_view topic,
                          std::string_view agents);
  /// The same as for calls, for the service of operators.
  [[nodiscard]] access::Decision may_administer(const Identity& identity, std::string_view peer,
                                                std::string_view method, bool relayed);
  /// The peer uses a servant that decides by itself: what it has answered is not known here.
  void decided_elsewhere();

  /// Whether the answer to anything that was asked would be another one now, as far as is known.
  [[nodiscard]] bool changed();

 private:
  using Asked = std::tuple<std::string, std::string, std::string>;  // service, agent, method
  using Subscribed = std::pair<std::string, std::string>;           // topic, agents
  struct Administered {
    std::string peer;
    std::string method;
    bool relayed = false;
    bool allowed = false;
  };

  /// Whether one more answer is remembered. Under the lock.
  [[nodiscard]] bool has_room();

  const std::shared_ptr<const Access> access_;
  std::mutex mutex_;                    // guards all members below
  Identity identity_;                   // that asked
  std::map<Asked, bool> calls_;         // the answers
  std::set<Subscribed> subscriptions_;  // those that were allowed
  std::vector<Administered> administered_;
  bool complete_ = true;  // all that matters is in these maps
};

}  // namespace mf::server
