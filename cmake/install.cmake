# `cmake --install build/install --prefix P` installs three components, or one of them (--component NAME):
#   runtime     libraries, headers, and the packages that find_package(mfidl) and pkg-config find
#   compiler    mfidlc with all Python packages that it needs (cmake/compiler.cmake)
#   controller  mf-controller, mf-relay and mf-bridge
# Projects name the targets below; in this tree they have the same names.
#   mfidl::codec                  types and codecs: no threads, no Asio, no Boost
#   mfidl::client, mfidl::server  calls: need threads and OpenSSL 3
#   mfidl::testing                tests of clients and servers (docs/testing.md)
#   mfidl::asio                   for programs that include mf/client/asio.hpp: Boost 1.81 or newer
install(CODE "set(MF_VERSION ${PROJECT_VERSION})" ALL_COMPONENTS)
install(SCRIPT "${CMAKE_CURRENT_LIST_DIR}/before_install.cmake" ALL_COMPONENTS)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

foreach(end IN ITEMS client server)
  add_library(mf_${end} INTERFACE)
  target_link_libraries(mf_${end} INTERFACE mf_groups)
endforeach()

set(MF_EXPORTED mf_core mf_protocol mf_asio mf_runtime mf_groups mf_client mf_server mf_testing)
set(MF_EXPORTED_AS codec protocol asio runtime groups client server testing)
foreach(target name IN ZIP_LISTS MF_EXPORTED MF_EXPORTED_AS)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(mfidl::${name} ALIAS ${target})
endforeach()
set(MF_LIBRARIES "-lmf_groups -lmf_runtime -lmf_protocol -lmf_asio -lmf_core")
set(MF_CODEC_LIBRARIES -lmf_core)
if(BUILD_SHARED_LIBS)
  mf_share(PARTS mf_core mf_protocol mf_asio mf_runtime mf_groups mf_testing
    NAMES codec protocol runtime groups client server testing)
  # Programs that include mf/client/asio.hpp have an Asio of their own: the one inside libmf.so is hidden.
  set(MF_EXPORTED mf_shared mf_shared_codec mf_shared_protocol mf_shared_runtime mf_shared_groups mf_shared_client mf_shared_server
    mf_shared_testing mf_asio)
  set(MF_LIBRARIES -lmf)
  set(MF_CODEC_LIBRARIES -lmf)
endif()

set(MF_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/mfidl")
set(MF_DEBIAN_runtime libmf-dev)
set(MF_DEBIAN_compiler mfidlc)
set(MF_DEBIAN_controller mf-controller)
install(TARGETS ${MF_EXPORTED} EXPORT mfidl COMPONENT runtime
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS mf-controller mf-relay mf-bridge RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT controller)
foreach(component IN ITEMS runtime compiler controller)
  install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${MF_DEBIAN_${component}}"
    RENAME copyright COMPONENT ${component})
endforeach()
include(compiler)
install(DIRECTORY "${MF_CPP}/include/" "${CMAKE_CURRENT_BINARY_DIR}/mf_runtime.mfidl/" "${CMAKE_CURRENT_BINARY_DIR}/mf_groups.mfidl/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime FILES_MATCHING PATTERN "*.hpp")
install(EXPORT mfidl FILE mfidlTargets.cmake NAMESPACE mfidl:: DESTINATION "${MF_PACKAGE_DIR}" COMPONENT runtime)

# What find_package(mfidl) looks for first: a prefix from which some of it was removed is said in a sentence.
set(installed "")
if(NOT IS_ABSOLUTE "${MF_PACKAGE_DIR}")
  list(APPEND installed "${MF_PACKAGE_DIR}/mfidl.cmake" "${MF_PACKAGE_DIR}/mfidl_step.cmake" "${MF_PACKAGE_DIR}/mfidlTargets.cmake")
endif()
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  list(APPEND installed "${CMAKE_INSTALL_INCLUDEDIR}/mf")
endif()
foreach(library IN LISTS MF_EXPORTED)
  get_target_property(type ${library} TYPE)
  get_target_property(name ${library} OUTPUT_NAME)
  # Elsewhere, or by another name, mfidlTargets.cmake looks for it alone.
  if(type MATCHES "^(STATIC|SHARED)_LIBRARY$" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT CMAKE_DEBUG_POSTFIX)
    string(REPLACE name-NOTFOUND ${library} name "${name}")
    list(APPEND installed "${CMAKE_INSTALL_LIBDIR}/${CMAKE_${type}_PREFIX}${name}${CMAKE_${type}_SUFFIX}")
  endif()
endforeach()
list(JOIN installed "\" \"" MF_INSTALLED_PARTS)
string(REGEX REPLACE "[^/]+" ".." MF_PACKAGE_UP "${MF_PACKAGE_DIR}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/mfidlConfig.cmake.in" mfidlConfig.cmake
  INSTALL_DESTINATION "${MF_PACKAGE_DIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(mfidlConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/mfidlConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/mfidlConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/mfidl.cmake" "${CMAKE_CURRENT_LIST_DIR}/mfidl_step.cmake"
  DESTINATION "${MF_PACKAGE_DIR}" COMPONENT runtime)

# For builds without CMake: `pkg-config --cflags --libs mfidl`, or `mfidl-codec` for types and codecs alone.
string(REGEX REPLACE "[^/]+" ".." MF_PC_UP "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
foreach(package IN ITEMS mfidl mfidl-codec)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${package}.pc.in" ${package}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${package}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT runtime)
endforeach()
