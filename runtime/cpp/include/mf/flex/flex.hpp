// Flexible messages: attributes of any names between named processes, without a schema (docs/flexible.md).
//
//   mf::flex::Node node("mf://localhost:7400");
//   auto a = node.process("A");
//   a.send({{"dest", "B"}, {"tag", "input"}, {"data", {1, 2, 3}}});
//   mf::flex::Message m = a.recv(5s, {{"src", "B"}, {"tag", 42}});
#pragma once

#include "mf/flex/message.hpp"  // IWYU pragma: export
#include "mf/flex/node.hpp"     // IWYU pragma: export
#include "mf/flex/pattern.hpp"  // IWYU pragma: export
#include "mf/flex/process.hpp"  // IWYU pragma: export
#include "mf/flex/sent.hpp"     // IWYU pragma: export
