# libtorch through Torch_DIR, else the one inside the active Python's torch (this checkout's .venv first).
if(NOT Torch_DIR)
  find_program(SLIMBAYES_PYTHON NAMES python3 HINTS ${CMAKE_SOURCE_DIR}/.venv/bin NO_CMAKE_SYSTEM_PATH)
  find_program(SLIMBAYES_PYTHON NAMES python3)
  execute_process(COMMAND ${SLIMBAYES_PYTHON} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(torch_root)
    set(Torch_DIR ${torch_root}/share/cmake/Torch CACHE PATH "libtorch's CMake package")
  endif()
endif()
find_package(Torch 2.6 REQUIRED)
# Only the CPU interface is named; TORCH_LIBRARIES carries include folders and flags.
add_library(slimbayes_torch INTERFACE)
target_include_directories(slimbayes_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(slimbayes_torch INTERFACE ${TORCH_LIBRARIES})
