# Unity builds: several sources compiled as one, which reads the headers that they share once. Builds for sanitizers and
# debuggers have them (MF_UNITY), and compile in half the time. The release build has them for generated code alone, so that
# a source that forgets an #include, or uses a name that only its neighbour declares, is noticed.
option(MF_UNITY "Compile several sources of a library or a test as one" OFF)

set(MF_UNITY_SIZE 8)

# mf_unity(TARGET [ALWAYS]) groups the sources of a target by their folders, so that a new file changes the groups of its folder alone.
function(mf_unity target)
  if(NOT MF_UNITY AND NOT ARGV1 STREQUAL "ALWAYS")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "^\\$<|/boost_[a-z_]*\\.cpp$")  # those of Boost are alternatives of each other
  set(last "-")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    if(NOT folder STREQUAL last)
      set(last "${folder}")
      set(number 0)
    endif()
    math(EXPR chunk "${number} / ${MF_UNITY_SIZE}")
    math(EXPR number "${number} + 1")
    cmake_path(GET folder FILENAME name)
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${name}_${chunk}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ treats each source of a group as a header, where no class may have a member whose type is in an unnamed namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
