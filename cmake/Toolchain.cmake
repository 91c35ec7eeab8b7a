# Compiler, cache and linker settings that all targets share.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_DIR=${CMAKE_SOURCE_DIR}/.cache/ccache CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_CROSSCOMPILING)  # a cross compiler looks for a linker of its own
  add_link_options(-fuse-ld=mold)
endif()

# Not POSITION_INDEPENDENT_CODE: that compiles programs with -fPIE, and they could not share the precompiled header.
add_compile_options(-fPIC)

# The shared libraries export what carries SLIMBAYES_EXPORT alone (slimbayes/CMakeLists.txt). All targets are compiled alike,
# so that they can share the precompiled header.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -DSLIMBAYES_SANITIZE=address,undefined: the asan preset.
set(SLIMBAYES_SANITIZE "" CACHE STRING "Comma-separated sanitizers")

# Warnings for our own code; `slimbayes_settings` is linked PRIVATE everywhere. Two of g++ 12's fire in std::string itself,
# depending on what it inlines (GCC bugs 105329, 105651); the asan preset sees what they look for.
add_library(slimbayes_settings INTERFACE)
target_compile_options(slimbayes_settings INTERFACE -Wall -Wextra -Wpedantic -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess -Wno-array-bounds -Wno-restrict>)
# g++ warns falsely in instrumented code (its manual says so of -fsanitize): there, warnings stay warnings.
if(SLIMBAYES_WERROR AND NOT SLIMBAYES_SANITIZE)
  target_compile_options(slimbayes_settings INTERFACE -Werror)
endif()

if(SLIMBAYES_SANITIZE)
  add_compile_options(-fsanitize=${SLIMBAYES_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${SLIMBAYES_SANITIZE})
endif()
