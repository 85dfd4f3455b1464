# Debian's cross compiler for 64-bit Arm, with Debian's own libraries of that architecture (tools/wheel_aarch64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_STRIP aarch64-linux-gnu-strip)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(MF_MOLD OFF CACHE STRING "This compiler does not find mold")
