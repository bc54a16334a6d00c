# ./quickstart packages: .deb and .rpm of what install.cmake installs, in
# build/release/packages. Needs help2man, lowdown and dpkg-dev, and rpm for the second kind.
find_program(SMD_HELP2MAN help2man)
find_program(SMD_LOWDOWN lowdown)
find_program(SMD_RPMBUILD rpmbuild)

# Manual pages of programs are their --help, those of files are docs/formats.
set(manual ${PROJECT_BINARY_DIR}/man)
set(pages)
# The page of one program and its commands.
function(smd_program_page program section about component)
  set(page ${manual}/man${section}/${program}.${section})
  add_custom_command(OUTPUT ${page}
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/program_page ${SMD_HELP2MAN} $<TARGET_FILE:${program}>
            ${section} ${about} ${page}
    DEPENDS ${program} ${PROJECT_SOURCE_DIR}/cmake/program_page VERBATIM)
  set(pages ${pages} ${page} PARENT_SCOPE)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
          COMPONENT ${component} OPTIONAL)
endfunction()
# The page of one kind of file; of the configuration etc/smd.toml takes the place of the tables,
# which are wider than a terminal.
function(smd_format_page document name component)
  set(page ${manual}/man5/${name}.5)
  set(text ${PROJECT_SOURCE_DIR}/docs/${document}.md)
  set(options)
  if(document STREQUAL "formats/config")
    set(options ${PROJECT_SOURCE_DIR}/etc/smd.toml)
  endif()
  add_custom_command(OUTPUT ${page}
    COMMAND ${PROJECT_SOURCE_DIR}/cmake/format_page ${SMD_LOWDOWN} ${name} ${page} ${text} ${options}
    DEPENDS ${text} ${options} ${PROJECT_SOURCE_DIR}/cmake/format_page VERBATIM)
  set(pages ${pages} ${page} PARENT_SCOPE)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT ${component} OPTIONAL)
endfunction()
if(SMD_HELP2MAN AND SMD_LOWDOWN)
  file(MAKE_DIRECTORY ${manual}/man1 ${manual}/man5 ${manual}/man8)
  smd_program_page(smd 8 "InfiniBand subnet manager" smd)
  smd_program_page(smctl 1 "talks to a running smd" smd)
  smd_program_page(smsim 1 "simulated InfiniBand fabrics" smsim)
  smd_format_page(formats/config smd.toml smd)
  smd_format_page(formats/admin-socket smd-admin-socket smd)
  smd_format_page(formats/json smd-json smd)
  smd_format_page(formats/replica smd-replica smd)
  smd_format_page(formats/rest smd-rest smd)
  smd_format_page(formats/state smd-state smd)
  smd_format_page(formats/tables smd-tables smd)
  smd_format_page(formats/site-files smd-site-files smd)
  smd_format_page(partitions-and-qos smd-partitions smd)
  smd_format_page(formats/ibsim-socket smsim-socket smsim)
  smd_format_page(formats/net-file smsim-net smsim)
  smd_format_page(formats/scenario smsim-scenario smsim)
  smd_format_page(formats/trace smsim-trace smsim)
endif()
add_custom_target(manual_pages DEPENDS ${pages})

set(CPACK_PACKAGE_NAME smd)
set(CPACK_PACKAGE_VENDOR smd)
set(CPACK_PACKAGE_CONTACT "smd <root@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR ON)  # /etc is not below the prefix
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL smd smsim doc)
if(TARGET smd_opensm)
  list(APPEND CPACK_COMPONENTS_ALL opensm)
endif()
set(CPACK_COMPONENT_SMD_DESCRIPTION "Manages the subnet behind an adapter; every change of tables is proved
 free of deadlocks and loops before it is written. Not started by itself:
 systemctl enable --now smd.")
set(CPACK_COMPONENT_SMSIM_DESCRIPTION "Simulated InfiniBand fabrics: serves fabrics to subnet managers and tools, and measures packets in them.")
set(CPACK_COMPONENT_OPENSM_DESCRIPTION "Its routing engines in OpenSM 3.3.23, as a plugin; see smd_opensm(7).")
set(CPACK_COMPONENT_DOC_DESCRIPTION "What its operators, architects and contributors read.")

set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_version.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_deb.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SMD_PACKAGE_NAME smd)
set(CPACK_DEBIAN_SMSIM_PACKAGE_NAME smsim)
set(CPACK_DEBIAN_OPENSM_PACKAGE_NAME smd-opensm)
set(CPACK_DEBIAN_OPENSM_PACKAGE_DEPENDS "opensm (>= 3.3.23), opensm (<< 3.3.24)")
set(CPACK_DEBIAN_DOC_PACKAGE_NAME smd-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DOC_PACKAGE_SHLIBDEPS OFF)
set(scripts ${PROJECT_SOURCE_DIR}/etc/package)
set(CPACK_DEBIAN_SMD_PACKAGE_CONTROL_EXTRA
  ${scripts}/conffiles ${scripts}/postinst ${scripts}/prerm ${scripts}/postrm)
set(CPACK_DEBIAN_SMD_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "see the source")
set(CPACK_RPM_SMD_PACKAGE_NAME smd)
set(CPACK_RPM_SMSIM_PACKAGE_NAME smsim)
set(CPACK_RPM_OPENSM_PACKAGE_NAME smd-opensm)
set(CPACK_RPM_OPENSM_PACKAGE_REQUIRES "opensm >= 3.3.23, opensm < 3.3.24")
set(CPACK_RPM_DOC_PACKAGE_NAME smd-doc)
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_SMD_USER_FILELIST "%config(noreplace) /etc/smd/smd.toml"
  "%config(noreplace) /etc/default/smd" "%config(noreplace) /etc/logrotate.d/smd")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /etc /etc/default /etc/logrotate.d /usr/lib/systemd /usr/lib/systemd/system /usr/lib/systemd/system-generators /usr/share/man
  /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man7 /usr/share/man/man8
  /usr/share/bash-completion /usr/share/bash-completion/completions)
set(CPACK_RPM_SMD_POST_INSTALL_SCRIPT_FILE ${scripts}/rpm_post)
set(CPACK_RPM_SMD_PRE_UNINSTALL_SCRIPT_FILE ${scripts}/rpm_preun)
set(CPACK_RPM_SMD_POST_UNINSTALL_SCRIPT_FILE ${scripts}/rpm_postun)
include(CPack)

if(SMD_HELP2MAN AND SMD_LOWDOWN)
  set(kinds DEB)
  if(SMD_RPMBUILD)
    set(kinds "DEB;RPM")
  endif()
  add_custom_target(packages
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${CPACK_PACKAGE_DIRECTORY}
    COMMAND ${CMAKE_CPACK_COMMAND} -G "${kinds}" --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
    DEPENDS manual_pages smd smctl smsim $<$<TARGET_EXISTS:smd_opensm>:smd_opensm>
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
else()
  add_custom_target(packages
    COMMAND ${CMAKE_COMMAND} -E echo "packages: needs help2man and lowdown: apt-get install help2man lowdown, then cmake --preset release"
    COMMAND ${CMAKE_COMMAND} -E false)
endif()
