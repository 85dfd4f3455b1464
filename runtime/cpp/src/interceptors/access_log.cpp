#include "mf/interceptors/access_log.hpp"

#include <chrono>
#include <string>

namespace mf::interceptors {

void AccessLog::end(const InterceptedCall& call, const CallEnd& end) {
  const auto failed_items = end.failed_items();
  const bool answered = end.code == Code::ok || end.code == Code::declared;
  if (!log_.wants(Level::info) || (of_ == Of::failures && answered && failed_items == 0)) return;
  const auto* const identity = call.identity();
  log_.write(Level::info, "call",
             {{"service", call.service()},
              {"method", call.method()},
              {"agent", call.agent()},
              {"code", mf::name(end.code)},
              {"us", std::chrono::duration_cast<std::chrono::microseconds>(end.duration()).count()},
              {"peer", end.peer},
              {"identity", identity != nullptr ? identity->str() : std::string()},
              {"items", call.items()},
              {"failed_items", failed_items},
              {"attempts", end.attempts},
              {"request_bytes", end.request_bytes},
              {"reply_bytes", end.reply_bytes}});
}

}  // namespace mf::interceptors
