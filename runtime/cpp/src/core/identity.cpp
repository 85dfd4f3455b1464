#include "mf/core/identity.hpp"

#include <unistd.h>

namespace mf {

const Identity& own_identity() {
  static const Identity kOwn{.kind = Identity::Kind::uid, .name = "uid:" + std::to_string(::geteuid())};
  return kOwn;
}

}  // namespace mf
