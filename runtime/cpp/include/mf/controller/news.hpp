#pragma once
// What a part of the controller's own process, as its dashboard, reads of the registry: the state, and what
// has changed since a revision. It costs the controller nothing while nothing reads it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mf/controller/place.hpp"
#include "mf/core/types.hpp"

namespace mf::controller {

using WallTime = std::chrono::system_clock::time_point;

/// 32 characters that distinguish processes without revealing the nonce, which others could misuse; the first
/// eight are those by which logs and lists name the process.
[[nodiscard]] std::string shown_id(const Uuid& nonce);

/// An offer came or left; one that was only changed makes no step.
struct Step {
  std::uint64_t revision = 0;
  WallTime at{};
  bool came = false;
  /// Of one that left: as it was.
  std::shared_ptr<const Instance> instance{};
};

/// The changes after one revision of this run, up to `revision`.
struct News {
  std::uint64_t revision = 0;
  /// False: the changes are not known any more; read the state instead.
  bool complete = true;
  /// The latest of each place, and the places that are empty now.
  std::vector<std::shared_ptr<const Instance>> put{};
  std::vector<Place> gone{};
  std::vector<Step> steps{};
};

/// What the controller has denied a peer.
struct Refused {
  std::uint64_t number = 0;  ///< of all in this run, from 1
  WallTime at{};
  std::string peer{};
  std::string identity{};
  std::string action{};
  std::string object{};
  std::string agent{};
  std::string address{};
};

}  // namespace mf::controller
