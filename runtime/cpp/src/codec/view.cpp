#include "mf/codec/view.hpp"

namespace mf::codec::detail {

bool check_view(Reader& reader, std::size_t size, std::size_t alignment) {
  if (reader.left() % size != 0) {
    return reader.fail(
        Fault::wrong_length,
        std::to_string(reader.left()) + " bytes are no whole number of values of " + std::to_string(size));
  }
  if (reader.left() != 0 && reinterpret_cast<std::uintptr_t>(reader.peek()) % alignment != 0) {
    return reader.fail(Fault::misaligned,
                       "the bytes do not stand at a multiple of " + std::to_string(alignment));
  }
  return true;
}

}  // namespace mf::codec::detail
