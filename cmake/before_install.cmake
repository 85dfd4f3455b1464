# The first step of `cmake --install`: a folder that cannot be written, or that has another version, is one sentence, before any file is copied.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(found "")
file(GLOB versions "${prefix}/lib*/cmake/mfidl/mfidlConfigVersion.cmake" "${prefix}/lib/*/cmake/mfidl/mfidlConfigVersion.cmake")
foreach(file IN LISTS versions)
  file(STRINGS "${file}" line REGEX "^set\\(PACKAGE_VERSION \"" LIMIT_COUNT 1)
  string(REGEX MATCH "[0-9.]+" found "${line}")
  if(NOT found STREQUAL MF_VERSION)
    cmake_path(GET file PARENT_PATH folder)
    message(FATAL_ERROR "${prefix} has MF/IDL ${found}, whose files would stay among those of ${MF_VERSION}: "
      "rm -r '${prefix}/include/mf' '${folder}', or give another folder with --prefix")
  endif()
endforeach()

set(probe "${prefix}/.mfidl-is-installed-here")
execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${prefix}" RESULT_VARIABLE made ERROR_QUIET)
execute_process(COMMAND "${CMAKE_COMMAND}" -E touch "${probe}" RESULT_VARIABLE touched ERROR_QUIET)
if(made OR touched)
  message(FATAL_ERROR "MF/IDL cannot be installed in ${prefix}, which cannot be written: "
    "run this command with sudo, or give another folder with --prefix")
endif()
file(REMOVE "${probe}")
