// The payload of a BIND, with the path of relays that it has come by: what is read is written and read again
// as itself.

#include <string>

#include "in_cpp/input.hpp"
#include "mf/core/buffer.hpp"
#include "mf/protocol/control.hpp"
#include "targets.hpp"

namespace fuzz {

bool binds(std::span<const std::byte> input) {
  using mf::protocol::Bind;
  const char* reason = nullptr;
  std::string room;
  Bind bind;
  if (!mf::protocol::parse_bind(rest_of(input), bind, reason, room)) {
    require(reason != nullptr && *reason != '\0');
    return false;
  }
  require(bind.via.size() % sizeof(mf::Uuid{}.bytes) == 0);
  mf::Buffer written;
  mf::protocol::write_bind(written, bind);
  Bind again;
  require(mf::protocol::parse_bind({written.data(), written.size()}, again, reason, room));
  require(again.fingerprint == bind.fingerprint && again.service == bind.service &&
          again.agent == bind.agent);
  require(again.methods == bind.methods && text_of(again.via) == text_of(bind.via));
  return true;
}

}  // namespace fuzz
