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

# All installed headers in two files of one program: they find what they include, and define nothing twice. `make check`
# compiles each of them alone.
file(GLOB_RECURSE headers RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/slimbayes/*.h)
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n" OUTPUT_VARIABLE lines)
string(CONCAT all ${lines})
file(WRITE ${WORK_DIR}/headers/other.cpp "${all}const char* other() { return slimbayes::version(); }\n")
file(WRITE ${WORK_DIR}/headers/main.cpp "${all}const char* other();\nint main() { return other() != slimbayes::version(); }\n")
file(WRITE ${WORK_DIR}/headers/CMakeLists.txt "cmake_minimum_required(VERSION 3.22)
project(headers LANGUAGES CXX)
find_package(slimbayes 0.1 REQUIRED)
add_executable(headers main.cpp other.cpp)
target_link_libraries(headers PRIVATE slimbayes::slimbayes)
")
run(${CMAKE_COMMAND} -S ${WORK_DIR}/headers -B ${WORK_DIR}/headers/build -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DCMAKE_CXX_COMPILER=${COMPILER}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/headers/build)
run(${WORK_DIR}/headers/build/headers)
list(LENGTH headers number)
message(STATUS "${number} installed headers")

# The installed tool starts from where it was put, without the build tree's libraries.
if(EXISTS ${WORK_DIR}/prefix/bin/slimbayes)
  run(${WORK_DIR}/prefix/bin/slimbayes --version)
  run(${WORK_DIR}/prefix/bin/slimbayes predict ${WORK_DIR}/run/model.safetensors ${WORK_DIR}/run/train.csv --out -)
endif()
