# What the first rule of mfidl_generate() runs: cmake -D settings=FILE -P mfidl_step.cmake. Never fails.
# The settings name `out`, the prefix of all files here, and `command`, the compiler's command line.
#   out.new      what the compiler says it generated
#   out.outputs  the same, kept as it is while the list stays the same: an input of the configuration
#   out.stamp    touched by the compiler when it succeeded; missing after a failure, so that the rule runs again
#   out.errors   what the compiler said when it failed
#   out.done     touched by the second rule, after a success
include("${settings}")

file(MAKE_DIRECTORY "${out}")
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE complained)
if(status EQUAL 0)
  file(REMOVE "${out}.errors")
  file(READ "${out}.new" new)
else()
  file(REMOVE "${out}.stamp" "${out}.done")
  file(WRITE "${out}.errors" "${said}${complained}")
  if(NOT status MATCHES "^[0-9]+$")
    file(APPEND "${out}.errors" "mfidlc: ${status}\n")
  endif()
  set(new "")
endif()

# After a failure the files of the last success are still there, and so is their list.
set(old "")
if(EXISTS "${out}.outputs")
  file(READ "${out}.outputs" old)
endif()
if(NOT EXISTS "${out}.outputs" OR (status EQUAL 0 AND NOT old STREQUAL new))
  file(WRITE "${out}.outputs" "${new}")
endif()
