# mfidl_generate(TARGET name FILES a.mfidl...
#                [IMPORT_PATHS folders...] [PYTHON folder] [LINK libraries...] [OPTIONS options of mfidlc...] [CODECS])
#
# Generates C++ from schemas when the project is built, and again when a schema, a schema that it imports, an option or the
# compiler itself changed. Nothing else is rebuilt than what includes a file whose content changed.
#   TARGET   a library or program of this folder, which gets the generated code; or a new name: a static library of it.
#            Its users find the headers by target_link_libraries().
#   FILES    the schemas to generate code for. What they import is read, not generated.
#   PYTHON   the folder, relative to the build folder, for Python packages of the same schemas.
#   LINK     other targets that it needs: those generated from the schemas that these import. The runtime comes by itself
#            (mfidl::codec for plain types, mfidl::client and mfidl::server for services), unless LINK names a part of it.
#   CODECS   leave out the stubs of services and topics: for programs that store or convert values. No network is linked.
#
# Which files a schema makes is only known when it has been compiled. So they are generated once when CMake configures, and
# their list is an input of the configuration: where an edit changes the list (a first service, another module name), the
# build configures again by itself. Ninja does so within one build; make compares before it builds, so there every edited
# schema configures again. A mistake in a schema fails the build of its target, with the compiler's message, and of nothing else.

cmake_policy(VERSION 3.25)  # of the functions below, whatever the project asks for

# The compiler: the variable MFIDLC, else mfidlc beside this tree or this package, else on PATH, else the module mfidl of the Python found.
find_program(MFIDLC mfidlc HINTS "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin" "${CMAKE_CURRENT_LIST_DIR}/../../../bin" DOC "The MF/IDL compiler, mfidlc")
set(_mfidl_command "")
if(MFIDLC)
  set(_mfidl_command "${MFIDLC}")
else()
  find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    execute_process(COMMAND "${Python3_EXECUTABLE}" -m mfidl --version RESULT_VARIABLE _mfidl_status OUTPUT_QUIET ERROR_QUIET)
    if(_mfidl_status EQUAL 0)
      set(_mfidl_command "${Python3_EXECUTABLE}" -m mfidl)
    endif()
  endif()
endif()
set(_MFIDL_COMMAND "${_mfidl_command}" CACHE INTERNAL "How mfidl_generate() calls the compiler")

