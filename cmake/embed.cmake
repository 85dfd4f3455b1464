# mf_embed(TARGET NAME FILES...) gives a target the bytes of files as arrays of C++, in NAME.inc, which its sources include:
# `k_index_html` is that of index.html.
set(MF_EMBED_STEP "${CMAKE_CURRENT_LIST_DIR}/embed_step.cmake")

function(mf_embed target name)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set(made "${CMAKE_CURRENT_BINARY_DIR}/${target}.embedded/${name}.inc")
  add_custom_command(OUTPUT "${made}"
    COMMAND "${CMAKE_COMMAND}" "-DMADE=${made}" "-DFILES=${ARGN}" -P "${MF_EMBED_STEP}"
    DEPENDS ${ARGN} "${MF_EMBED_STEP}" COMMENT "Embedding ${name}" VERBATIM)
  target_sources(${target} PRIVATE "${made}")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${target}.embedded")
endfunction()
