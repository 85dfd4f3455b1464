# What makes a mistake in a program harder to exploit, for everything that this tree builds: tests/build/test_hardening.py reads it back from
# the programs and libraries of the release build. The projects of users choose their own options.
include(CheckCXXCompilerFlag)

# The checks of the compiler: only where it optimizes, which FORTIFY needs, and where no sanitizer checks more than these do.
set(options -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection)
# Returns go where they came from: the shadow stack of Intel's and AMD's CET, pointer authentication and BTI on Arm. CET's other half, marks at
# the targets of indirect branches, is checked for no program by Linux, and would cost two instructions in a hundred of a call.
foreach(option IN ITEMS -fcf-protection=return -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "MF_HAS${option}" has)
  check_cxx_compiler_flag(${option} ${has})
  if(${has})
    list(APPEND options ${option})
  endif()
endforeach()
add_compile_options("$<$<CONFIG:Release>:${options}>")

# All symbols are found when a program starts, and their table can then no longer be written; no stack is executable; programs are loaded
# at random addresses (toolchain.cmake compiles everything for that).
add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>")
