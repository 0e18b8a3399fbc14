// SPDX-License-Identifier: GPL-2.0
/*
 * Times what sdp.ko does to memory that it sends: copies it, or protects it and
 * lets it go.  The guards are the very same source, compiled once more, so that
 * nothing else of a transfer is in the figures.
 */
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "guard/flush.c"
#include "guard/users.c"
#include "guard/unshare.c"
#include "guard/cow.c"
#include "guard/notifier.c"
#include "guard/block.c"

#include "guardcost.h"

/**
 * struct guardcost_file - what an open file is about
 * @copies: where memory is copied to, as the send ring's is
 * @ops: what protects the pages; NULL if they are not protected
 * @guard: what it needs for that
 * @pages: the pages
 */
struct guardcost_file {
	struct page *copies[GUARDCOST_PAGES];
	const struct sdp_guard_ops *ops;
	struct sdp_guard *guard;
	struct page *pages[GUARDCOST_PAGES];
};

static int guardcost_copy(struct guardcost_file *file, struct guardcost *step)
{
	void __user *addr = (void __user *)step->addr;
	int i;

	for (i = 0; i < GUARDCOST_PAGES; i++, addr += PAGE_SIZE)
		if (copy_from_user(page_address(file->copies[i]), addr,
				   PAGE_SIZE))
			return -EFAULT;
	return 0;
}

static const struct sdp_guard_ops *guardcost_find(const char *name)
{
	if (!strncmp(name, sdp_guard_cow.name, GUARDCOST_NAME_MAX))
		return &sdp_guard_cow;
	if (!strncmp(name, sdp_guard_block.name, GUARDCOST_NAME_MAX))
		return &sdp_guard_block;
	return NULL;
}

static int guardcost_protect(struct guardcost_file *file,
			     struct guardcost *step)
{
	const struct sdp_guard_ops *ops = guardcost_find(step->guard);
	u32 changed;

	if (!ops || file->ops)
		return -EINVAL;
	file->guard = ops->protect(step->addr, GUARDCOST_PAGES, file->pages, &changed);
	if (IS_ERR(file->guard))
		return PTR_ERR(file->guard);
	file->ops = ops;
	return 0;
}

static int guardcost_release(struct guardcost_file *file,
			     struct guardcost *step)
{
	if (!file->ops)
		return -EINVAL;
	file->ops->release(file->guard, file->pages, GUARDCOST_PAGES);
	file->ops = NULL;
	return 0;
}

static int guardcost_give(struct guardcost_file *file, struct guardcost *step)
{
	sdp_guard_unshare(step->addr, GUARDCOST_PAGES * PAGE_SIZE);
	return 0;
}

static long guardcost_ioctl(struct file *filp, unsigned int cmd,
			    unsigned long arg)
{
	struct guardcost __user *user = (struct guardcost __user *)arg;
	int (*action)(struct guardcost_file *file, struct guardcost *step);
	struct guardcost step;
	u64 begun;
	int err;

	switch (cmd) {
	case GUARDCOST_COPY:
		action = guardcost_copy;
		break;
	case GUARDCOST_PROTECT:
		action = guardcost_protect;
		break;
	case GUARDCOST_RELEASE:
		action = guardcost_release;
		break;
	case GUARDCOST_GIVE:
		action = guardcost_give;
		break;
	default:
		return -ENOTTY;
	}
	if (copy_from_user(&step, user, sizeof(step)))
		return -EFAULT;
	begun = ktime_get_ns();
	err = action(filp->private_data, &step);
	step.ns = ktime_get_ns() - begun;
	if (!err && copy_to_user(user, &step, sizeof(step)))
		err = -EFAULT;
	return err;
}

static void guardcost_free(struct guardcost_file *file)
{
	int i;

	for (i = 0; i < GUARDCOST_PAGES; i++)
		if (file->copies[i])
			__free_page(file->copies[i]);
	kvfree(file);
}

static int guardcost_open(struct inode *inode, struct file *filp)
{
	struct guardcost_file *file = kvzalloc(sizeof(*file), GFP_KERNEL);
	int i;

	if (!file)
		return -ENOMEM;
	for (i = 0; i < GUARDCOST_PAGES; i++) {
		file->copies[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!file->copies[i]) {
			guardcost_free(file);
			return -ENOMEM;
		}
	}
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

static int guardcost_close(struct inode *inode, struct file *filp)
{
	struct guardcost_file *file = filp->private_data;

	if (file->ops)
		guardcost_release(file, NULL);
	guardcost_free(file);
	return 0;
}

static const struct file_operations guardcost_fops = {
	.owner = THIS_MODULE,
	.open = guardcost_open,
	.release = guardcost_close,
	.unlocked_ioctl = guardcost_ioctl,
};

/* The program has one thread: steps do not meet. */
static struct miscdevice guardcost_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "guardcost",
	.fops = &guardcost_fops,
	.mode = 0600,
};

static int __init guardcost_init(void)
{
	return misc_register(&guardcost_device);
}
module_init(guardcost_init);

static void __exit guardcost_exit(void)
{
	misc_deregister(&guardcost_device);
	sdp_notifier_exit_module();
}
module_exit(guardcost_exit);

MODULE_DESCRIPTION("Times the page protection of SDP");
MODULE_LICENSE("GPL");
