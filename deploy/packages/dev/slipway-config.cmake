# find_package(slipway) gives the target slipway::slipway, a static library for C++20.
get_filename_component(_slipway_prefix "${CMAKE_CURRENT_LIST_DIR}/../../../../.." ABSOLUTE)
if(NOT TARGET slipway::slipway)
  add_library(slipway::slipway STATIC IMPORTED)
  set_target_properties(slipway::slipway PROPERTIES
    IMPORTED_LOCATION "${_slipway_prefix}/usr/lib/@MULTIARCH@/libslipway.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_slipway_prefix}/usr/include/slipway"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES "@CMAKE_FLAGS@")
endif()
