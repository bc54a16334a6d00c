# Read by CPack as it begins (CPACK_PROJECT_CONFIG_FILE): packages are called after the commit that they are
# made of, not after the one that was configured.
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
smd_find_version(${source} ${CPACK_PACKAGE_VERSION} CPACK_PACKAGE_VERSION)
