# One test binary per floor, made of tests/cpp/<floor>/*_test.cpp. ctest lists every single test, labelled by
# its floor:
#   ctest --preset release -L protocol
# Tests may include each other's helpers as "support/….hpp" (tests/cpp/support/) and find files under MF_SOURCE_DIR.

# The floors whose tests are built; empty: all of them. The release build names those whose bytes an optimizer could change:
# the others run under sanitizers and in debug builds, where they find more.
set(MF_TEST_FLOORS "" CACHE STRING "The floors whose tests are built, as a list; empty: all")

set(MF_TEST_ROOT "${CMAKE_CURRENT_SOURCE_DIR}/tests/cpp")
set(MF_TEST_TIMEOUT 60)

if(MF_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest is not installed, so no tests are built (tools/bootstrap core test installs it)")
    set(MF_TESTS OFF)
  endif()
endif()

# Does this build look for wrong uses of memory?
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flags)
set(MF_SANITIZED OFF)
if("${CMAKE_CXX_FLAGS} ${${flags}}" MATCHES "-fsanitize=address")
  set(MF_SANITIZED ON)
endif()

# Tests' own sources take a third less time to compile so, and the generated code and the runtime that they call stay as the
# preset has them.
set(MF_TEST_OPTIONS "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(MF_TEST_OPTIONS -O1 -fstrict-aliasing)
endif()

# All tests, and those whose threads are worth the thread sanitizer: the two targets that `make test` builds with clang.
add_custom_target(mf_tests)
add_custom_target(mf_threaded_tests)
set(MF_THREADED_TESTS link route client evolution server interceptors streams cached testing topics flex replicated controller relay bridge)

if(MF_TESTS)
  include(GoogleTest)
  # GoogleTest's headers, parsed once per build folder. It defines nothing else, so every test binary can reuse it.
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/gtest_pch.cpp" CONTENT "")
  add_library(mf_gtest_pch OBJECT "${CMAKE_BINARY_DIR}/gtest_pch.cpp")
  target_link_libraries(mf_gtest_pch PRIVATE GTest::gmock mf::warnings)
  target_precompile_headers(mf_gtest_pch PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  if(MF_PCH)
    target_precompile_headers(mf_gtest_pch PRIVATE ${MF_PRECOMPILED})
  endif()
endif()

if(MF_TESTS)
  add_library(mf_test_boost_json STATIC "${MF_TEST_ROOT}/support/boost_json.cpp")
  target_include_directories(mf_test_boost_json SYSTEM PUBLIC "${MF_BOOST_INCLUDE}")
endif()

# Whether this build has the tests of a floor.
function(mf_has_tests result floor)
  set(${result} OFF PARENT_SCOPE)
  if(NOT MF_TEST_FLOORS OR floor IN_LIST MF_TEST_FLOORS)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# mf_add_test(NAME sources... [LINK libraries...]) makes the test binary mf_test_NAME.
function(mf_add_test name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(target mf_test_${name})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${target} PRIVATE "${MF_TEST_ROOT}" "${MF_CPP}/src")
  target_compile_definitions(${target} PRIVATE MF_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE ${arg_LINK} GTest::gmock GTest::gmock_main mf::warnings)
  target_compile_options(${target} PRIVATE ${MF_TEST_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM mf_gtest_pch)
  mf_unity(${target})
  add_dependencies(mf_tests ${target})
  if(name IN_LIST MF_THREADED_TESTS)
    add_dependencies(mf_threaded_tests ${target})
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${name} TIMEOUT ${MF_TEST_TIMEOUT})
endfunction()

# A floor's folder with a CMakeLists.txt of its own is left to that; the others are globbed.
function(mf_add_floor_tests)
  foreach(floor IN ITEMS core access codec protocol evolution values transport tokens monitor link route client server light interceptors streams cached flex topics config health admin otlp replicated controller relay http bridge app testing)
    mf_has_tests(wanted ${floor})
    if(NOT wanted)
      continue()
    endif()
    set(folder "${MF_TEST_ROOT}/${floor}")
    file(GLOB own CONFIGURE_DEPENDS "${folder}/CMakeLists.txt")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*_test.cpp")
    if(own)
      add_subdirectory("${folder}")
    elseif(sources)
      if(floor MATCHES "^(core|access|codec)$")
        set(library mf::core)
      elseif(floor MATCHES "^(controller|relay|app)$")
        set(library mf::controller)
      elseif(floor MATCHES "^(protocol|evolution)$")
        set(library mf::protocol mf_test_boost_json)
      elseif(floor MATCHES "^(tokens|config)$")
        set(library mf::runtime mf_test_boost_json)
      elseif(floor STREQUAL "http")
        set(library mf::http)
      elseif(floor MATCHES "^(flex|replicated)$")
        set(library mf::groups OpenSSL::SSL)
      else()
        set(library mf::runtime OpenSSL::SSL)
      endif()
      mf_add_test(${floor} ${sources} LINK ${library})
    endif()
  endforeach()
endfunction()
