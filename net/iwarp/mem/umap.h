/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contexts of processes, and queues that they share with the kernel.
 */
#ifndef _IWP_UMAP_H
#define _IWP_UMAP_H

#include <rdma/ib_verbs.h>

struct iwp_queue;

struct iwp_ucontext {
	struct ib_ucontext ibctx;
};

int iwp_queue_alloc(struct iwp_queue *queue, size_t bytes,
		    struct ib_udata *udata, u64 *key);
void iwp_queue_free(struct iwp_queue *queue);

int iwp_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void iwp_dealloc_ucontext(struct ib_ucontext *ibctx);
int iwp_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void iwp_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* _IWP_UMAP_H */
