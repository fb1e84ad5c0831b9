"""The figures of a run as one picture: requests a second and CPU per request by shape, and what a page depends on."""

from itertools import groupby
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from scripts.benchmarking.contenders import TITLES
from scripts.benchmarking.figures import Figures


def plot(figures: Figures, path: Path) -> None:
    """Write the picture in the format of the path's suffix."""
    # Text as text, so that the picture can be searched and read aloud.
    mpl.rcParams["svg.fonttype"] = "none"
    groups = [(group, list(probes)) for group, probes in groupby(figures.probes, key=lambda probe: probe.group)]
    groups = [(group, probes) for group, probes in groups if len(probes) > 1]
    picture = Figure(figsize=(14, 9), layout="constrained")
    above, below = picture.subfigures(2, 1, squeeze=False)[:, 0]
    shapes = list(figures.pages)
    for axes, name, unit in zip(
        above.subplots(1, 2), ("rate", "server_cpu"), ("requests a second", "server CPU, ms per request"), strict=True
    ):
        servers = [server for server in TITLES if server in figures.pages[shapes[0]]]
        for number, server in enumerate(servers):
            places = [place + 0.8 * number / len(servers) for place in range(len(shapes))]
            heights = [getattr(figures.pages[shape][server], name) for shape in shapes]
            axes.bar(places, heights, 0.8 / len(servers), align="edge", label=TITLES[server])
        axes.set_yscale("log")
        axes.set_xticks([place + 0.4 for place in range(len(shapes))], shapes)
        axes.set_ylabel(unit)
        axes.legend(fontsize="small")
    if groups:
        for axes, (group, probes) in zip(below.subplots(1, len(groups), squeeze=False)[0], groups, strict=True):
            axes.barh([probe.label for probe in probes], [probe.cpu_multiple for probe in probes])
            axes.axvline(1.0, color="black", linewidth=0.8)
            axes.invert_yaxis()
            axes.set_title(f"{group}: CPU, multiple of the first", fontsize="small")
            axes.tick_params(labelsize="x-small")
    picture.savefig(path)
