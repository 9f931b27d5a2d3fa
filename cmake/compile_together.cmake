# kalmia_compile_together(target size): the sources of a target are compiled in groups of at most
# `size`, which takes much less time: the headers are read once for a group, and what they
# define as templates is compiled once. A group holds sources of one folder, or those that include
# Eigen, whose decompositions cost most. Sources that are compiled for several instruction sets
# (hwy/foreach_target.h) stay alone. So names in anonymous namespaces must differ within a layer.
#
# -DKALMIA_COMPILE_TOGETHER=OFF compiles each source alone: for who works on a few of them.
function(kalmia_compile_together target size)
  if(NOT KALMIA_COMPILE_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder})
    if(NOT source MATCHES "\\.cpp$")
      continue()
    endif()
    file(STRINGS ${source} alone REGEX "hwy/foreach_target" LIMIT_COUNT 1)
    file(STRINGS ${source} matrices REGEX "include <Eigen|linear_system.hpp" LIMIT_COUNT 1)
    if(alone)
      continue()
    elseif(matrices)
      set(group matrices)
    else()
      cmake_path(GET source PARENT_PATH group)
      cmake_path(GET group FILENAME group)
    endif()
    math(EXPR count_${group} "${count_${group}} + 1")
    math(EXPR part "(${count_${group}} - 1) / ${size}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target}
                                PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
