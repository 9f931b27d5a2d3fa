# Installs the build BUILD (of configuration CONFIG) into an emptied PREFIX and checks that nothing
# internal came along.
file(REMOVE_RECURSE ${PREFIX})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config ${CONFIG}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install failed:\n${output}")
endif()
set(source ${CMAKE_CURRENT_LIST_DIR}/../../include/kalmia)
file(GLOB headers RELATIVE ${source} ${source}/*.hpp)
foreach(header ${headers})
  if(NOT EXISTS ${PREFIX}/include/kalmia/${header})
    message(FATAL_ERROR "include/kalmia/${header} was not installed in ${PREFIX}")
  endif()
endforeach()
file(GLOB entries RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
if(NOT entries STREQUAL "kalmia")
  message(FATAL_ERROR "include/ holds ${entries}, but it must hold kalmia alone")
endif()
