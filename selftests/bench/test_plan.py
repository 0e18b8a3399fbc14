# SPDX-License-Identifier: GPL-2.0
"""Which jobs a node gets, in which order."""

import unittest

from figures import BenchError, plan


class Jobs(unittest.TestCase):
    """From figures to jobs."""

    def test_runs_are_interleaved(self) -> None:
        """All cells are measured once before any is again."""
        experiments = plan.experiments([plan.FIGURES["4b"]], False)
        jobs = plan.jobs(experiments, 3)
        third = len(jobs) // 3
        cells = [(job.transport, job.point) for job in jobs]
        self.assertEqual(len(set(cells[:third])), third)
        self.assertEqual(cells[:third], cells[third:2 * third])
        self.assertEqual(cells[:third], cells[2 * third:])

    def test_transports_of_a_point_are_neighbours(self) -> None:
        """No other point is measured between the modes of one."""
        jobs = plan.jobs(plan.experiments([plan.FIGURES["4b"]], False), 1)
        self.assertEqual([job.transport for job in jobs[:3]], list(plan.MODES))
        self.assertEqual(len({job.point for job in jobs[:3]}), 1)

    def test_an_experiment_of_two_figures_is_done_once(self) -> None:
        """The figure of processor time needs no measurement of its own."""
        chosen = plan.figures(["peers", "cpu"])
        self.assertEqual([item.name for item in plan.experiments(chosen, False)], ["peers"])

    def test_wall_clock_repeats_the_papers_figures_only(self) -> None:
        """The others say nothing on a shared machine."""
        names = [item.name for item in plan.experiments(plan.figures([]), True)]
        self.assertEqual(names, ["bandwidth", "progress", "zoverlap64k"])

    def test_numbers_are_unique(self) -> None:
        """Each job's results have a file of their own."""
        jobs = plan.jobs(list(plan.EXPERIMENTS.values()), 2)
        self.assertEqual([job.number for job in jobs], list(range(len(jobs))))

    def test_an_unknown_figure_is_named(self) -> None:
        """A typing error does not measure everything."""
        with self.assertRaisesRegex(BenchError, "'7b'.*4a"):
            plan.figures(["7b"])

    def test_a_beginning_names_several_figures(self) -> None:
        """All of a paper, or of one of its figures; each once, and none beside them."""
        names = [figure.name for figure in plan.figures(["z6", "z6a", "4b"])]
        self.assertEqual(names, ["z6a", "z6b", "z6c", "4b"])

    def test_every_transport_is_known(self) -> None:
        """Those of each figure are measured, and have a name and a colour."""
        for figure in plan.FIGURES.values():
            measured = plan.EXPERIMENTS[figure.experiment].transports
            for name in (*figure.transports, *filter(None, [figure.yardstick])):
                self.assertIn(name, measured)
                self.assertTrue(plan.TRANSPORTS[name].label)


class Commands(unittest.TestCase):
    """What a node is told."""

    def test_computation_is_the_point(self) -> None:
        """The message of Figure 5 is the same everywhere."""
        command = plan.EXPERIMENTS["progress"].command("nic", 1500)
        self.assertEqual(
            command, "sdp 0 ring_size=65536,num_buffers=8,buffer_size=8192,flow_control=nic "
            f"progress 4096 {plan.EXCHANGES} --compute 1500")

    def test_samples_are_out_of_step_with_messages(self) -> None:
        """Small messages are in bursts, so that as many bytes lie between pauses."""
        command = plan.EXPERIMENTS["profile"].command("bsdp", 65536)
        self.assertTrue(command.endswith("--burst 16 --compute 100 --uneven"), command)

    def test_a_peer_has_no_settings(self) -> None:
        """They are AF_SDP's."""
        command = plan.EXPERIMENTS["peers"].command("verbs", 65536)
        self.assertEqual(command, "verbs 0 - bw 65536 256")

    def test_a_mode_is_how_the_module_is_set(self) -> None:
        """Nothing else tells them apart."""
        words = plan.EXPERIMENTS["zbandwidth"].command("azoffer", 65536).split()
        self.assertEqual(words[:2], ["sdp", str(plan.WIRE)])
        for setting in ("zcopy=async", "zcopy_threshold=4096", "zcopy_direct=0"):
            self.assertIn(setting, words[2].split(","))

    def test_the_default_form_chooses(self) -> None:
        """Users set the mode and nothing else."""
        settings = plan.EXPERIMENTS["zbandwidth"].command("azsdp", 65536).split()[2]
        self.assertIn("zcopy=async", settings.split(","))
        for setting in ("zcopy_threshold", "zcopy_direct"):
            self.assertNotIn(setting, settings)

    def test_a_guard_is_measured_by_the_size_of_pages(self) -> None:
        """Without a wire and settings, because no socket is in it."""
        experiment = plan.EXPERIMENTS["guard"]
        self.assertEqual(experiment.command("guard_copy", 4096), "guard_copy 0 - guard 4096 5")
        self.assertEqual(experiment.command("guard_off", 2 << 20),
                         "guard_off 0 - guard 2097152 5 --huge")

    def test_the_wire_may_be_the_point(self) -> None:
        """Then messages have one size."""
        words = plan.EXPERIMENTS["zdelay"].command("zsdp", 25).split()
        self.assertEqual((words[1], words[4]), ("25", "65536"))

    def test_a_window_may_be_the_point(self) -> None:
        """The memory is overwritten behind so many messages, and the paper's sockets never learn."""
        words = plan.EXPERIMENTS["ztouch64k"].command("azblock", 4).split()
        self.assertEqual(words[3:], ["touch", "65536", "256", "--burst", "4"])
        for setting in ("zcopy_fault=block", "zcopy_fault_limit=100"):
            self.assertIn(setting, words[2].split(","))

    def test_a_program_that_overwrites_is_not_helped(self) -> None:
        """The bar is for what users get."""
        self.assertNotIn("zcopy_fault_limit", plan.EXPERIMENTS["ztouch"].command("azsdp", 65536))

    def test_connections(self) -> None:
        """They are the point, or the same at each."""
        words = plan.EXPERIMENTS["zstreams"].command("zsdp", 4).split()
        self.assertEqual((words[4], words[6:]), ("65536", ["--connections", "4"]))
        words = plan.EXPERIMENTS["zhot"].command("zsdp", 65536).split()
        self.assertEqual(words[3:], ["hotspot", "65536", str(plan.HOT_TRIPS), "--connections", "6"])

    def test_a_reader_is_slow_at_every_size(self) -> None:
        """Else it, and not flow control, would decide how full the buffers are."""
        for size in plan.FILL_SIZES:
            words = plan.EXPERIMENTS["fill32"].command("nic", size).split()
            self.assertGreaterEqual(int(words[7]), 50)
            self.assertLessEqual(size * 8 / int(words[7]), 500)
            self.assertGreaterEqual(int(words[5]) * size, 2 * plan.EXPERIMENTS["fill32"].ring)

    def test_small_messages_are_many(self) -> None:
        """A pass has a steady state, and an end."""
        self.assertEqual(plan.messages(1), plan.messages(64))
        self.assertGreater(plan.messages(64), plan.messages(1 << 16))
        self.assertGreaterEqual(plan.messages(1 << 20), 16)

    def test_sizes_read_well(self) -> None:
        """As people write them."""
        names = [plan.human(size) for size in (1, 512, 1024, 1536, 65536, 1 << 20)]
        self.assertEqual(names, ["1 B", "512 B", "1 KiB", "1536 B", "64 KiB", "1 MiB"])


