# cmake --install build/release --prefix /usr: what a head node needs. An edited configuration is
# never overwritten.
include(GNUInstallDirs)
install(TARGETS smd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
install(TARGETS smctl smsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_SOURCE_DIR}/systemd/smd.service DESTINATION lib/systemd/system)
install(CODE "
  set(folder \"\$ENV{DESTDIR}/etc/smd\")
  if(EXISTS \"\${folder}/smd.toml\")
    message(STATUS \"Kept: \${folder}/smd.toml\")
  else()
    file(INSTALL \"${PROJECT_SOURCE_DIR}/etc/smd.toml\" DESTINATION \"/etc/smd\")
  endif()
")
