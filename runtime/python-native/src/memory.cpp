#include "memory.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "types.hpp"

namespace mf::native {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kMostKept = std::size_t{32} << 20;

/// `room` bytes of the system's, or of malloc if it is 0.
struct Block {
  void* bytes = nullptr;
  std::size_t room = 0;
};

/// Blocks that were given back, for the next payloads of their size: to be given pages anew takes longer than
/// to receive them. Two, since a reply may be on its way when the next request arrives; together at most
/// kMostKept. The system takes their pages if it needs them. Changed under the interpreter's lock.
std::array<Block, 2> kept;

/// Makes place for a block of `room` bytes; null: it is too large to be kept.
[[nodiscard]] Block* place_for(std::size_t room) noexcept {
  if (room > kMostKept) return nullptr;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i].bytes == nullptr && room + kept[1 - i].room <= kMostKept) return &kept[i];
  for (Block& each : kept) {
    if (each.bytes != nullptr) munmap(each.bytes, each.room);
    each = {};
  }
  return kept.data();
}

struct MemoryObject {
  PyObject_HEAD;
  Block block;
  Py_ssize_t size;
};

[[nodiscard]] Block make_block(std::size_t size) {
  if (size < kLargePage) return {.bytes = std::malloc(size), .room = 0};
  const std::size_t room = (size + kLargePage - 1) / kLargePage * kLargePage;
  for (Block& each : kept)
    if (each.room == room) return std::exchange(each, {});
  void* const bytes = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return {.bytes = bytes == MAP_FAILED ? nullptr : bytes, .room = room};
}

void drop_block(Block block) noexcept {
  if (block.room == 0) return std::free(block.bytes);
  if (block.bytes == nullptr) return;
  Block* const place = place_for(block.room);
  if (place != nullptr && madvise(block.bytes, block.room, MADV_FREE) == 0)
    *place = block;
  else
    munmap(block.bytes, block.room);
}

PyTypeObject* memory_type = nullptr;  // set once, with the interpreter's lock

int get_memory(PyObject* self, Py_buffer* view, int flags) {
  auto* const memory = reinterpret_cast<MemoryObject*>(self);
  return PyBuffer_FillInfo(view, self, memory->block.bytes, memory->size, 0, flags);
}

void free_memory(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  drop_block(reinterpret_cast<MemoryObject*>(self)->block);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* advise(PyObject* self, PyObject* advice) {
  const Block& block = reinterpret_cast<MemoryObject*>(self)->block;
  const long given = PyLong_AsLong(advice);
  if (given == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (block.room > 0 && madvise(block.bytes, block.room, static_cast<int>(given)) != 0)
    return PyErr_SetFromErrno(PyExc_OSError);
  return Py_NewRef(Py_None);
}

PyMethodDef memory_methods[] = {
    {"madvise", advise, METH_O, "As that of mmap.mmap, for all of it."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot memory_slots[] = {
    {Py_tp_dealloc, slot(free_memory)},
    {Py_bf_getbuffer, slot(get_memory)},
    {Py_tp_methods, memory_methods},
    {0, nullptr},
};

PyType_Spec memory_spec = {"_mf_native.Memory", sizeof(MemoryObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           memory_slots};

}  // namespace

bool add_memory(PyObject* module) {
  Owned type(PyType_FromModuleAndSpec(module, &memory_spec, nullptr));
  if (!type) return false;
  memory_type = reinterpret_cast<PyTypeObject*>(type.release());
  return true;
}

PyObject* memory(PyObject* /*module*/, PyObject* size) {
  const Py_ssize_t bytes = PyLong_AsSsize_t(size);
  if (bytes == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (bytes <= 0) {
    PyErr_SetString(PyExc_ValueError, "memory for no bytes");
    return nullptr;
  }
  const Owned made(memory_type->tp_alloc(memory_type, 0));
  if (!made) return nullptr;
  auto* const owner = reinterpret_cast<MemoryObject*>(made.get());
  owner->block = make_block(static_cast<std::size_t>(bytes));
  owner->size = bytes;
  return owner->block.bytes == nullptr ? PyErr_NoMemory() : PyMemoryView_FromObject(made.get());
}

}  // namespace mf::native
