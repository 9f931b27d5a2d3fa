# cmake --install puts the library, its public headers and a package for find_package(kalmia) in
# place. The package asks only for what linking needs: Threads, and for a static library also
# Highway, fmt, zlib and libsndfile (and MPI when built with it).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_target_property(kalmia_type kalmia TYPE)
set(KALMIA_PACKAGE_STATIC OFF)
if(kalmia_type STREQUAL "STATIC_LIBRARY")
  set(KALMIA_PACKAGE_STATIC ON)
endif()

set(kalmia_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kalmia)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kalmia-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/kalmia-config.cmake
  INSTALL_DESTINATION ${kalmia_package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface, so that only the same one fits.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/kalmia-config-version.cmake
  VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)

install(TARGETS kalmia EXPORT kalmia-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT kalmia-targets NAMESPACE kalmia:: DESTINATION ${kalmia_package_dir})
install(FILES
  ${PROJECT_BINARY_DIR}/cmake/kalmia-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/kalmia-config-version.cmake
  DESTINATION ${kalmia_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
