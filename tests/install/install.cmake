# Installs the build BUILD (of configuration CONFIG) into an emptied PREFIX and checks that nothing
# internal came along.
file(REMOVE_RECURSE ${PREFIX})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config ${CONFIG}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install failed:\n${output}")
endif()
if(NOT EXISTS ${PREFIX}/include/kalmia/version.hpp)
  message(FATAL_ERROR "include/kalmia/version.hpp was not installed in ${PREFIX}")
endif()
file(GLOB entries RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
if(NOT entries STREQUAL "kalmia")
  message(FATAL_ERROR "include/ holds ${entries}, but it must hold kalmia alone")
endif()
