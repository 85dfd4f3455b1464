#include "mf/codec/writer.hpp"

#include <new>

namespace mf::codec {

bool Writer::gather(const Bytes& value) noexcept {
  try {
    gathered_->pieces.push_back(
        {.at = static_cast<std::size_t>(cursor_ - gathered_->buffer.data()), .bytes = value});
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace mf::codec
