# `cpack -G DEB` in a build folder of the preset `install`: the packages libmf-dev, mfidlc and mf-controller of Debian 12
# (tools/debs). The service of mf-controller is installed by its package alone.
set(MF_DEBIAN "${CMAKE_SOURCE_DIR}/packaging/debian")
if(NOT EXISTS "${MF_DEBIAN}" OR NOT MF_PRODUCT_ONLY)
  return()
endif()
install(FILES "${MF_DEBIAN}/mf-controller.service" DESTINATION /lib/systemd/system COMPONENT service EXCLUDE_FROM_ALL)
install(FILES "${MF_DEBIAN}/mf-controller.default" DESTINATION /etc/default RENAME mf-controller COMPONENT service EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME mf)
set(CPACK_PACKAGE_VENDOR "MF/IDL")
set(CPACK_PACKAGE_CONTACT "The developers of MF/IDL <mf@localhost>")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL runtime compiler controller service)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libmf-dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "MF/IDL: libraries and headers for C++
 Clients, servers and codecs for the code that mfidlc generates.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libssl-dev (>= 3)")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "mfidlc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libboost1.81-dev")

set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME mfidlc)
set(CPACK_DEBIAN_COMPILER_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_COMPILER_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPILER_DESCRIPTION "MF/IDL: the compiler of interface files
 Generates C++ and Python, and formats, checks and documents schemas.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "python3 (>= 3.11)")

set(CPACK_DEBIAN_CONTROLLER_PACKAGE_NAME mf-controller)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_CONTROLLER_DESCRIPTION "MF/IDL: the programs mf-controller, mf-relay and mf-bridge
 mf-controller runs as a service: servers register there, and clients find them.")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_DEPENDS "passwd, init-system-helpers")
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CONTROLLER_PACKAGE_CONTROL_EXTRA
  "${MF_DEBIAN}/conffiles;${MF_DEBIAN}/postinst;${MF_DEBIAN}/prerm;${MF_DEBIAN}/postrm")

set(CPACK_COMPONENT_RUNTIME_GROUP runtime)
set(CPACK_COMPONENT_COMPILER_GROUP compiler)
set(CPACK_COMPONENT_CONTROLLER_GROUP controller)
set(CPACK_COMPONENT_SERVICE_GROUP controller)
include(CPack)
