# With -DBUILD_SHARED_LIBS=ON one shared library is installed, libmf.so, in place of the static ones: it holds all floors, and
# shows the names of mf alone, so that a program may use another Boost than the one inside. What is built and tested in
# this tree links the static libraries in either case.
option(BUILD_SHARED_LIBS "Install one shared library, libmf.so, in place of static libraries" OFF)

function(mf_share)
  cmake_parse_arguments(arg "" "" "PARTS;NAMES" ${ARGN})
  add_library(mf_shared SHARED)
  foreach(part IN LISTS arg_PARTS)
    target_sources(mf_shared PRIVATE $<TARGET_OBJECTS:${part}>)
  endforeach()
  set(exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/libmf.map")
  # Generated code is of the same minor version as the runtime (docs/versions.md).
  set_target_properties(mf_shared PROPERTIES OUTPUT_NAME mf VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS "${exports}" LINKER_LANGUAGE CXX EXPORT_NAME shared)
  target_link_options(mf_shared PRIVATE "LINKER:--version-script=${exports}" "LINKER:--gc-sections" "LINKER:--no-undefined")
  target_link_libraries(mf_shared PUBLIC Threads::Threads PRIVATE OpenSSL::SSL)
  target_compile_features(mf_shared PUBLIC cxx_std_20)
  foreach(name IN LISTS arg_NAMES)
    add_library(mf_shared_${name} INTERFACE)
    target_link_libraries(mf_shared_${name} INTERFACE mf_shared)
    set_target_properties(mf_shared_${name} PROPERTIES EXPORT_NAME ${name})
  endforeach()
endfunction()
