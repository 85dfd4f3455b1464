// In a file of its own: a compiler that sees both ends takes new and free() for a mistake.

#include "counted_new.hpp"

#include <cstdlib>
#include <new>

namespace {

std::size_t given = 0;

}  // namespace

namespace fuzz {

std::size_t allocated() noexcept {
  return given;
}

}  // namespace fuzz

void* operator new(std::size_t size) {
  given += size;
  if (void* const made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
// std::stable_sort takes memory by this one, and gives it back by those below.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  given += size;
  return std::malloc(size);
}
void operator delete(void* made) noexcept {
  std::free(made);
}
void operator delete(void* made, std::size_t) noexcept {
  std::free(made);
}
