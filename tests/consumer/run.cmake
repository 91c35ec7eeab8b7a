# Installs the build tree into a fresh prefix; configures, builds and runs the foreign project against it.
# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DBUILD_TYPE=... -DGENERATOR=... -P run.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/run)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DCMAKE_CXX_COMPILER=${COMPILER}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} -E chdir ${WORK_DIR}/run ${WORK_DIR}/build/consumer)
if(NOT output MATCHES "slimbayes [0-9.]+: mean -?[0-9.]+, sd [0-9.]+ at x = 0\n")
  message(FATAL_ERROR "expected a line with mean and sd; received: ${output}")
endif()
message(STATUS "${output}")

# The installed tool starts from where it was put, without the build tree's libraries.
if(EXISTS ${WORK_DIR}/prefix/bin/slimbayes)
  run(${WORK_DIR}/prefix/bin/slimbayes --version)
  run(${WORK_DIR}/prefix/bin/slimbayes predict ${WORK_DIR}/run/model.safetensors ${WORK_DIR}/run/train.csv --out -)
endif()
