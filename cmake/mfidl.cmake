# mfidl_generate(TARGET name FILES a.mfidl... [IMPORT_PATH dirs...] [LINK libraries...])
# A static library of what `mfidlc compile --cpp` makes of the files; its headers come along by target_link_libraries().
#
# The compiler runs when CMake configures, because only then is it known which files it makes. The schemas, whatever
# they import (from the depfile) and the compiler's own sources are dependencies of the configuration, so a build after
# an edit runs it again; files that did not change are not rewritten, so nothing else is rebuilt.
# A schema with a mistake does not stop the configuration: the target fails when it is built, with the compiler's message.
#
# LINK is what the generated code stands on: mf::runtime unless said otherwise; mf::core does for plain types.

find_program(MFIDLC mfidlc HINTS "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin"
  DOC "The MF/IDL compiler (tools/bootstrap core puts it into .venv)")

# Inside the compiler's own tree its sources are inputs as well.
file(GLOB_RECURSE MFIDLC_SOURCES CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_LIST_DIR}/../mfidl/*.py" "${CMAKE_CURRENT_LIST_DIR}/../mfidl/templates/cpp/*.j2")

function(mfidl_generate)
  cmake_parse_arguments(arg "" "TARGET" "FILES;IMPORT_PATH;LINK" ${ARGN})
  if(NOT arg_TARGET OR NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "usage: mfidl_generate(TARGET name FILES a.mfidl... [IMPORT_PATH dirs...] [LINK libraries...])")
  endif()
  if(NOT MFIDLC)
    message(FATAL_ERROR "mfidl_generate: mfidlc was not found; run tools/bootstrap core, or set MFIDLC")
  endif()
  if(NOT arg_LINK)
    set(arg_LINK mf::runtime)
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}.mfidl")
  set(depfile "${out}.d")
  file(REAL_PATH "${CMAKE_CURRENT_SOURCE_DIR}" here)
  set(files "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${here}" NORMALIZE)
    list(APPEND files "${file}")
  endforeach()
  set(command "${MFIDLC}" compile --cpp "${out}" --depfile "${depfile}")
  foreach(folder IN LISTS arg_IMPORT_PATH)
    cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${here}" NORMALIZE)
    list(APPEND command --import-path "${folder}")
  endforeach()
  list(APPEND command ${files})

  file(MAKE_DIRECTORY "${out}")
  execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE errors)
  set(dependencies ${files} ${MFIDLC_SOURCES})
  if(EXISTS "${depfile}")
    file(READ "${depfile}" imported)
    string(REGEX REPLACE "^[^:]*:" "" imported "${imported}")
    string(REGEX REPLACE "\\\\\n" " " imported "${imported}")
    separate_arguments(imported UNIX_COMMAND "${imported}")
    list(APPEND dependencies ${imported})
  endif()
  list(REMOVE_DUPLICATES dependencies)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dependencies})

  if(status EQUAL 0)
    file(GLOB_RECURSE sources "${out}/*.cpp")
  else()
    message(WARNING "mfidlc refused the schema of ${arg_TARGET}; building that target will fail\n${errors}")
    set(sources "${out}.failed.cpp")
    # When it succeeds after all (a mended import), the next build configures again.
    set(retry "${out}.retry")
    file(TOUCH "${retry}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${retry}")
    add_custom_command(OUTPUT "${sources}" COMMAND ${command} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E touch "${retry}"
      COMMAND ${CMAKE_COMMAND} -E echo "mfidlc accepts the schema of ${arg_TARGET} by now: build once more"
      COMMAND ${CMAKE_COMMAND} -E false
      COMMENT "Running mfidlc for ${arg_TARGET} again, to show what it has to say")
  endif()

  if(sources)
    add_library(${arg_TARGET} STATIC ${sources})
    target_include_directories(${arg_TARGET} PUBLIC "${out}")
    target_link_libraries(${arg_TARGET} PUBLIC ${arg_LINK})
    if(TARGET mf::warnings)
      target_link_libraries(${arg_TARGET} PRIVATE mf::warnings)
    endif()
  else()
    add_library(${arg_TARGET} INTERFACE)
    target_include_directories(${arg_TARGET} INTERFACE "${out}")
    target_link_libraries(${arg_TARGET} INTERFACE ${arg_LINK})
  endif()
endfunction()
