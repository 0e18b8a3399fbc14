# SPDX-License-Identifier: GPL-2.0
"""What the modes are expected to reach, as ratios within one boot, and whether they do."""

from dataclasses import dataclass
from itertools import combinations

from . import foreign, iwarp, plan, samehost, table
from .plan import KIB, MIB, MODES

# Runs that differ by less than this are equal.
EQUAL = 0.02


@dataclass(frozen=True)
class Rule:
    """
    The ratio of two transports' figures, held against a limit at some points;
    the figure itself where there is nothing to compare it with.
    """

    figure: str
    text: str
    experiment: str
    pairs: tuple  # (the one judged, the one it is compared with, or None)
    limit: float
    at_least: bool = True  # else at most
    somewhere: bool = False  # else at every point
    either_way: bool = False  # the larger to the smaller of a pair
    least: int = 0
    most: int = 1 << 62  # point
    kernel: str = ""  # the only one it is for
    metric: str = ""  # if it is not the experiment's own

    def points(self):
        """The experiment's points for which the rule is."""
        return [point for point in plan.EXPERIMENTS[self.experiment].points
                if self.least <= point <= self.most]


@dataclass(frozen=True)
class Finding:
    """A rule's outcome: None for the ratio if nothing was measured."""

    rule: Rule
    ratio: float | None
    where: str
    missing: tuple  # transports

    @property
    def met(self):
        """Whether the ratio is within the limit."""
        if self.rule.at_least:
            return self.ratio >= self.rule.limit
        return self.ratio <= self.rule.limit


def _against(subjects, others):
    return tuple((subject, other) for subject in subjects for other in others)


def _at_most(figure, text, experiment, pairs, limit, **more):
    return Rule(figure, text, experiment, pairs, limit, at_least=False, **more)


