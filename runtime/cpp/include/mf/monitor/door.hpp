// An HTTP door for operators: metrics and health, to read alone.
//
//     GET /metrics   the metrics, in the format that Accept asks for
//     GET /livez     200 while the process handles requests
//     GET /readyz    200 when it may be given work, else 503 with the reasons
//
// One thread serves it, of its own, so that it answers when a server is busy. Few connections are open at
// once, each for a few seconds; a request is small. It listens at loopback, unless `open`, and there answers
// only requests for a loopback host, so that no page of a browser can read it by a name of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mf/core/log.hpp"
#include "mf/monitor/exposition.hpp"

namespace mf::monitor {

struct Source {
  /// Writes the metrics. Called on the door's thread, as the next one is.
  std::function<void(Exposition& out)> expose;
  /// Why no work may be given, a line for each reason; empty: it is ready.
  std::function<std::string()> not_ready;
};

class Door {
 public:
  /// `where`: HOST:PORT; port 0 takes any free one. Throws Error(INVALID_ARGUMENT) for what is no such
  /// address, or for one beyond loopback unless `open`, and Error(UNAVAILABLE) if it cannot listen there.
  Door(const std::string& where, bool open, Source source, Log log);
  ~Door();  // the source is not called any more when it returns
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// HOST:PORT.
  [[nodiscard]] const std::string& address() const noexcept;

 private:
  class Listener;

  const std::unique_ptr<Listener> listener_;
};

}  // namespace mf::monitor
