# SPDX-License-Identifier: GPL-2.0
"""From what a node leaves to cells, tables and pictures."""

import json
import pathlib
import sys
import tempfile
import unittest

from figures import hybrid, plan, plot, results, table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import samples  # noqa: E402  pylint: disable=wrong-import-position


def _cell(made: results.Results, experiment: str, metric: str, transport: str, point: int) -> results.Cell:
    cell = made.cell(experiment, metric, transport, point)
    assert cell
    return cell


class Cells(unittest.TestCase):
    """Statistics, and how they are kept."""

    def test_median_and_spread(self) -> None:
        """The spread is from the least to the greatest."""
        cell = results.Cell((90.0, 100.0, 130.0))
        self.assertEqual(cell.median, 100)
        self.assertAlmostEqual(cell.spread, 0.4)

    def test_json_and_back(self) -> None:
        """Nothing is lost in the file."""
        made = samples.fill("latency", {"credit": 1}, jitter=0.1)
        made.notes["smc"] = "why"
        back = results.Results.from_json(made.to_json())
        self.assertEqual(back.to_json(), made.to_json())
        self.assertEqual(_cell(back, "latency", "one_way_us", "credit", 64).runs, (900, 1000, 1100))

    def test_medians_are_in_the_file(self) -> None:
        """Other programs need not compute them."""
        cells = json.loads(samples.fill("latency", {"credit": 2}).to_json())["cells"]
        self.assertEqual({cell["median"] for cell in cells}, {2000})

    def test_a_new_measurement_replaces_only_its_experiment(self) -> None:
        """One figure by itself does not lose the others."""
        kept = samples.fill("latency", {"credit": 1})
        samples.add(kept, "bandwidth", {"credit": 1, "nic": 1})
        kept.replace(samples.fill("bandwidth", {"credit": 3}))
        self.assertTrue(kept.has("latency"))
        self.assertEqual(_cell(kept, "bandwidth", "mbit_per_s", "credit", 64).median, 3000)
        self.assertIsNone(kept.cell("bandwidth", "mbit_per_s", "nic", 64))


class Collect(unittest.TestCase):
    """What a node leaves in its directory."""

    def setUp(self) -> None:
        self.jobs = plan.jobs([plan.EXPERIMENTS["latency"]], 1)[:4]
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def _leave(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text, encoding="ascii")

    def test_each_kind_of_outcome(self) -> None:
        """Measured, skipped, failed, and not done."""
        self._leave("00000.json", '[{"one_way_us": 5.5, "busy_us_per_message": 4}]')
        self._leave("00001.skipped", "no such mode\n")
        self._leave("00002.failed", "connection refused\n")
        made, failures = results.collect(self.directory, self.jobs, samples.METHOD)
        first = self.jobs[0]
        self.assertEqual(_cell(made, "latency", "one_way_us", first.transport, first.point).median, 5.5)
        self.assertEqual(
            _cell(made, "latency", "busy_us_per_message", first.transport, first.point).median, 4)
        self.assertEqual(made.notes, {self.jobs[1].transport: "no such mode"})
        self.assertEqual(len(failures), 2)
        self.assertIn("connection refused", failures[0])
        self.assertIn("ended before", failures[1])


    def test_utilisation_is_a_share_of_the_ring(self) -> None:
        """The node knows bytes only."""
        jobs = plan.jobs([plan.EXPERIMENTS["fill8"]], 1)[:1]
        self._leave("00000.json", '[{"unread_bytes": 16384}]')
        made, _ = results.collect(self.directory, jobs, samples.METHOD)
        cell = _cell(made, "fill8", "fill_percent", jobs[0].transport, jobs[0].point)
        self.assertEqual(cell.median, 25)


