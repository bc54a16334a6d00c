# cmake --install build/release --prefix /usr: what a head node needs. An edited configuration is
# never overwritten.
include(GNUInstallDirs)
install(TARGETS smd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS smctl smsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET smd_opensm)
  # Not part of every build; OpenSM looks for it where the loader looks for libraries.
  install(TARGETS smd_opensm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/smd_opensm.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/smd-import-opensm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/systemd/smd.service ${PROJECT_SOURCE_DIR}/systemd/smd@.service
        DESTINATION lib/systemd/system)
install(CODE "
  set(folder \"\$ENV{DESTDIR}/etc/smd\")
  if(EXISTS \"\${folder}/smd.toml\")
    message(STATUS \"Kept: \${folder}/smd.toml\")
  else()
    file(INSTALL \"${PROJECT_SOURCE_DIR}/etc/smd.toml\" DESTINATION \"/etc/smd\")
  endif()
")
install(CODE "
  if(EXISTS \"\$ENV{DESTDIR}/etc/logrotate.d/smd\")
    message(STATUS \"Kept: \$ENV{DESTDIR}/etc/logrotate.d/smd\")
  else()
    file(INSTALL \"${PROJECT_SOURCE_DIR}/etc/smd.logrotate\" DESTINATION \"/etc/logrotate.d\" RENAME smd)
  endif()
")
