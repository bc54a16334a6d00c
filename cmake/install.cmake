# cmake --install build/release --prefix /usr: what a head node needs. An edited configuration is
# never overwritten. Components are packages (package.cmake).
include(GNUInstallDirs)
install(TARGETS smd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR} COMPONENT smd)
install(TARGETS smctl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT smd)
install(TARGETS smsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT smsim)
if(TARGET smd_opensm)
  # Not part of every build; OpenSM looks for it where the loader looks for libraries.
  install(TARGETS smd_opensm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT opensm OPTIONAL)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/smd_opensm.7
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT opensm)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/smd-import-opensm.1
              ${PROJECT_SOURCE_DIR}/docs/man/smctl-partition.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT smd)
install(FILES ${PROJECT_SOURCE_DIR}/systemd/smd.service ${PROJECT_SOURCE_DIR}/systemd/smd@.service
              ${PROJECT_SOURCE_DIR}/systemd/smd.target
        DESTINATION lib/systemd/system COMPONENT smd)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/systemd/smd-generator
        DESTINATION lib/systemd/system-generators COMPONENT smd)
foreach(program smd smctl smsim)
  set(component smd)
  if(program STREQUAL smsim)
    set(component smsim)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/etc/completion.bash RENAME ${program}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT ${component})
endforeach()
# Every option; and what etc/smd/smd.toml is before a site writes to it, for postinst. Not below doc, which
# a site may leave out (dpkg's path-exclude).
install(FILES ${PROJECT_SOURCE_DIR}/etc/smd.toml ${PROJECT_SOURCE_DIR}/etc/site.toml
        DESTINATION ${CMAKE_INSTALL_DATADIR}/smd COMPONENT smd)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/etc/package/try-restart
        DESTINATION ${CMAKE_INSTALL_DATADIR}/smd COMPONENT smd)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/smd-doc
        COMPONENT doc PATTERN man EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/smd-doc COMPONENT doc)

# smd_install_setting(FILE AS [PERMISSIONS]): a file below etc as /etc/AS, unless one is there.
function(smd_install_setting file as)
  cmake_path(GET as PARENT_PATH folder)
  cmake_path(GET as FILENAME name)
  install(CODE "
    if(EXISTS \"\$ENV{DESTDIR}/etc/${as}\")
      message(STATUS \"Kept: \$ENV{DESTDIR}/etc/${as}\")
    else()
      file(INSTALL \"${PROJECT_SOURCE_DIR}/etc/${file}\" DESTINATION \"/etc/${folder}\" RENAME ${name}
           PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ ${ARGN})
    endif()
  " COMPONENT smd)
endfunction()
smd_install_setting(site.toml smd/smd.toml)  # keys stand there
smd_install_setting(smd.sysconfig default/smd WORLD_READ)
smd_install_setting(smd.logrotate logrotate.d/smd WORLD_READ)
