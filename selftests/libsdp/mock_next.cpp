// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * @file
 * To be preloaded behind libsdp.so: no object has a function that it looks for.
 */
extern "C" [[gnu::visibility("default")]] void *dlsym(void *, const char *) noexcept
{
	return nullptr;
}
