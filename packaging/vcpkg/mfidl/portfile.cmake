# The C++ runtime of MF/IDL, of the tree that this port is in:
#   pip install mfidl==0.1.0
#   vcpkg install mfidl --overlay-ports=packaging/vcpkg
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

find_program(MFIDLC mfidlc)
if(NOT MFIDLC)
  message(FATAL_ERROR "mfidlc was not found: pip install mfidl==${VERSION}")
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DMF_PRODUCT_ONLY=ON -DMF_UNITY=ON -DMFIDLC=${MFIDLC} -DCMAKE_INSTALL_LIBDIR=lib)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME mfidl CONFIG_PATH lib/cmake/mfidl)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES mf-controller mf-relay mf-bridge AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