function(mfidl_generate)
  cmake_parse_arguments(arg "CODECS" "TARGET;PYTHON" "FILES;IMPORT_PATHS;LINK;OPTIONS" ${ARGN})
  if(NOT arg_TARGET OR NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: mfidl_generate(TARGET name FILES a.mfidl... [IMPORT_PATHS folders...] [PYTHON folder] "
      "[LINK libraries...] [OPTIONS options...] [CODECS])")
  endif()
  if(NOT _MFIDL_COMMAND)
    message(FATAL_ERROR "mfidl_generate: mfidlc was not found. Install it (pip install mfidl) or set MFIDLC to its path")
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.mfidl")
  _mfidl_command(command files)
  _mfidl_configure("${out}" "${command}" "${files}")
  _mfidl_build("${out}" "${command}" "${files}")
  _mfidl_library("${out}")
  add_custom_target(${arg_TARGET}_mfidl DEPENDS "${out}.done")
  add_dependencies(${arg_TARGET} ${arg_TARGET}_mfidl)
endfunction()

# Sets `command` and the absolute paths of FILES in the caller's scope.
macro(_mfidl_command command files)
  file(REAL_PATH "${CMAKE_CURRENT_SOURCE_DIR}" here)
  set(${files} "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${here}" NORMALIZE)
    list(APPEND ${files} "${file}")
  endforeach()
  set(${command} ${_MFIDL_COMMAND} compile --cpp "${out}" --depfile "${out}.d" --stamp "${out}.stamp" --outputs "${out}.new")
  foreach(folder IN LISTS arg_IMPORT_PATHS)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${here}" NORMALIZE)
    list(APPEND ${command} --import-path "${folder}")
  endforeach()
  if(arg_PYTHON)
    cmake_path(ABSOLUTE_PATH arg_PYTHON BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
    file(MAKE_DIRECTORY "${arg_PYTHON}")
    list(APPEND ${command} --python "${arg_PYTHON}")
  endif()
  if(arg_CODECS)
    list(APPEND ${command} --codecs)
  endif()
  list(APPEND ${command} ${arg_OPTIONS} -- ${${files}})
endmacro()

# Compiles once, so that the list of files is known, and says what makes CMake configure again.
function(_mfidl_configure out command files)
  file(CONFIGURE OUTPUT "${out}.settings.cmake" CONTENT "set(out [==[@out@]==])\nset(command [==[@command@]==])\n" @ONLY)
  execute_process(COMMAND "${CMAKE_COMMAND}" -D "settings=${out}.settings.cmake" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mfidl_step.cmake")
  if(EXISTS "${out}.errors")
    file(READ "${out}.errors" errors)
    message("mfidlc refused a schema of ${arg_TARGET}, so building that target will fail:\n${errors}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${out}.outputs")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    set(schemas ${files})
    if(EXISTS "${out}.d")
      file(READ "${out}.d" rule)
      string(REGEX REPLACE "^.*[^\\]: " "" rule "${rule}")
      separate_arguments(rule UNIX_COMMAND "${rule}")
      list(APPEND schemas ${rule})
      list(REMOVE_DUPLICATES schemas)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
  endif()
endfunction()

# The rules of the build. The first compiles and always succeeds, because the list that it keeps is an input of the
# configuration, which must not fail for a mistake in a schema. The second calls the compiler again, which has nothing to do
# but to tell of mistakes and warnings.
function(_mfidl_build out command files)
  # Packages of Python may share files with those of other targets, so no rule claims them.
  file(STRINGS "${out}.outputs" outputs)
  set(sources "")
  foreach(output IN LISTS outputs)
    cmake_path(IS_PREFIX out "${output}" ours)
    if(ours)
      list(APPEND sources "${output}")
    endif()
  endforeach()
  list(GET command 0 tool)
  add_custom_command(OUTPUT "${out}.stamp" BYPRODUCTS "${out}.outputs" ${sources}
    COMMAND "${CMAKE_COMMAND}" -D "settings=${out}.settings.cmake" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mfidl_step.cmake"
    DEPENDS ${files} "${out}.settings.cmake" "${tool}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/mfidl_step.cmake" DEPFILE "${out}.d"
    COMMENT "Generating ${arg_TARGET} from its schemas" VERBATIM)
  add_custom_command(OUTPUT "${out}.done"
    COMMAND ${command} COMMAND "${CMAKE_COMMAND}" -E touch "${out}.done"
    DEPENDS "${out}.stamp" COMMENT "Asking what mfidlc has to say of ${arg_TARGET}" VERBATIM)
endfunction()

# Hands the generated sources to the target, or makes it.
macro(_mfidl_library out)
  file(STRINGS "${out}.outputs" outputs)
  set(sources ${outputs})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(NOT arg_LINK MATCHES "(^|;)(mf|mfidl)::")
    if(outputs MATCHES "\\.(server|topics)\\.hpp")
      list(APPEND arg_LINK mfidl::client mfidl::server)
    else()
      list(APPEND arg_LINK mfidl::codec)
    endif()
  endif()
  set(scope PUBLIC)
  set(unity "")
  if(TARGET ${arg_TARGET})
    target_sources(${arg_TARGET} PRIVATE ${sources})
  elseif(sources)
    add_library(${arg_TARGET} STATIC ${sources})
    set(unity ALWAYS)
    if(TARGET mf::warnings)
      target_link_libraries(${arg_TARGET} PRIVATE $<BUILD_INTERFACE:mf::warnings>)
    endif()
  else()
    add_library(${arg_TARGET} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${arg_TARGET} ${scope} "$<BUILD_INTERFACE:${out}>")
  target_link_libraries(${arg_TARGET} ${scope} ${arg_LINK})
  if(COMMAND mf_unity AND sources)  # in this tree only
    mf_unity(${arg_TARGET} ${unity})
  endif()
endmacro()
