// SPDX-License-Identifier: GPL-2.0
/*
 * Sysfs attributes of a device: its design, what computes its checksums, and the costs and
 * work of its engine.
 */
#include <linux/sysfs.h>

#include "offload.h"

static const char * const iwp_designs[] = {
	[IWP_DESIGN_HOST] = "host",
	[IWP_DESIGN_ASSISTED] = "assisted",
	[IWP_DESIGN_OFFLOADED] = "offloaded",
	[IWP_DESIGN_OFFLOADED_SG] = "offloaded-sg",
};

/**
 * iwp_design_name() - get the name of a design
 * @design: the design
 *
 * Return: its name, as in the device's attribute.
 */
const char *iwp_design_name(enum iwp_design design)
{
	return iwp_designs[design];
}

static struct iwp_device *iwp_device_of(struct device *device)
{
	return rdma_device_to_drv_device(device, struct iwp_device, ibdev);
}

static ssize_t design_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  iwp_design_name(READ_ONCE(iwp_device_of(device)->design)));
}

/* Queue pairs keep the design they were created with. */
static ssize_t design_store(struct device *device,
			    struct device_attribute *attr, const char *buf,
			    size_t len)
{
	struct iwp_device *dev = iwp_device_of(device);
	int design = sysfs_match_string(iwp_designs, buf);

	if (design < 0)
		return design;
	if (!xa_empty(&dev->qps))
		return -EBUSY;
	WRITE_ONCE(dev->design, design);
	return len;
}
static DEVICE_ATTR_RW(design);

/* In the form of btrfs: the algorithm, and what computes it. */
static ssize_t checksum_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "crc32c (%s)\n", iwp_crc_code());
}
static DEVICE_ATTR_RO(checksum);

static ssize_t iwp_cost_store(u32 *cost, const char *buf, size_t len)
{
	u32 value;
	int err = kstrtou32(buf, 0, &value);

	if (err)
		return err;
	WRITE_ONCE(*cost, value);
	return len;
}

#define IWP_COST(name)							\
static u32 *engine_##name(struct device *device)			\
{									\
	return &iwp_device_of(device)->engine.name;			\
}									\
									\
static ssize_t engine_##name##_show(struct device *device,		\
				    struct device_attribute *attr,	\
				    char *buf)				\
{									\
	return sysfs_emit(buf, "%u\n",					\
			  READ_ONCE(*engine_##name(device)));		\
}									\
									\
static ssize_t engine_##name##_store(struct device *device,		\
				     struct device_attribute *attr,	\
				     const char *buf, size_t len)	\
{									\
	return iwp_cost_store(engine_##name(device), buf, len);		\
}									\
static DEVICE_ATTR_RW(engine_##name)

IWP_COST(dma_ns);
IWP_COST(byte_ps);
IWP_COST(move_ps);
IWP_COST(crc_ps);

static ssize_t engine_busy_ns_show(struct device *device,
				   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&iwp_device_of(device)->engine.busy_ns));
}
static DEVICE_ATTR_RO(engine_busy_ns);

static ssize_t engine_cpu_ns_show(struct device *device,
				  struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&iwp_device_of(device)->engine.cpu_ns));
}
static DEVICE_ATTR_RO(engine_cpu_ns);

static struct attribute *iwp_device_attrs[] = {
	&dev_attr_design.attr,
	&dev_attr_checksum.attr,
	&dev_attr_engine_dma_ns.attr,
	&dev_attr_engine_byte_ps.attr,
	&dev_attr_engine_move_ps.attr,
	&dev_attr_engine_crc_ps.attr,
	&dev_attr_engine_busy_ns.attr,
	&dev_attr_engine_cpu_ns.attr,
	NULL,
};

static const struct attribute_group iwp_device_group = {
	.attrs = iwp_device_attrs,
};

const struct ib_device_ops iwp_design_dev_ops = {
	.device_group = &iwp_device_group,
};
