# Google Highway: headers alone (the dispatch is our own, kernels/kernels.cpp). Target Highway::headers.
find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HighwayHeaders REQUIRED_VARS HIGHWAY_INCLUDE_DIR)
if(NOT TARGET Highway::headers)
  add_library(Highway::headers INTERFACE IMPORTED)
  target_include_directories(Highway::headers SYSTEM INTERFACE ${HIGHWAY_INCLUDE_DIR})
endif()
