// SPDX-License-Identifier: GPL-2.0
/*
 * For the shell tests: connects sockets of one address with each other and stands
 * still in a call on each, with memory that never comes, until it is killed.
 *
 *	sdp_freeze ADDRESS COUNT READY-FILE
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "sdp_owners.h"

int main(int argc, char **argv)
{
	struct owners all;

	if (argc != 4) {
		fprintf(stderr, "usage: %s ADDRESS COUNT READY-FILE\n",
			argv[0]);
		return KTAP_EXIT_FAIL;
	}
	sdp_opts_from_env();
	opts.server[0] = argv[1];
	opts.client[0] = argv[1];
	opts.deadline = 60 * opts.scale;
	all = owners_open(atoi(argv[2]));
	owners_freeze(&all);
	CHECK_OK(close(CHECK_OK(creat(argv[3], 0600))));
	while (1)
		pause();
}
