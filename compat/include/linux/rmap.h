/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SDP_COMPAT_LINUX_RMAP_H
#define _SDP_COMPAT_LINUX_RMAP_H

#include_next <linux/rmap.h>

#include <linux/rwsem.h>
#include <linux/slab.h>

/* Older kernels have one function for both, which takes a page. */
#ifndef SDP_HAVE_FOLIO_SHARE_ANON
#define folio_try_share_anon_rmap_pte(folio, page)	\
	((void)(folio), page_try_share_anon_rmap(page))
#define folio_try_share_anon_rmap_pmd(folio, page)	\
	((void)(folio), page_try_share_anon_rmap(page))
#endif

/* Its name before Linux 6.17. */
#ifndef FOLIO_MAPPING_ANON
#define FOLIO_MAPPING_ANON	PAGE_MAPPING_ANON
#endif

/*
 * Whoever drops the last reference has to free it, but no kernel lets modules call
 * __put_anon_vma(), and newer ones declare none of this to them. As it, this waits for
 * those that have found it by a mapped page and have its lock without a reference; and
 * kfree() takes what is of any cache.
 */
static inline void sdp_compat_free_anon_vma(struct anon_vma *anon_vma)
{
	might_sleep();
	if (rwsem_is_locked(&anon_vma->root->rwsem)) {
		down_write(&anon_vma->root->rwsem);
		up_write(&anon_vma->root->rwsem);
	}
	kfree(anon_vma);
}

static inline void sdp_compat_put_anon_vma(struct anon_vma *anon_vma)
{
	struct anon_vma *root = anon_vma->root;

	if (!atomic_dec_and_test(&anon_vma->refcount))
		return;
	sdp_compat_free_anon_vma(anon_vma);
	if (root != anon_vma && atomic_dec_and_test(&root->refcount))
		sdp_compat_free_anon_vma(root);
}

#define get_anon_vma(anon_vma)	atomic_inc(&(anon_vma)->refcount)
#define put_anon_vma(anon_vma)	sdp_compat_put_anon_vma(anon_vma)

#endif /* _SDP_COMPAT_LINUX_RMAP_H */
