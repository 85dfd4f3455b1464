# What every target of this tree is compiled with: the language, the warnings, the faster tools where they are installed.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# Plugins and extensions of Python are shared libraries, and link the libraries that are installed here. Programs get the
# option too, so that they can use the same precompiled headers. No function here is replaced by another at run time.
add_compile_options(-fPIC -fno-semantic-interposition)

# A program holds only those functions of the libraries that it can reach.
add_compile_options("$<$<CONFIG:Release>:-ffunction-sections;-fdata-sections>")

find_program(MF_MOLD mold)
if(MF_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# A precompiled header makes ccache cautious; the sloppiness named here is what its manual asks for with them.
find_program(MF_CCACHE ccache)
if(MF_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} ${MF_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

add_library(mf_warnings INTERFACE)
add_library(mf::warnings ALIAS mf_warnings)
target_compile_options(mf_warnings INTERFACE -Wall -Wextra -Wconversion $<$<BOOL:${MF_WERROR}>:-Werror>)
# g++ 12's optimizer sees overruns in inlined library code where there are none (GCC bugs 105651, 105329, 104475);
# the sanitizers look for the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(mf_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()

find_package(Threads REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ${MF_STATIC_PROGRAMS})
find_package(OpenSSL 3 QUIET COMPONENTS SSL)
mf_need(OPENSSL_FOUND "OpenSSL 3 with its headers" libssl-dev)

# Asio compiled once, into a library of its own: its users pay for declarations only. The version is pinned because
# Debian's unversioned Boost (1.74) lacks cancellation slots and must never be mixed in.
find_path(MF_BOOST_INCLUDE boost/asio/any_completion_handler.hpp
  DOC "Boost 1.81 headers (tools/bootstrap core installs libboost1.81-dev)")
mf_need(MF_BOOST_INCLUDE "Boost 1.81 or newer" libboost1.81-dev)
add_library(mf_asio STATIC "${CMAKE_CURRENT_LIST_DIR}/asio.cpp")
add_library(mf::asio ALIAS mf_asio)
target_include_directories(mf_asio SYSTEM PUBLIC "$<BUILD_INTERFACE:${MF_BOOST_INCLUDE}>")
target_compile_definitions(mf_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(mf_asio PUBLIC Threads::Threads)
