// The servants of one process, called by the same stubs without a socket or a byte: mf::Client
// client(light.servants()) or mf::Client client(light).
//
// A call runs the servant's own function on the caller's thread, with the caller's arguments by reference.
// Offer everything before the first call of a target finds it; what is found stays found.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mf/link/local.hpp"

namespace mf {

struct LightOffer {
  /// Which part of a service `per` an agent this servant serves; empty for a service without. Of an enum
  /// it is a member's name; mf::agent_text() makes it of a typed value (mf/core/agent.hpp).
  std::string agent{};
};

class Light {
 public:
  /// Failures of handlers are written to `log`. `interceptors`: what runs around the handlers, the outermost
  /// first (mf/core/interceptor.hpp). Throws Error(INVALID_ARGUMENT) for a null one.
  explicit Light(Log log = {}, Interceptors interceptors = {});

  /// Throws Error(INVALID_ARGUMENT): the (service, agent) is offered already, or the agent does not fit the
  /// service.
  void offer(std::shared_ptr<Servant> servant, LightOffer options = {});

  /// What a mf::Client is opened with.
  operator std::shared_ptr<const LocalServants>() const;

 private:
  class Hub;
  std::shared_ptr<Hub> hub_;
};

}  // namespace mf
