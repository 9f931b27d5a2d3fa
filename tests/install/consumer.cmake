# Configures the outside project SOURCE in BINARY against the package in PREFIX, asking for version
# WANTED. EXPECT is "built" (it configures, builds, runs and names VERSION) or "refused"
# (find_package turns the version down).
file(REMOVE_RECURSE ${BINARY})
set(flags)
if(SANITIZE)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE}")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G ${GENERATOR}
          -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
          -DCMAKE_PREFIX_PATH=${PREFIX} -DKALMIA_WANTED=${WANTED} ${flags}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(EXPECT STREQUAL "refused")
  if(result EQUAL 0)
    message(FATAL_ERROR "version ${WANTED} was accepted, but ${VERSION} is installed")
  endif()
  # The failure must be about the version, and must have seen this very package.
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(NOT output MATCHES "compatible with requested version \"${WANTED}\""
     OR NOT output MATCHES "version: ${VERSION}")
    message(FATAL_ERROR "configuring failed for another reason:\n${output}")
  endif()
  return()
endif()

if(NOT result EQUAL 0)
  message(FATAL_ERROR "configuring the consumer failed:\n${output}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "building the consumer failed:\n${output}")
endif()
execute_process(COMMAND ${BINARY}/consumer
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0 OR NOT output MATCHES "kalmia ${VERSION}, last mean 1\\.[0-9]+")
  message(FATAL_ERROR "the consumer ended with ${result} and said:\n${output}")
endif()
