// SPDX-License-Identifier: GPL-2.0
/*
 * What is spliced from a file without pages of its own is read into new ones, since
 * commit 69df79a45111 (Linux 6.5).
 */
#include <linux/fs.h>
#include <linux/module.h>

ssize_t probe(struct file *in, struct pipe_inode_info *pipe);

ssize_t probe(struct file *in, struct pipe_inode_info *pipe)
{
	return copy_splice_read(in, &in->f_pos, pipe, 1, 0);
}
MODULE_LICENSE("GPL");
