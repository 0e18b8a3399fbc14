// SPDX-License-Identifier: GPL-2.0
/* Memory regions: allocation, registration and release. */
#include <linux/error-injection.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include <rdma/siw-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "core/core.h"
#include "mem.h"

/* The region is not valid, has no memory, and is not found by lookups. */
static struct iwp_mr *iwp_mr_new(u32 max_pages)
{
	struct iwp_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->pages = kvcalloc(max_pages, sizeof(*mr->pages),
			     GFP_KERNEL_ACCOUNT);
	if (!mr->pages) {
		kfree(mr);
		return NULL;
	}
	mr->max_pages = max_pages;
	mr->page_shift = PAGE_SHIFT;
	rwlock_init(&mr->lock);
	return mr;
}

/* Who has found it before it was unpublished finds it not valid. */
static void iwp_mr_free(struct iwp_mr *mr)
{
	WARN_ON_ONCE(mr->valid);
	ib_umem_release(mr->umem);
	kvfree(mr->pages);
	kfree_rcu(mr, rcu);
}

/*
 * Sets the region's STag, by which lookups find it from now on, valid unless it is for
 * fast registration. One STag must not reveal another, so the search for a free index
 * starts at a random place.
 */
static int iwp_mr_publish(struct iwp_mr *mr, struct ib_pd *pd, u8 key)
{
	struct iwp_device *dev = iwp_device(pd->device);
	u32 from = get_random_u32() & IWP_MAX_QPN;
	u32 index;
	int err;

	mr->ibmr.pd = pd;
	mr->ibmr.device = pd->device;
	mr->generation = iwp_next_generation(pd->device);
	err = xa_alloc_cyclic(&dev->mrs, &index, NULL,
			      XA_LIMIT(1, IWP_MAX_QPN), &from,
			      GFP_KERNEL_ACCOUNT);
	if (err < 0)
		return err;
	mr->stag = index << 8 | key;
	mr->ibmr.lkey = mr->stag;
	mr->ibmr.rkey = mr->stag;
	mr->valid = mr->ibmr.type != IB_MR_TYPE_MEM_REG;
	return xa_err(xa_store(&dev->mrs, index, mr, GFP_KERNEL_ACCOUNT));
}

/* All of the kernel's memory. */
static struct ib_mr *iwp_get_dma_mr(struct ib_pd *pd, int access)
{
	struct iwp_mr *mr = iwp_mr_new(1);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->dma = true;
	mr->access = access | IB_ACCESS_LOCAL_WRITE;
	mr->ibmr.type = IB_MR_TYPE_DMA;
	err = iwp_mr_publish(mr, pd, get_random_u8());
	if (err) {
		iwp_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

/* A region for fast registration. */
static struct ib_mr *iwp_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
				  u32 max_pages)
{
	struct iwp_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > IWP_MAX_FAST_REG)
		return ERR_PTR(-EINVAL);
	mr = iwp_mr_new(max_pages);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->ibmr.type = type;
	err = iwp_mr_publish(mr, pd, get_random_u8());
	if (err) {
		iwp_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}
ALLOW_ERROR_INJECTION(iwp_alloc_mr, ERRNO);

static int iwp_set_page(struct ib_mr *ibmr, u64 addr)
{
	struct iwp_mr *mr = iwp_mr(ibmr);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	mr->pages[mr->npages++] = addr;
	return 0;
}

/* Sets the memory of a region that is not valid. DMA addresses are the kernel's own. */
static int iwp_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
			 unsigned int *offset)
{
	struct iwp_mr *mr = iwp_mr(ibmr);

	if (READ_ONCE(mr->valid))
		return -EBUSY;
	mr->npages = 0;
	mr->page_shift = ilog2(ibmr->page_size);
	return ib_sg_to_pages(ibmr, sg, nents, offset, iwp_set_page);
}
ALLOW_ERROR_INJECTION(iwp_map_mr_sg, ERRNO);

static int iwp_user_mr_copy_uresp(struct iwp_mr *mr, struct ib_udata *udata)
{
	struct siw_uresp_reg_mr uresp = { .stag = mr->stag };

	if (!udata)
		return 0;
	if (udata->outlen < sizeof(uresp))
		return -EINVAL;
	return ib_copy_to_udata(udata, &uresp, sizeof(uresp));
}

static int iwp_user_mr_key(struct ib_udata *udata, u8 *key)
{
	struct siw_ureq_reg_mr request;
	int err;

	*key = 0;
	if (!udata)
		return 0;
	if (udata->inlen < sizeof(request))
		return -EINVAL;
	err = ib_copy_from_udata(&request, udata, sizeof(request));
	if (!err)
		*key = request.stag_key;
	return err;
}

static struct iwp_mr *iwp_user_mr_new(struct ib_umem *umem)
{
	struct ib_block_iter block;
	struct iwp_mr *mr;

	mr = iwp_mr_new(ib_umem_num_pages(umem));
	if (!mr)
		return NULL;
	rdma_umem_for_each_dma_block(umem, &block, PAGE_SIZE)
		mr->pages[mr->npages++] = rdma_block_iter_dma_address(&block);
	mr->umem = umem;
	mr->ibmr.type = IB_MR_TYPE_USER;
	return mr;
}

static void iwp_mr_unpublish(struct iwp_mr *mr)
{
	xa_erase(&iwp_device(mr->ibmr.device)->mrs, mr->stag >> 8);
	write_lock_bh(&mr->lock);
	iwp_mr_end(mr);
	write_unlock_bh(&mr->lock);
}

static int iwp_user_mr_publish(struct iwp_mr *mr, struct ib_pd *pd,
			       struct ib_udata *udata)
{
	u8 key;
	int err;

	err = iwp_user_mr_key(udata, &key);
	if (!err)
		err = iwp_mr_publish(mr, pd, key);
	if (err)
		return err;
	err = iwp_user_mr_copy_uresp(mr, udata);
	if (err)
		iwp_mr_unpublish(mr);
	return err;
}

/* User memory. The region is valid at once. */
static struct ib_mr *iwp_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				     u64 iova, int access,
				     struct ib_dmah *dmah,
				     struct ib_udata *udata)
{
	struct ib_umem *umem;
	struct iwp_mr *mr;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	if (!length)
		return ERR_PTR(-EINVAL);
	umem = ib_umem_get_va(pd->device, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = iwp_user_mr_new(umem);
	if (!mr) {
		ib_umem_release(umem);
		return ERR_PTR(-ENOMEM);
	}
	mr->iova = iova;
	mr->length = length;
	mr->access = access;
	err = iwp_user_mr_publish(mr, pd, udata);
	if (err) {
		iwp_mr_free(mr);
		return ERR_PTR(err);
	}
	return &mr->ibmr;
}

DEFINE_REG_USER_MR(iwp_reg_user_mr);

/* The memory is not accessed after the return. */
static int iwp_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct iwp_mr *mr = iwp_mr(ibmr);

	iwp_mr_unpublish(mr);
	iwp_mr_free(mr);
	return 0;
}

const struct ib_device_ops iwp_mr_dev_ops = {
	.alloc_mr = iwp_alloc_mr,
	.dereg_mr = iwp_dereg_mr,
	.get_dma_mr = iwp_get_dma_mr,
	.map_mr_sg = iwp_map_mr_sg,
	.reg_user_mr = REG_USER_MR(iwp_reg_user_mr),
};