class Counters(unittest.TestCase):
    """From what a node has counted to copies, and to what an engine would take over."""

    COUNTED = {"BytesOut": 1000, "BytesIn": 1000, "IntegratedBytesOut": 0,
               "IntegratedBytesIn": 0, "tx_host_bytes": 1000,
               "rx_host_bytes": 1000, "engine_cpu_ns": 20000}

    def test_by_way_of_the_ring(self) -> None:
        """To the ring and on to TCP; to the receiver's buffer and on to the program."""
        self.assertEqual(hybrid.copies(self.COUNTED), {"tx_copies": 2, "rx_copies": 2})

    def test_integrated(self) -> None:
        """Ring and buffer are left out, for as many bytes as the provider has copied itself."""
        counted = self.COUNTED | {"IntegratedBytesOut": 750, "IntegratedBytesIn": 500}
        self.assertEqual(hybrid.copies(counted), {"tx_copies": 1.25, "rx_copies": 1.5})

    def test_an_engine_copies_for_nobody(self) -> None:
        """What stays is to the ring and from the receiver's buffer."""
        counted = self.COUNTED | {"tx_host_bytes": 0, "rx_host_bytes": 0}
        self.assertEqual(hybrid.copies(counted), {"tx_copies": 1, "rx_copies": 1})

    def test_without_bytes_there_is_no_figure(self) -> None:
        """As with TCP beside."""
        nothing = self.COUNTED | {"BytesOut": 0, "BytesIn": 0}
        self.assertEqual(hybrid.metrics({"one_way_us": 5}, nothing, 64), {})

    def test_what_is_left_without_the_engine(self) -> None:
        """Of latency, and of the time that a stream takes for a message."""
        for measured in ({"one_way_us": 8}, {"mbit_per_s": 100}):
            left = hybrid.without_engine(measured, self.COUNTED, 100)
            self.assertEqual(left, {"rest_us": 6})

    def test_they_are_read_from_what_the_node_leaves(self) -> None:
        """Beside the result of the job."""
        jobs = plan.jobs([plan.EXPERIMENTS["hbandwidth"]], 1)[:1]
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "00000.json").write_text('[{"mbit_per_s": 5}]', encoding="ascii")
            (directory / "00000.counters").write_text(
                "".join(f"{key} {value}\n" for key, value in self.COUNTED.items()), encoding="ascii")
            made, _ = results.collect(directory, jobs, samples.METHOD)
        cell = _cell(made, "hbandwidth", "tx_copies", jobs[0].transport, jobs[0].point)
        self.assertEqual(cell.median, 2)


class Output(unittest.TestCase):
    """Tables and pictures."""

    def setUp(self) -> None:
        self.made = samples.fill("bandwidth", {"credit": 1, "nic": 2.5}, jitter=0.01)

    def test_table(self) -> None:
        """Median, spread and ratio in every cell; transports without figures have no column."""
        text = table.render(self.made, [plan.FIGURES["4b"]])
        rows = [line for line in text.splitlines() if line.lstrip().startswith("64 B")]
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0].split(), ["64", "B", "1000", "2.0%", "2500", "2.0%", "2.50x"])
        self.assertNotIn("AF_SDP rdma", text)

    def test_the_method_is_under_the_table(self) -> None:
        """Nobody takes the figures for a speed."""
        for clock, words in (("instructions", "Instruction-counted"), ("wall", "Wall-clock")):
            made = samples.fill("bandwidth", {"credit": 1}, dict(samples.METHOD, clock=clock))
            text = " ".join(table.render(made, [plan.FIGURES["4b"]]).split())
            self.assertIn(words, text)
            self.assertIn("median of 3 interleaved runs", text)

    def test_a_figure_without_results_is_left_out(self) -> None:
        """No empty tables."""
        self.assertEqual(table.render(self.made, [plan.FIGURES["5"]]), "")
        self.assertIsNone(plot.script(self.made, plan.FIGURES["5"], "x.png"))

    def test_gnuplot_gets_least_and_greatest(self) -> None:
        """The spread is drawn, too."""
        script = plot.script(self.made, plan.FIGURES["4b"], "x.png") or ""
        self.assertIn("64 2500.0 2475.0 2525.0", script)
        self.assertIn("Instruction-counted", script)
        # An underscore in a name is no index.
        self.assertIn("noenhanced", script)
        self.assertNotIn("$rdma", script)

    def test_the_figure_is_drawn(self) -> None:
        """gnuplot takes the script."""
        with tempfile.TemporaryDirectory() as directory:
            png = plot.draw(self.made, plan.FIGURES["4b"], pathlib.Path(directory))
            assert png
            self.assertEqual(png.read_bytes()[:4], b"\x89PNG")

    def test_numbers(self) -> None:
        """As many digits as mean anything."""
        texts = [table.number(value) for value in (0.123, 12.345, 123.45, 12345.6)]
        self.assertEqual(texts, ["0.12", "12.35", "123.5", "12346"])
