# libtorch through Torch_DIR, else the one inside the active Python's torch (this checkout's .venv first).
if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR $ENV{Torch_DIR} CACHE PATH "libtorch's CMake package")
endif()
if(NOT Torch_DIR)
  find_program(SLIMBAYES_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CMAKE_SYSTEM_PATH)
  find_program(SLIMBAYES_PYTHON NAMES python3)
  # -I: where pip builds a wheel, the environment that it is for, not pip's own one for the build.
  execute_process(COMMAND ${SLIMBAYES_PYTHON} -I -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(torch_root)
    set(Torch_DIR ${torch_root}/share/cmake/Torch CACHE PATH "libtorch's CMake package")
  endif()
endif()

# Of a CUDA build the CPU libraries are linked by name, whether the CUDA toolkit is there or not: its package wants the toolkit,
# which a wheel does not bring, and would tie the binaries to CUDA. libtorch_cuda.so is opened when a fit asks for a GPU
# (slimbayes/core/accelerator_library.h), so that the same binaries run beside a libtorch with CUDA and one without.
get_filename_component(TORCH_INSTALL_PREFIX "${Torch_DIR}/../../.." ABSOLUTE)
if(EXISTS ${TORCH_INSTALL_PREFIX}/lib/libtorch_cuda.so)
  set(TORCH_INCLUDE_DIRS ${TORCH_INSTALL_PREFIX}/include ${TORCH_INSTALL_PREFIX}/include/torch/csrc/api/include)
  set(TORCH_LIBRARIES ${TORCH_INSTALL_PREFIX}/lib/libtorch_cpu.so ${TORCH_INSTALL_PREFIX}/lib/libc10.so)
  set(PACKAGE_FIND_VERSION 2.6)  # as for the package
  include(${Torch_DIR}/TorchConfigVersion.cmake)
  if(NOT PACKAGE_VERSION_COMPATIBLE)
    message(FATAL_ERROR "expected libtorch ${PACKAGE_FIND_VERSION} or newer; found ${PACKAGE_VERSION} in ${TORCH_INSTALL_PREFIX}")
  endif()
  set(Torch_VERSION ${PACKAGE_VERSION})
else()
  find_package(Torch 2.6 REQUIRED)
endif()
# Only the CPU interface is named; TORCH_LIBRARIES carries include folders and flags.
add_library(slimbayes_torch INTERFACE)
target_include_directories(slimbayes_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(slimbayes_torch INTERFACE ${TORCH_LIBRARIES})
