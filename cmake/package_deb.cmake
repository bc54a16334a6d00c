# Run by CPack before a package is made of what was installed (CPACK_PRE_BUILD_SCRIPTS). What a .deb has
# in /etc and is no conffile would be written over by an upgrade, and a conffile that a program writes,
# such as smd import-opensm, makes an upgrade ask: postinst puts smd.toml there, where there is none.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/smd/etc/smd)
  if(NOT EXISTS ${folder}/smd.toml)
    message(FATAL_ERROR "no ${folder}/smd.toml, which is not to be in the .deb")
  endif()
  file(REMOVE_RECURSE ${folder})
endif()
