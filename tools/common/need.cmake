# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# need_package(NAME DEBIAN-PACKAGE): as find_package(), but says where it is to be had.
macro(need_package name debian)
	find_package(${name} QUIET)
	if(NOT ${name}_FOUND)
		message(FATAL_ERROR "${name} is missing. Debian's package of it is ${debian}.")
	endif()
endmacro()