_HERE = ((samehost.COPY, samehost.LOOPBACK),)
_HERE_ZERO = _against(samehost.ZERO_COPY, [samehost.LOOPBACK])
RULES = (
    _at_most("4a", "modes within 5 % of each other", "latency", tuple(combinations(MODES, 2)), 1.05,
             either_way=True),
    _at_most("4a", "auto within 5 % of the best mode", "latency", _against(["auto"], MODES), 1.05),
    _at_most("4a", "every mode at most 1.1 x ibv_rc_pingpong -e", "latency",
             _against(MODES, ["verbs"]), 1.1),
    _at_most("4a", "every mode ahead of rsockets", "latency", _against(MODES, ["rsockets"]), 1.0),
    _at_most("4a", "every mode ahead of SMC-R", "latency", _against(MODES, ["smc"]), 1.0,
             kernel="6.12"),
    Rule("4b", "rdma 10 x credit somewhere in 256 B - 4 KiB", "bandwidth", (("rdma", "credit"),), 10,
         somewhere=True, least=256, most=4 * KIB),
    Rule("4b", "nic 10 x credit somewhere in 256 B - 4 KiB", "bandwidth", (("nic", "credit"),), 10,
         somewhere=True, least=256, most=4 * KIB),
    Rule("4b", "rdma, nic 5 x credit in all of 256 B - 4 KiB", "bandwidth",
         _against(("rdma", "nic"), ["credit"]), 5, least=256, most=4 * KIB),
    Rule("4b", "nic within 5 % of rdma", "bandwidth", (("nic", "rdma"),), 0.95),
    Rule("peers", "nic at least ib_send_bw -e from 64 KiB", "peers", (("nic", "verbs"),), 1.0,
         least=64 * KIB),
    Rule("peers", "nic at least 0.9 x ib_write_bw from 64 KiB", "peers", (("nic", "verbs_write"),),
         0.9, least=64 * KIB, kernel="6.1"),
    Rule("peers", "nic ahead of rsockets at every size", "peers", (("nic", "rsockets"),), 1.0),
    Rule("peers", "nic ahead of SMC-R, equal buffers, at every size", "peers", (("nic", "smc"),),
         1.0, kernel="6.12"),
    Rule("peers", "auto within 5 % of the best mode", "peers", _against(["auto"], MODES), 0.95),
    Rule("peers", "nic ahead of TCP at 64 B", "peers", (("nic", "tcp"),), 1.0, least=64, most=64),
    Rule("5", "rdma behind credit from 1000 us", "progress", (("rdma", "credit"),), 1.0 + EQUAL,
         least=1000),
    _at_most("5", "nic best or equal best everywhere", "progress",
             _against(["nic"], ("credit", "rdma")), 1.0 + EQUAL),
    _at_most("z6a", "AZ-SDP within 5 % of ZSDP", "zlatency", (("azsdp", "zsdp"),), 1.05,
             either_way=True, least=8 * KIB),
    Rule("z6b", "AZ-SDP 1.35 x ZSDP from 16 to 64 KiB", "zbandwidth", (("azsdp", "zsdp"),), 1.35,
         least=16 * KIB, most=64 * KIB),
    Rule("z7a", "AZ-SDP 2 x ZSDP somewhere with computation", "zoverlap64k",
         (("azsdp", "zsdp"),), 2.0 * (1 - EQUAL), somewhere=True, least=1),
    Rule("z8c", "AZ-SDP at least 0.9 x BSDP when overwritten", "ztouch", (("azsdp", "bsdp"),), 0.9),
    _at_most("z9", "AZ-SDP ahead of ZSDP and BSDP", "zhot", _against(["azsdp"], ("zsdp", "bsdp")),
             1.0),
    Rule("z10b", "AZ-SDP ahead of ZSDP and BSDP", "zclients",
         _against(["azsdp"], ("zsdp", "bsdp")), 1.0),
    _at_most("zcpu", "ZSDP, AZ-SDP at most half of BSDP's at 1 MiB", "profile",
             _against(("zsdp", "azsdp", "azblock"), ["bsdp"]), 0.5, least=MIB),
    _at_most("6a", "credit fills at most 1/16 (%) at 512 B", "fill8", (("credit", None),), 6.25,
             least=512, most=512),
    Rule("i10b", "host-assisted 2.5 x host-based at 64 KiB", "ibandwidth", (("assisted", "host"),),
         2.5, least=64 * KIB, most=64 * KIB),
    Rule("i10b", "host-assisted ahead of scatter/gather at 64 KiB", "ibandwidth",
         (("assisted", "offloaded_sg"),), 1.0, least=64 * KIB, most=64 * KIB),
    _at_most("i10b", "host-offloaded takes the least of the host", "ibandwidth",
             _against(["offloaded"], ("host", "assisted")), 1.0, least=16 * KIB,
             metric="host_us_per_message"),
    Rule("i-early", "early placement costs at most 3 % in order", "iearly", (("host", "late"),),
         0.97),
    Rule("i-loss", "90 % placed early with 1 % lost", "iloss", (("host", None),), 90),
    _at_most("siw-lat", "ahead of siw at every size", "siwlatency", (iwarp.RIVALS,), 1.0),
    Rule("siw-bw", "ahead of siw at every size", "siwbandwidth", (iwarp.RIVALS,), 1.0),
    _at_most("here-lat", "no slower than TCP at 64 B", "herelatency", _HERE, 1.0, most=64),
    Rule("here-bw", "no slower than TCP at 64 B", "herebandwidth", _HERE, 1.0, most=64),
    Rule("here-bw", "1.4 x TCP at 64 KiB by copy", "herebandwidth", _HERE, 1.4, least=64 * KIB,
         most=64 * KIB),
    Rule("here-bw", "1.8 x TCP at 64 KiB without a copy", "herebandwidth", _HERE_ZERO, 1.8,
         somewhere=True, least=64 * KIB, most=64 * KIB),
    Rule("here-bw", "2.5 x TCP at 1 MiB without a copy", "herebandwidth", _HERE_ZERO, 2.5,
         somewhere=True, least=MIB),
    Rule("qperf-bw", "auto within 5 % of the best engine", "qperfbandwidth",
         _against([foreign.DEFAULT], foreign.FIXED), 0.95),
    _at_most("qperf-lat", "auto within 5 % of the best engine", "qperflatency",
             _against([foreign.DEFAULT], foreign.FIXED), 1.05),
    Rule("qperf-bw", "auto at least TCP from 64 B to 4 KiB", "qperfbandwidth",
         ((foreign.DEFAULT, foreign.TCP),), 1.0, most=4 * KIB),
    _at_most("redis-cost", "the stack's own cost at most TCP's", "rediscost",
             ((foreign.REDIS, foreign.REDIS_TCP),), 1.0),
    Rule("6a", "rdma, nic fill at least 90 % at 512 B", "fill8", (("rdma", None), ("nic", None)), 90,
         least=512, most=512),
)


