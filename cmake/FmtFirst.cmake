# libtorch's include folder holds the headers of another fmt, without a library to them. A system folder cannot be moved
# to the front of the search, so the headers of the fmt that is linked get a folder of their own there.
find_package(fmt REQUIRED)
get_target_property(fmt_folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(SLIMBAYES_FMT_INCLUDE fmt/format.h HINTS ${fmt_folders} NO_DEFAULT_PATH REQUIRED)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${SLIMBAYES_FMT_INCLUDE}/fmt ${CMAKE_BINARY_DIR}/include/fmt SYMBOLIC)
add_library(slimbayes_fmt INTERFACE)
target_include_directories(slimbayes_fmt SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/include)
target_link_libraries(slimbayes_fmt INTERFACE fmt::fmt)
