# What a build is called: the version of project(), and in a git tree when its last commit was made, in UTC,
# and which one that is: 0.1.0+git20261201.093412.1a2b3c4d5e. To dpkg and rpm that is newer than 0.1.0 and
# than a build of any commit before. A tree without git, such as a release's archive, has the plain version.
function(smd_find_version source plain out)
  set(${out} ${plain} PARENT_SCOPE)
  if(NOT EXISTS ${source}/.git)
    return()
  endif()
  # Whoever builds as root builds somebody else's tree.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env TZ=UTC git -c "safe.directory=*" -C ${source}
            log -1 --abbrev=10 --date=format-local:%Y%m%d.%H%M%S --format=%cd.%h
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit MATCHES "^[0-9]+\\.[0-9]+\\.[0-9a-f]+$")
    set(${out} ${plain}+git${commit} PARENT_SCOPE)
  endif()
endfunction()

# cmake -D SOURCE=… -D PLAIN=… -D OUT=FILE -P version.cmake: FILE, where it is another one than is there.
if("${CMAKE_SCRIPT_MODE_FILE}" STREQUAL "${CMAKE_CURRENT_LIST_FILE}")
  smd_find_version(${SOURCE} ${PLAIN} version)
  file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#include "smd/bin/version.h"

namespace smd::bin {

std::string_view version() { return "@version@"; }

}  // namespace smd::bin
]] @ONLY)
endif()