def _median(results, experiment, metric, transport, point):
    """A transport's figure, None if it was not measured; 1 for no transport."""
    if transport is None:
        return 1.0
    cell = results.cell(experiment.name, metric, transport, point)
    return cell.median if cell else None


def _ratios(rule, results):
    """Yield (ratio, where) of each pair at each point that was measured."""
    experiment = plan.EXPERIMENTS[rule.experiment]
    metric = rule.metric or experiment.metric
    for subject, other in rule.pairs:
        names = " to ".join(filter(None, (subject, other)))
        for point in rule.points():
            judged = _median(results, experiment, metric, subject, point)
            against = _median(results, experiment, metric, other, point)
            if judged is None or against is None:
                continue
            ratio = judged / against
            if rule.either_way:
                ratio = max(ratio, 1 / ratio)
            yield ratio, f"{names} at {table.point_name(experiment, point)}"


def _missing(rule, results):
    """Transports of the rule that have no figures."""
    experiment = plan.EXPERIMENTS[rule.experiment]
    names = dict.fromkeys(name for pair in rule.pairs for name in pair if name)
    return tuple(name for name in names
                 if not any(results.cell(experiment.name, experiment.metric, name, point)
                            for point in rule.points()))


def check(rule, results):
    """Hold a rule against results: the ratio is the one that decides."""
    found = list(_ratios(rule, results))
    missing = _missing(rule, results)
    if not found:
        return Finding(rule, None, "", missing)
    decide = max if rule.somewhere == rule.at_least else min
    ratio, where = decide(found)
    return Finding(rule, ratio, where, missing)


def line(finding):
    """A finding as people read it."""
    rule = finding.rule
    limit = f"{'>=' if rule.at_least else '<='} {rule.limit:.2f}"
    lacks = f"without {', '.join(finding.missing)}" if finding.missing else ""
    if finding.ratio is None:
        verdict, outcome = "not measured", f"{'-':>7}  {limit:<9}{lacks}"
    else:
        verdict = "met" if finding.met else "MISSED"
        outcome = f"{finding.ratio:>7.2f}  {limit:<9}{finding.where}{'; ' if lacks else ''}{lacks}"
    return f"  {verdict:<13}{rule.figure:<9}{rule.text:<50}{outcome}"


def report(results):
    """The whole bar for the results of one set-up."""
    how = results.method
    lines = [f"The bar: Linux {how['release']}, checksum {how['crc']}",
             f"  {'':<13}{'':<9}{'':<50}{'ratio':>7}  {'limit':<9}decided by"]
    for rule in RULES:
        if not rule.kernel or how["release"].startswith(rule.kernel + "."):
            lines.append(line(check(rule, results)))
    return "\n".join(lines)


def _relation(first, second, larger_is_better):
    """1 if the first cell is better, -1 if the second is, 0 if their runs overlap."""
    if min(first.runs) <= max(second.runs) and min(second.runs) <= max(first.runs):
        return 0
    return 1 if (first.median > second.median) == larger_is_better else -1


def disagreements(counted, wall, experiment):
    """
    Where two modes are in one order in instruction-counted time and in the
    other in wall-clock time.

    Return how many pairs were compared, and a line for each that is the other
    way round. Modes whose runs overlap in either time contradict nothing.
    """
    larger, compared, lines = experiment.better == "larger", 0, []
    for point in experiment.points:
        for pair in combinations(experiment.transports, 2):
            cells = [[results.cell(experiment.name, experiment.metric, mode, point)
                      for mode in pair] for results in (counted, wall)]
            if None in cells[0] + cells[1]:
                continue
            compared += 1
            relations = [_relation(*two, larger) for two in cells]
            if relations[0] * relations[1] < 0:
                better = pair[0] if relations[1] > 0 else pair[1]
                lines.append(f"{experiment.title}, {table.point_name(experiment, point)}: "
                             f"{better} is the better of {' and '.join(pair)} in wall-clock time only")
    return compared, lines


def agreement(counted, wall):
    """Whether wall-clock time puts the modes in the same order; "" if there is nothing to compare."""
    compared, lines = 0, []
    for experiment in plan.EXPERIMENTS.values():
        more, differ = disagreements(counted, wall, experiment)
        compared += more
        lines += differ
    if not compared:
        return ""
    return "\n".join([f"Wall-clock time on two virtual CPUs puts {compared - len(lines)} of {compared} "
                      "pairs of modes in the same order as counted instructions, or finds them equal.",
                      *(f"  {line_}" for line_ in lines)])
