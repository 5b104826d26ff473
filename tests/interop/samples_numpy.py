"""Checks `paritas locate` over many samples on a network that breaks on some of them only.

Samples differ in scale: a mean of squares overflows float16 where the values are large, and not where they are small.
  - every sample's figures are those of a `paritas locate` of that sample alone (own process, own sessions), to the bit;
  - medians and worst are what numpy makes of those, and counts what is counted there;
  - the finding holds on exactly the samples whose squares numpy finds beyond float16, and on none when all are small;
  - a run that is killed and continued gives the same JSON as one that is not; what it leaves is no result, and is
    refused for other inputs, gates, options, models, and when it is damaged.

usage: samples_numpy.py PARITAS
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SCALES = [0.5, 300.0, 1.0, 0.25, 900.0]


def model(factor=2.0):
    nodes = [helper.make_node("Mul", ["x", "two"], ["scaled"], "scaled"),
             helper.make_node("Mul", ["scaled", "scaled"], ["square"], "square"),
             helper.make_node("ReduceMean", ["square"], ["mean"], "mean", axes=[-1], keepdims=1),
             helper.make_node("Sqrt", ["mean"], ["root"], "root"),
             helper.make_node("Div", ["scaled", "root"], ["y"], "y")]
    graph = helper.make_graph(nodes, "scales", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 16])],
                              [numpy_helper.from_array(np.float32(factor), "two")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(holds, what):
    check.count += 1
    if not holds:
        sys.exit(f"FAILED: {what}")


check.count = 0


def run(paritas, *arguments, codes=(0, 1)):
    done = subprocess.run([paritas, "locate", *arguments, "--json", "-"], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"paritas locate ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def number(value):
    return float(value) if isinstance(value, str) else value


def lower_median(values, smaller_is_worse=False):
    # What is not a number is worst of all.
    values = np.sort(np.asarray(values, float))  # numpy puts NaN last
    if smaller_is_worse:
        finite, nans = values[~np.isnan(values)], np.isnan(values).sum()
        values = np.concatenate([np.full(nans, np.nan), finite])
    return values[(len(values) - 1) // 2]


def same(a, b):
    a, b = number(a), number(b)
    return a == b or (a != a and b != b)


def worst(values, smaller_is_worse=False):
    values = np.asarray(values, float)
    if np.isnan(values).any():
        return np.nan
    return values.min() if smaller_is_worse else values.max()


def check_figures(many, singles):
    for position, row in enumerate(many["nodes"]):
        rows = [single["nodes"][position] for single in singles]
        check(all(r["tensor"] == row["tensor"] for r in rows), "the same tensors in the same order")
        check(row["consequential_samples"] == sum(r["consequential"] for r in rows), f"{row['name']}: consequential")
        for kind in ("accumulated", "local"):
            metrics = [r[kind]["metrics"] if kind == "local" else r[kind] for r in rows]
            metrics = [m.get("metrics", m) for m in metrics]
            for key in ("nmse", "cosine", "max_abs"):
                values = [number(m[key]) for m in metrics]
                figure = row[kind][key]
                check(figure["samples"] == figure["median_of"] == len(values), "all samples count")
                check(same(figure["median"], lower_median(values, key == "cosine")), f"{row['name']}: median {kind} {key}")
                check(same(figure["worst"], worst(values, key == "cosine")), f"{row['name']}: worst {kind} {key}")
                at = int(figure["worst_sample"].split("-")[1])
                check(same(values[at], figure["worst"]), f"{row['name']}: the sample of the worst {kind} {key}")


def without_run(result):
    return {key: value for key, value in result.items() if key != "run"}


def main(paritas):
    paritas = os.path.abspath(paritas)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        onnx.save(model(), "scales.onnx")
        rng = np.random.default_rng(11)
        x = [(scale * rng.normal(size=(4, 16))).astype(np.float32) for scale in SCALES]
        for i, values in enumerate(x):
            np.save(f"x{i}.npy", values)
        probe = subprocess.run([paritas, "run", "scales.onnx", "-i", "x=x0.npy", "-o", "r"], capture_output=True, text=True)
        if probe.returncode == 3:
            print("skipped: no ONNX Runtime:", probe.stderr.strip())
            return 77
        common = ["scales.onnx", "--device", "sim:fp16", "--gate", "y: cosine>=0.99"]
        given = [part for i in range(len(x)) for part in ("-i", f"x=x{i}.npy")]
        whole = run(paritas, *common, *given)
        singles = [run(paritas, *common, "-i", f"x=x{i}.npy") for i in range(len(x))]

        # Convicts and acquits, by numpy.
        breaks = [bool((np.mean((2 * v).astype(np.float64) ** 2, -1) > 65504).any()) for v in x]
        check(breaks == [False, True, False, False, True], "the samples are as they are meant")
        check([s["verdict"] == "deviates" for s in whole["samples"]] == breaks, "verdicts of the samples")
        check(whole["verdict"] == "deviates" and whole["diagnosed"] == len(x), "the worst verdict is that of the whole")
        faults = [f for f in whole["findings"] if f["severity"] == "fault"]
        check(faults and all(f["samples"] == ["sample-000001", "sample-000004"] and f["holds"] == 2 for f in faults),
              "the fault holds on two samples")
        check("On 2 of 5 samples" in faults[0]["text"], "the text says so")
        check(faults[0]["in_worst"] and not faults[0]["in_median"], "in the worst, not in the median")
        for sample, single in zip(whole["samples"], singles):
            check(sample["verdict"] == single["verdict"] and sample["first_divergence"] == single["first_divergence"],
                  f"{sample['id']}: as alone")
        check_figures(whole, singles)
        sessions = sum(single["sessions"] for single in singles)
        check(whole["run"]["device_sessions"] <= sessions / 2, f"{whole['run']['device_sessions']} sessions, {sessions} alone")
        healthy = run(paritas, *common, "-i", "x=x0.npy", "-i", "x=x2.npy", "-i", "x=x3.npy")
        check(healthy["verdict"] == "pass" and not [f for f in healthy["findings"] if f["severity"] == "fault"],
              "small samples: no fault, all pass")

        # The same from a recording's inputs, and from a folder of test data.
        subprocess.run([paritas, "run", "scales.onnx", *given, "-o", "recording", "--quiet"], check=True)
        check(without_run(run(paritas, *common, "--inputs", "recording")) == without_run(whole), "a recording's inputs")
        for i, values in enumerate(x):
            os.makedirs(f"data/test_data_set_{i}")
            with open(f"data/test_data_set_{i}/input_0.pb", "wb") as file:
                file.write(numpy_helper.from_array(values, "x").SerializeToString())
        check(without_run(run(paritas, *common, "--inputs", "data")) == without_run(whole), "test data")
        part = run(paritas, *common, "--inputs", "recording", "--samples", "3:5")
        check([s["id"] for s in part["samples"]] == ["sample-000003", "sample-000004"], "a range keeps its numbers")

        # Killed in the middle, continued.
        state = ["--resume", "state", "--json", "result.json"]
        process = subprocess.Popen([paritas, "locate", *common, *given, *state], stdout=subprocess.DEVNULL)
        while not os.path.exists("state/sample-000001.json"):
            check(process.poll() is None, "the run was killed in the middle")
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        check(not os.path.exists("result.json"), "a killed run leaves no result")
        left = sorted(name for name in os.listdir("state") if not name.startswith("."))
        check(2 <= len(left) - 1 < len(x), f"some samples are done: {left}")
        for name in left:
            check("verdict" not in json.load(open(f"state/{name}")), f"{name} is no result")
            refused = subprocess.run([paritas, "compare", "--judge", f"state/{name}", "--gate", "y: cosine>=0"], capture_output=True)
            check(refused.returncode == 2, f"{name} cannot be judged as one")

        def refuses(arguments, word):
            done = subprocess.run([paritas, "locate", *arguments, "--resume", "state"], capture_output=True, text=True)
            check(done.returncode == 2 and word in done.stderr, f"{word!r} in {done.stderr!r}")

        refuses(["scales.onnx", "--device", "sim:fp16", "--gate", "y: cosine>=0.9", *given], "different: gates")
        refuses(["scales.onnx", "--device", "sim:bf16", "--gate", "y: cosine>=0.99", *given], "different: device")
        refuses([*common, "--islands", "nodes", *given], "different: --islands")
        refuses([*common, "-i", "x=x3.npy", *given], "other inputs")
        onnx.save(model(2.5), "scales.onnx")
        refuses([*common, *given], "different: model")
        onnx.save(model(), "scales.onnx")
        text = open("state/sample-000000.json").read()
        with open("state/sample-000000.json", "w") as file:
            file.write(text.replace("range", "rnage", 1))
        refuses([*common, *given], "damaged")
        with open("state/sample-000000.json", "w") as file:
            file.write(text)
        continued = run(paritas, *common, *given, "--resume", "state")
        check(continued["run"]["samples_taken_over"] == len(left) - 1, "what was done is taken over")
        check(json.dumps(without_run(continued)) == json.dumps(without_run(whole)), "continued equals uninterrupted")
        again = run(paritas, *common, *given, "--resume", "state")
        check(again["run"]["samples_run"] == 0 and without_run(again) == without_run(whole), "a state that is complete")

        # Weights of a Constant node in a file of their own belong to the model, too.
        outside = model()
        kept = [i for i in outside.graph.initializer]
        del outside.graph.initializer[:]
        for weights in reversed(kept):
            outside.graph.node.insert(0, helper.make_node("Constant", [], [weights.name], value=weights))
        onnx.save_model(outside, "outside.onnx", save_as_external_data=True, location="outside.bin", size_threshold=0, convert_attribute=True)
        pair = ["outside.onnx", *common[1:], "-i", "x=x0.npy", "-i", "x=x1.npy", "--resume", "outside"]
        run(paritas, *pair)
        data = open("outside.bin", "rb").read()
        with open("outside.bin", "r+b") as file:
            file.write(bytes([data[0] ^ 1]))
        done = subprocess.run([paritas, "locate", *pair], capture_output=True, text=True)
        check(done.returncode == 2 and "different: model" in done.stderr, "weights beside the model were changed")

        # All samples are of one model: one that is replaced meanwhile ends the run.
        onnx.save(model(), "swap.onnx")
        many = [part for _ in range(40) for part in ("-i", "x=x0.npy")]
        process = subprocess.Popen([paritas, "locate", "swap.onnx", *common[1:], *many, "--resume", "swapped", "--json", "swapped.json"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists("swapped/sample-000001.json"):
            check(process.poll() is None, "the model was replaced in the middle")
            time.sleep(0.005)
        onnx.save(model(2.5), "other.onnx")
        os.replace("other.onnx", "swap.onnx")
        message = process.communicate()[1]
        check(process.returncode == 2 and "was changed while samples were diagnosed" in message, f"a replaced model: {message}")
        check(not os.path.exists("swapped.json"), "and there is no result")

        # A sample that cannot be run is named; the others are diagnosed.
        np.save("x9.npy", np.zeros((3, 16), np.float32))
        odd = run(paritas, *common, "-i", "x=x0.npy", "-i", "x=x9.npy", "-i", "x=x2.npy")
        check(odd["verdict"] == "invalid" and odd["diagnosed"] == 2, "invalid, and the rest is there")
        check("sample-000001" in odd["reasons"][0] and "failure" in odd["samples"][1], "the sample is named")

        # A worker that dies in the middle costs its sample, which a continued run makes up for.
        many = [part for _ in range(40) for part in ("-i", "x=x0.npy")]
        process = subprocess.Popen([paritas, "locate", *common, *many, "--resume", "dying", "--json", "dying.json"], stdout=subprocess.DEVNULL)
        while not os.path.exists("dying/sample-000002.json"):
            check(process.poll() is None, "a worker was killed in the middle")
            time.sleep(0.005)
        children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
        threads = os.listdir(f"/proc/{process.pid}/task")
        for thread in threads:
            try:
                children += open(f"/proc/{process.pid}/task/{thread}/children").read().split()
            except OSError:  # the thread ended
                pass
        os.kill(int(children[0]), signal.SIGKILL)
        check(process.wait() == 1, "the whole is no pass")
        dying = json.load(open("dying.json"))
        check(dying["verdict"] == "invalid" and dying["diagnosed"] == 39, "one sample is lost, and the whole is invalid")
        check("killed" in dying["reasons"][0].lower(), dying["reasons"][0])
        made_up = run(paritas, *common, *many, "--resume", "dying")
        check(made_up["verdict"] == "pass" and made_up["run"]["samples_run"] == 1, "the lost sample is made up for")

        # Free dimensions: other shapes, other sessions.
        free = model()
        for port in (free.graph.input[0], free.graph.output[0]):
            port.type.tensor_type.shape.dim[0].dim_param = "n"
        onnx.save(free, "free.onnx")
        np.save("long.npy", np.ones((7, 16), np.float32))
        shapes = run(paritas, "free.onnx", *common[1:], "-i", "x=x0.npy", "-i", "x=long.npy", "-i", "x=x2.npy")
        check(shapes["diagnosed"] == 3 and shapes["verdict"] == "pass", "samples of different shapes")
        check(any("different shapes" in note for note in shapes["notes"]), "and that is said")
        os.chdir("/")
    print(f"{check.count} checks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
