# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# How programs and libraries are compiled.  Each directory includes this, since
# most can be built by themselves.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE)
	set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
option(SDP_WERROR "take warnings for errors" ON)
add_compile_options(-Wall -Wextra $<$<BOOL:${SDP_WERROR}>:-Werror>)
