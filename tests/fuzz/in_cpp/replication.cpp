// What replicas and their clients send each other (runtime/idl/mf/replication.mfidl): one message.

#include "mf/replication.hpp"

#include "in_cpp/input.hpp"
#include "targets.hpp"

namespace fuzz {

bool replication(std::span<const std::byte> input) {
  return is_value<mf::replication::Message>(rest_of(input));
}

}  // namespace fuzz
