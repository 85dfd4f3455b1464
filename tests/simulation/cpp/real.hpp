// The C library's own functions, behind those that this program defines in their place.
#pragma once

#include <dlfcn.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace simulated {

/// The next definition of a name behind this program's.
template <class Function>
[[nodiscard]] Function* find_real(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// A system call, without the library: it is used where threads are switched.
inline long real_syscall(long number, const void* one, long two, long three, const void* four) noexcept {
  long result = number;
  register const void* fourth asm("r10") = four;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(one), "S"(two), "d"(three), "r"(fourth)
               : "rcx", "r11", "memory");
  return result;
}

/// Does this thread still exist?
inline bool real_syscall_tgkill(int thread) noexcept {
  long result = SYS_tgkill;
  const long process = ::getpid();
  asm volatile("syscall"
               : "+a"(result)
               : "D"(process), "S"(static_cast<long>(thread)), "d"(0L)
               : "rcx", "r11", "memory");
  return result == 0;
}

int real_poll(pollfd* entries, unsigned long count, int timeout) noexcept;

}  // namespace simulated
