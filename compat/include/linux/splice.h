/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_SPLICE_H
#define _SDP_COMPAT_LINUX_SPLICE_H

#include_next <linux/splice.h>
#include <linux/fs.h>

/* What older kernels do for files that say nothing of splice(). */
#ifndef SDP_HAVE_COPY_SPLICE_READ
#define copy_splice_read generic_file_splice_read
#endif

#endif /* _SDP_COMPAT_LINUX_SPLICE_H */
