#include "mf/protocol/state.hpp"

#include "mf/protocol/events.hpp"

namespace mf::protocol {

const char* name(State state) noexcept {
  switch (state) {
    case State::fresh:
      return "fresh";
    case State::open:
      return "open";
    case State::draining:
      return "draining";
    case State::closed:
      return "closed";
    case State::forbidden:
      return "forbidden";
  }
  return "unknown";
}

const char* name(EventType type) noexcept {
  switch (type) {
    case EventType::hello:
      return "hello";
    case EventType::bind:
      return "bind";
    case EventType::bound:
      return "bound";
    case EventType::request:
      return "request";
    case EventType::reply:
      return "reply";
    case EventType::cancel:
      return "cancel";
    case EventType::begun:
      return "begun";
    case EventType::pong:
      return "pong";
    case EventType::goaway:
      return "goaway";
    case EventType::describe:
      return "describe";
    case EventType::descriptor:
      return "descriptor";
    case EventType::data:
      return "data";
    case EventType::credit:
      return "credit";
    case EventType::end:
      return "end";
    case EventType::unbind:
      return "unbind";
    case EventType::refused:
      return "refused";
    case EventType::broken:
      return "broken";
  }
  return "unknown";
}

}  // namespace mf::protocol
