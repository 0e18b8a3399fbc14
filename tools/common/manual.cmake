# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# install_manual(PAGE): the pages name files where they are with the default prefix.
function(install_manual page)
	set(source ${CMAKE_CURRENT_SOURCE_DIR}/../../Documentation/user/man/${page})
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
	file(READ ${source} text)
	string(REPLACE /usr/local/etc "${CMAKE_INSTALL_FULL_SYSCONFDIR}" text "${text}")
	string(REPLACE /usr/local/share/doc/libsdp "${CMAKE_INSTALL_FULL_DOCDIR}" text "${text}")
	file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${page} "${text}")
	string(REGEX MATCH "[0-9]$" section ${page})
	install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${page}
		DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endfunction()
