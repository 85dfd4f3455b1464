# The generated stubs of calls.mfidl and a process that serves them: what the tests of these floors call.
if(NOT TARGET mf_test_calls)
  mfidl_generate(TARGET mf_test_calls FILES "${CMAKE_SOURCE_DIR}/tests/cpp/support/calls.mfidl" LINK mf::controller)
  add_executable(mf_test_echo_server "${CMAKE_SOURCE_DIR}/tests/cpp/support/echo_server.cpp")
  target_include_directories(mf_test_echo_server PRIVATE "${CMAKE_SOURCE_DIR}/tests/cpp")
  target_link_libraries(mf_test_echo_server PRIVATE mf_test_calls mf::warnings)
endif()

function(mf_add_calls_test name)
  mf_add_test(${name} ${ARGN} LINK mf_test_calls)
  target_compile_definitions(mf_test_${name} PRIVATE MF_ECHO_SERVER="$<TARGET_FILE:mf_test_echo_server>")
  add_dependencies(mf_test_${name} mf_test_echo_server)
endfunction()
