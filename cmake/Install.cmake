# cmake --install: headers, the two libraries, the tool, and a package that find_package(slimbayes) finds.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/slimbayes)
set(installed slimbayes_base_shared)
if(SLIMBAYES_ENGINE)
  list(APPEND installed slimbayes slimbayes_serve)
  install(FILES ${PROJECT_SOURCE_DIR}/slimbayes/serve/slimbayes_serve.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
# The headers ask their users for C++20.
foreach(library ${installed})
  target_compile_features(${library} INTERFACE cxx_std_20)
endforeach()

# Without the engine: what is said of methods, options and files without tensors.
if(SLIMBAYES_ENGINE)
  set(public slimbayes/slimbayes.h)
else()
  set(public slimbayes/catalog/methods.h slimbayes/catalog/fit_options.h slimbayes/storage/tensor_file.h slimbayes/storage/error.h)
endif()
list(JOIN public " " public_names)
install(CODE "
  include(${CMAKE_CURRENT_LIST_DIR}/PublicHeaders.cmake)
  slimbayes_install_headers(${PROJECT_SOURCE_DIR} \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\" ${public_names})")
install(FILES ${PROJECT_BINARY_DIR}/rooms/include/slimbayes/export.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/slimbayes)
install(TARGETS ${installed} EXPORT slimbayes
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT slimbayes NAMESPACE slimbayes:: FILE slimbayesTargets.cmake DESTINATION ${package_dir})

if(TARGET slimbayes_tool)
  list(APPEND installed slimbayes_tool)
  install(TARGETS slimbayes_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET slimbayes_commands)
  list(APPEND installed slimbayes_commands slimbayes_rows)
  install(TARGETS slimbayes_commands slimbayes_rows LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# The demo's table, where the installed tool looks for it.
if(EXISTS ${PROJECT_SOURCE_DIR}/examples/data)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/data/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/slimbayes)
endif()

# Wheels lie inside the checkout's .venv, which CMake's own INSTALL_RPATH_USE_LINK_PATH takes for build products.
set(rpath $ORIGIN $ORIGIN/../${CMAKE_INSTALL_LIBDIR})
if(SLIMBAYES_ENGINE)
  list(APPEND rpath ${TORCH_INSTALL_PREFIX}/lib)
  if(TARGET slimbayes_arrow_wheel)
    get_target_property(arrow slimbayes_arrow_wheel IMPORTED_LOCATION)
    get_filename_component(arrow ${arrow} DIRECTORY)
    list(APPEND rpath ${arrow})
  endif()
endif()
set_target_properties(${installed} PROPERTIES INSTALL_RPATH "${rpath}" INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET slimbayes_serve)  # needs nothing of the wheels
  set_target_properties(slimbayes_serve PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH OFF)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/slimbayesConfig.cmake.in slimbayesConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(slimbayesConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/FindTorchWheel.cmake ${CMAKE_CURRENT_BINARY_DIR}/slimbayesConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/slimbayesConfigVersion.cmake
  DESTINATION ${package_dir})
