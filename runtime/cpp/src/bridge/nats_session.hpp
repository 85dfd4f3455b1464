// A connection to NATS and its JetStream: made, asked, and what it says in words. It comes back by itself
// after it was lost, unless NATS has refused it: then renew() makes another one.
#pragma once

#include <nats/nats.h>

#include <cstdint>
#include <memory>
#include <string>

#include "mf/bridge/engine.hpp"
#include "mf/core/error.hpp"

namespace mf::bridge::nats {

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* held) const noexcept {
    Destroy(held);
  }
};
template <class T, auto Destroy>
using Held = std::unique_ptr<T, Destroyer<Destroy>>;

using Message = Held<natsMsg, natsMsg_Destroy>;
using Subscription = Held<natsSubscription, natsSubscription_Destroy>;
using ConsumerInfo = Held<jsConsumerInfo, jsConsumerInfo_Destroy>;
using StreamInfo = Held<jsStreamInfo, jsStreamInfo_Destroy>;

[[nodiscard]] Error away(const std::string& what, natsStatus status);
[[nodiscard]] Error unusable(std::string why);

class Session {
 public:
  /// Throws UNAVAILABLE, and INVALID_ARGUMENT for settings that NATS does not take, and for credentials that
  /// it refuses.
  explicit Session(const EngineOptions& options);

  [[nodiscard]] natsConnection* connection() const noexcept { return connection_.get(); }
  [[nodiscard]] jsCtx* jetstream() const noexcept { return jetstream_.get(); }
  [[nodiscard]] bool connected() const;
  /// Whether the connection is given up, and does not come back by itself. Everything that was made of it
  /// must be destroyed before renew().
  [[nodiscard]] bool closed() const;
  /// Throws UNAVAILABLE.
  void renew();
  /// Where NATS is, for words.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// How often the connection was made anew.
  [[nodiscard]] std::uint64_t reconnects() const;
  /// Makes the stream if there is none and that is wanted. Throws what Engine::writer() may.
  void need_stream() const;
  [[nodiscard]] const EngineOptions& options() const noexcept { return options_; }

 private:
  /// Connects. Returns "", or why that has failed, with the status.
  [[nodiscard]] std::string connect(natsStatus& status);

  const EngineOptions options_;
  const std::string where_;
  const Held<natsOptions, natsOptions_Destroy> with_;
  Held<natsConnection, natsConnection_Destroy> connection_;
  Held<jsCtx, jsCtx_Destroy> jetstream_;
};

}  // namespace mf::bridge::nats