class Iwarp(unittest.TestCase):
    """Figures that need a node with other devices."""

    def test_settings_of_all_and_of_a_design(self) -> None:
        """Per packet and with all that the standard has, and who does it."""
        words = plan.EXPERIMENTS["ibandwidth"].command("offloaded_sg", 65536).split()
        self.assertEqual(words[:4], ["iwarp", "gso=1,markers=1,crc=1,design=offloaded-sg", "bw",
                                     "65536"])
        self.assertEqual(plan.EXPERIMENTS["siwlatency"].command("siw", 64).split()[:3],
                         ["siw", "-", "lat"])

    def test_no_distance_is_no_markers(self) -> None:
        """The module would refuse a distance of 0."""
        experiment = plan.EXPERIMENTS["imarkers"]
        self.assertIn("markers=0", experiment.command("host", 0))
        self.assertIn("marker_interval=2048", experiment.command("host", 2048))

    def test_the_application_has_as_much_data_in_large_units(self) -> None:
        """Else its times could not be compared."""
        for point in plan.EXPERIMENTS["iso"].points:
            words = plan.EXPERIMENTS["iso"].command("host", point).split()
            self.assertEqual(int(words[3]) * int(words[4]), 8 * plan.MIB)

    def test_each_bed_has_its_jobs(self) -> None:
        """A node does not get what it has no devices for."""
        jobs = plan.jobs([plan.EXPERIMENTS["latency"], plan.EXPERIMENTS["ilatency"]], 1)
        beds = [plan.on_bed(jobs, bed) for bed in ("rxe", "iwarp")]
        self.assertEqual(sum(beds, []), jobs)
        self.assertTrue(all(beds))


class Hybrid(unittest.TestCase):
    """Figures of AF_SDP over iWARP devices that do more or less themselves."""

    def test_stacks_differ_in_iwarp_alone(self) -> None:
        """A program gets AF_SDP as it is by default, over the wire."""
        command = plan.EXPERIMENTS["hlatency"].command("qperf_assisted_ring", 64)
        self.assertEqual(command, "qperf_sdp 0 iwarp.design=assisted,iwarp.local=0,"
                         "iwarp.send_iter=0,iwarp.recv_iter=0,iwarp.markers=1,"
                         "iwarp.crc=1 lat 64 1")
        self.assertEqual(plan.EXPERIMENTS["hlatency"].command("qperf_tcp", 64),
                         "qperf_tcp 0 - lat 64 1")

    def test_forms_differ_in_who_copies_alone(self) -> None:
        """Else the ratio would be that of two stacks."""
        for experiment in ("hlatency", "hbandwidth"):
            ring, integrated = (plan.EXPERIMENTS[experiment].command(f"qperf_host_{form}", 4096)
                                for form in ("ring", "integrated"))
            self.assertEqual(ring.replace("_iter=0", "_iter=1"), integrated)

    def test_streams_are_the_point(self) -> None:
        """Each is a connection with threads of its own."""
        words = plan.EXPERIMENTS["hstreams"].command("plain_ring", 8).split()
        self.assertEqual((words[0], words[4], words[6:]), ("sdp", "65536", ["--connections", "8"]))
        self.assertIn("iwarp.markers=0", words[2].split(","))
