// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Linked statically: a program that the dynamic loader has no part in.
 */
int main(void)
{
	return 42;
}
