#!/usr/bin/env python3
"""Makes faulty and harmless-but-suspicious variants of the example detector, and checks each one.

    make_faults.py OUT_DIR [--model FILE] [--only NAME...] [--htp]

Every variant must give the original's scores on the CPU within 1e-4. Under the float16 simulator of fp16_sim.py a
faulty one must fall under cosine 0.99 on the scores (non-finite ones count as 0), a harmless one must stay above 0.999.
OUT_DIR/faults.json lists what each is: name, kind, healthy (on that simulator), nodes_ok_as_first_cause, why, and the
measured top scores. --htp adds htp_top_score, htp_scores_cosine and broken_on_htp: that device has no infinity and no
NaN, saturates at 131008 and caps constants at 65536, so several variants are healthy on it. Exit code 1 if a check
fails.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import onnx

import fp16_sim
import htp_emulation
from faulty import FAULTY
from harmless import HARMLESS
from surgery import Surgery

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "detr-mini"


def describe(function):
    return " ".join((function.__doc__ or "").split())


def measure(model, feeds, original_scores):
    reference = fp16_sim.run_marked(model, feeds)
    device = fp16_sim.run_cpu(fp16_sim.simulate(model, fp16_sim.float_outputs(reference)), feeds)
    scores = device["scores"]
    finite = scores[np.isfinite(scores)]
    return {
        "cpu_difference": float(np.abs(reference["scores"] - original_scores).max()),
        "cpu_top_score": float(reference["scores"].max()),
        "sim_fp16_top_score": float(finite.max()) if finite.size else None,
        "sim_fp16_scores_cosine": fp16_sim.cosine(reference["scores"], scores),
        "sim_fp16_nonfinite_scores": int(scores.size - finite.size),
    }


def measure_htp(path, feeds, reference_scores):
    scores = htp_emulation.run(path, feeds, ["scores"])[0]
    similarity = fp16_sim.cosine(reference_scores, scores)
    return {"htp_top_score": float(scores.max()), "htp_scores_cosine": similarity, "broken_on_htp": similarity < 0.995}


def complaints(entry):
    if entry["cpu_difference"] > 1e-4:
        yield f"scores differ from the original's by {entry['cpu_difference']:.2g} on the CPU"
    if entry["healthy"] and entry["sim_fp16_scores_cosine"] < 0.999:
        yield f"meant harmless, but the cosine is {entry['sim_fp16_scores_cosine']:.4f}"
    if not entry["healthy"] and entry["sim_fp16_scores_cosine"] >= 0.99:
        yield f"meant faulty, but the cosine is {entry['sim_fp16_scores_cosine']:.4f}"


def make(name, function, healthy, original, out_dir):
    surgery = Surgery(original)
    causes = function(surgery) or []
    names = {n.name for n in surgery.graph.node}
    missing = [c for c in causes if c not in names]
    if missing:
        raise KeyError(f"{name}: no node is called {missing}")
    onnx.checker.check_model(surgery.model)
    onnx.save(surgery.model, out_dir / f"{name}.onnx")
    return surgery.model, {
        "name": name,
        "kind": name.replace("_", " "),
        "healthy": healthy,
        "nodes_ok_as_first_cause": causes,
        "why": describe(function),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, default=EXAMPLE / "detr_mini.onnx")
    parser.add_argument("--only", nargs="*", help="names of variants; default: all")
    parser.add_argument("--htp", action="store_true", help="measure on the emulated HTP too (needs onnxruntime-qnn)")
    args = parser.parse_args()
    if args.htp and not htp_emulation.available():
        parser.error("--htp needs the Python package onnxruntime-qnn: pip install onnxruntime-qnn==2.7.0")
    args.out_dir.mkdir(parents=True, exist_ok=True)
    folder = args.model.parent
    feeds = {name: np.load(folder / f"{name}.npy") for name in ("images", "orig_target_sizes")}
    original = onnx.load(args.model)
    scores = fp16_sim.run_cpu(original, feeds)["scores"]
    entries, failures = [], 0
    for table, healthy in ((FAULTY, False), (HARMLESS, True)):
        for name, function in table.items():
            if args.only and name not in args.only:
                continue
            model, entry = make(name, function, healthy, original, args.out_dir)
            entry.update(measure(model, feeds, scores))
            if args.htp:
                entry.update(measure_htp(args.out_dir / f"{name}.onnx", feeds, scores))
            entries.append(entry)
            bad = list(complaints(entry))
            failures += bool(bad)
            top = entry["sim_fp16_top_score"]
            print(f"{name:28} cpu {entry['cpu_top_score']:.4f}  sim:fp16 {'nan' if top is None else f'{top:.4f}':>6}"
                  f"  cosine {entry['sim_fp16_scores_cosine']:.4f}  {'; '.join(bad) or 'ok'}")
    (args.out_dir / "faults.json").write_text(json.dumps(entries, indent=1) + "\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
