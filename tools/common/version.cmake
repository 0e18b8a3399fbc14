# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The version of everything here, to be included before project().
set(version_file ${CMAKE_CURRENT_LIST_DIR}/../../VERSION)
file(STRINGS ${version_file} SDP_RELEASE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${version_file})
