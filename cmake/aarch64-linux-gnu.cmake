# Toolchain of Debian's cross compiler for 64-bit ARM: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Highway's NEON target has the crypto extension, and g++ inlines its functions only into code of the same target. No kernel uses
# these instructions, so that processors without them run the library, too.
set(CMAKE_CXX_FLAGS_INIT "-march=armv8-a+crypto")
