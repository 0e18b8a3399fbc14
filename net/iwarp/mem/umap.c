// SPDX-License-Identifier: GPL-2.0
/*
 * User contexts, and queues that user space maps.
 *
 * The layout of the queues is siw's, so that its user-space library supports our
 * devices. Contents of shared memory are not trusted: they are copied once, and then
 * checked.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/siw-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "core/core.h"
#include "mem.h"

struct iwp_ucontext {
	struct ib_ucontext ibctx;
};

/**
 * struct iwp_umap - mmap entry of a queue
 * @entry: the RDMA core's part; each mapping in progress has a reference
 * @mem: memory, freed with the last reference
 */
struct iwp_umap {
	struct rdma_user_mmap_entry entry;
	void *mem;
};

static struct rdma_user_mmap_entry *iwp_umap_new(struct ib_ucontext *ctx,
						 const struct iwp_queue *queue)
{
	struct iwp_umap *map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);

	if (!map)
		return NULL;
	map->mem = queue->mem;
	if (rdma_user_mmap_entry_insert(ctx, &map->entry, queue->bytes)) {
		kfree(map);
		return NULL;
	}
	return &map->entry;
}

/**
 * iwp_queue_alloc() - allocate a queue, charged to the calling process
 * @queue: filled in
 * @bytes: size; rounded up to pages
 * @udata: user context, or NULL for a kernel consumer
 * @key: set to the mmap offset if there is a user context
 *
 * Return: 0 or -ENOMEM, with nothing to free.
 */
int iwp_queue_alloc(struct iwp_queue *queue, size_t bytes,
		    struct ib_udata *udata, u64 *key)
{
	struct iwp_ucontext *ctx;

	queue->bytes = PAGE_ALIGN(bytes);
	queue->entry = NULL;
	/* How much it is, is for a process to say. */
	queue->mem = __vmalloc(queue->bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!queue->mem)
		return -ENOMEM;
	if (!udata)
		return 0;
	ctx = rdma_udata_to_drv_context(udata, struct iwp_ucontext, ibctx);
	queue->entry = iwp_umap_new(&ctx->ibctx, queue);
	if (!queue->entry) {
		iwp_queue_free(queue);
		return -ENOMEM;
	}
	*key = rdma_user_mmap_get_offset(queue->entry);
	return 0;
}

/**
 * iwp_queue_free() - release a queue
 * @queue: no effect if it has no memory
 *
 * Another thread may be in iwp_mmap(): then iwp_mmap_free() frees the memory. Pages
 * that are mapped stay with the process until they are unmapped.
 *
 * Context: may sleep.
 */
void iwp_queue_free(struct iwp_queue *queue)
{
	if (queue->entry)
		rdma_user_mmap_entry_remove(queue->entry);
	else
		vfree(queue->mem);
	queue->entry = NULL;
	queue->mem = NULL;
}

/* Returns the device's number to user space. */
static int iwp_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct siw_uresp_alloc_ctx uresp = {
		.dev_id = iwp_device(ibctx->device)->id,
	};

	if (udata->outlen < sizeof(uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &uresp, sizeof(uresp));
}

static void iwp_dealloc_ucontext(struct ib_ucontext *ibctx)
{
}

/* Memory charged with __GFP_ACCOUNT lacks the VM_USERMAP of remap_vmalloc_range(). */
static int iwp_umap_insert(struct vm_area_struct *vma, void *mem)
{
	unsigned long at;
	int err;

	for (at = vma->vm_start; at < vma->vm_end; at += PAGE_SIZE) {
		err = vm_insert_page(vma, at, vmalloc_to_page(mem));
		if (err)
			return err;
		mem += PAGE_SIZE;
	}
	return 0;
}

/* User space maps a whole queue. */
static int iwp_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	struct iwp_umap *map;
	int err;

	entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (!entry)
		return -EINVAL;
	map = container_of(entry, struct iwp_umap, entry);
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	err = iwp_umap_insert(vma, map->mem);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/* The last reference to the entry is gone. May sleep. */
static void iwp_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct iwp_umap *map = container_of(entry, struct iwp_umap, entry);

	vfree(map->mem);
	kfree(map);
}

const struct ib_device_ops iwp_umap_dev_ops = {
	.alloc_ucontext = iwp_alloc_ucontext,
	.dealloc_ucontext = iwp_dealloc_ucontext,
	.mmap = iwp_mmap,
	.mmap_free = iwp_mmap_free,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, iwp_ucontext, ibctx),
};
