// One target for libFuzzer: MF_FUZZ_TARGET names its function. Also built for AFL++ and others that call the
// same.

#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::MF_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
