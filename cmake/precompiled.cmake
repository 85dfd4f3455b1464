# The standard library's headers, parsed once per build folder: they are a third of what most files here take to compile.
# Only builds that ask for it (MF_PCH, which the presets of `make test` set) have them, so that the others, the installed
# tree's tests and the benches still notice a file that forgets an #include.
option(MF_PCH "Precompile the headers of the standard library" OFF)

set(MF_PRECOMPILED <algorithm> <array> <atomic> <bit> <charconv> <chrono> <condition_variable> <cstring> <functional> <limits>
  <map> <memory> <mutex> <optional> <ranges> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <variant> <vector>)

# mf_precompile(FOLDER) gives them to every target made there and below that has no precompiled header of its own.
function(mf_precompile folder)
  if(NOT TARGET mf_precompiled)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/precompiled.cpp" CONTENT "")
    add_library(mf_precompiled OBJECT "${CMAKE_BINARY_DIR}/precompiled.cpp")
    target_link_libraries(mf_precompiled PRIVATE mf::warnings)
    target_precompile_headers(mf_precompiled PRIVATE ${MF_PRECOMPILED})
  endif()
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(headers ${target} PRECOMPILE_HEADERS)
    get_target_property(reused ${target} PRECOMPILE_HEADERS_REUSE_FROM)
    if(type MATCHES "^(STATIC_LIBRARY|EXECUTABLE)$" AND NOT headers AND NOT reused)
      target_precompile_headers(${target} REUSE_FROM mf_precompiled)
    endif()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    mf_precompile("${below}")
  endforeach()
endfunction()
