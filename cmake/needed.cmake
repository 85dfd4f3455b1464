# What a machine lacks is one sentence, with the command of Debian 12 that mends it: tests/build/test_needed.py.

# mf_need_compiler() looks for the compiler that project() will take, of which CMake itself says more and names no command.
function(mf_need_compiler)
  if(CMAKE_TOOLCHAIN_FILE OR NOT "$ENV{CMAKE_TOOLCHAIN_FILE}" STREQUAL "")
    return() # it names the compiler, and project() reads it
  endif()
  separate_arguments(given UNIX_COMMAND "$ENV{CXX}")
  list(APPEND given c++ g++ clang++)
  if(CMAKE_CXX_COMPILER)
    set(given "${CMAKE_CXX_COMPILER}")
  elseif(NOT "$ENV{CXX}" STREQUAL "")
    list(GET given 0 given)
  endif()
  find_program(compiler NAMES ${given} NO_CACHE)
  if(NOT compiler)
    list(JOIN given ", " given)
    message(FATAL_ERROR "MF/IDL needs a compiler of C++20, and there is none (${given}): apt-get install g++")
  endif()
endfunction()

# mf_need(VARIABLE WHAT PACKAGE): stops unless the variable, which a find command has set, says that it is there.
function(mf_need variable what package)
  if(NOT ${variable})
    message(FATAL_ERROR "MF/IDL needs ${what}, which was not found: apt-get install ${package}")
  endif()
endfunction()
