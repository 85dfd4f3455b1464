// A line of the log for each call.
#pragma once

#include <utility>

#include "mf/core/interceptor.hpp"
#include "mf/core/log.hpp"

namespace mf::interceptors {

/// Writes a line of level info for each call when it has ended:
///
///     call service=calls.Index method=look_up agent=books code=OK us=412 peer=tcp://127.0.0.1:40312
///     identity=none items=1 failed_items=0 attempts=1 request_bytes=9 reply_bytes=4
///
/// At a client the identity is empty, and the peer is the server of the latest attempt.
class AccessLog final : public Interceptor {
 public:
  /// Which calls get a line. A declared error is an answer.
  enum class Of : bool { all, failures };

  explicit AccessLog(Log log = {}, Of of = Of::all) : log_(std::move(log)), of_(of) {}

  void end(const InterceptedCall& call, const CallEnd& end) override;

 private:
  const Log log_;
  const Of of_;
};

}  // namespace mf::interceptors
