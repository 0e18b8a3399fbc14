/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_UNIT_LINUX_MINMAX_H
#define _SDP_UNIT_LINUX_MINMAX_H

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define min(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ < b_ ? a_ : b_;                                                                 \
	})
#define max(a, b)                                                                                  \
	({                                                                                         \
		__typeof__(a) a_ = (a);                                                            \
		__typeof__(b) b_ = (b);                                                            \
		a_ > b_ ? a_ : b_;                                                                 \
	})
#define min_t(type, a, b) min((type)(a), (type)(b))
/* NOLINTEND(bugprone-macro-parentheses) */

#endif /* _SDP_UNIT_LINUX_MINMAX_H */
