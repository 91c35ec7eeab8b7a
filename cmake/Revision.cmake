# Run at each build: writes FILE, a header with the commit that last changed what is compiled, "-dirty" where the checkout
# differs from it, "" outside a checkout. The file keeps its time where nothing changed, so that nothing is compiled anew.
#   cmake -D SOURCE=<source folder> -D FILE=<header> [-D "ALSO=<path> <path>"] -P Revision.cmake
# ALSO: sources of the program outside the library and the tool.
cmake_policy(VERSION 3.22)
separate_arguments(ALSO)
set(compiled slimbayes cli cmake CMakeLists.txt CMakePresets.json ${ALSO})

function(ask answer)
  execute_process(COMMAND git -C ${SOURCE} ${ARGN} -- ${compiled}
    OUTPUT_VARIABLE words ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${answer} "${words}" PARENT_SCOPE)
endfunction()

ask(commit log -1 --format=%h --abbrev=7)
ask(changed status --porcelain)
if(commit AND changed)
  string(APPEND commit "-dirty")
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "#define SLIMBAYES_REVISION \"@commit@\"\n" @ONLY)
