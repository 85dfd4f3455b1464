# The component `compiler`: the program mfidlc, and in lib/mfidl the Python packages that it needs. It runs with any Python from
# 3.11 on that has nothing else installed: packages are taken from the Python that this tree is built with (.venv), without
# their compiled parts, which are there for speed alone.
find_program(MF_PYTHON python HINTS "${CMAKE_SOURCE_DIR}/.venv/bin" NO_DEFAULT_PATH
  DOC "A Python with the packages of packaging/pip-core.txt, which the installed mfidlc takes along")
set(MF_COMPILER_PACKAGES antlr4 click google.protobuf jinja2 markupsafe)

if(NOT EXISTS "${CMAKE_SOURCE_DIR}/mfidl" OR NOT MF_PYTHON)
  message(STATUS "mfidlc is not among what is installed (tools/bootstrap core makes the .venv that it is taken from)")
  return()
endif()

set(destination "lib/mfidl")
set(left_out PATTERN "__pycache__" EXCLUDE PATTERN "*.so" EXCLUDE PATTERN "*.bin" EXCLUDE)
install(PROGRAMS "${CMAKE_CURRENT_LIST_DIR}/mfidlc.py" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME mfidlc COMPONENT compiler)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/mfidl" "${CMAKE_SOURCE_DIR}/runtime/python/mf" DESTINATION "${destination}" COMPONENT compiler
  ${left_out})
install(DIRECTORY "${CMAKE_SOURCE_DIR}/templates" DESTINATION "${destination}/mfidl" COMPONENT compiler ${left_out})

foreach(package IN LISTS MF_COMPILER_PACKAGES)
  execute_process(COMMAND "${MF_PYTHON}" -c "import importlib, sys; print(importlib.import_module(sys.argv[1]).__path__[0])" ${package}
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[^.]+$" "" above "${package}")
  string(REPLACE "." "/" above "${above}")
  install(DIRECTORY "${folder}" DESTINATION "${destination}/${above}" COMPONENT compiler ${left_out})
endforeach()
execute_process(COMMAND "${MF_PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/licences.py" antlr4-python3-runtime click protobuf jinja2 markupsafe
  OUTPUT_FILE "${CMAKE_CURRENT_BINARY_DIR}/licences" COMMAND_ERROR_IS_FATAL ANY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/licences" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/mfidlc" COMPONENT compiler)

# Bytecode, so that mfidlc starts as fast for users without the right to write there. It is not compared with
# the times of its sources, which packages change.
install(CODE "execute_process(COMMAND \"${MF_PYTHON}\" -m compileall -q -f --invalidation-mode unchecked-hash -d lib/mfidl
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${destination}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT compiler)
