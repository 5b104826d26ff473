#!/usr/bin/env python3
"""Loads a package and runs it, as an application would: onnxruntime, numpy and the manifest, nothing of paritas.

usage: load_package.py PACKAGE INPUT...      INPUT: NAME=FILE.npy, or FILE.safetensors with all inputs
"""
import hashlib
import json
import pathlib
import sys

import numpy as np
import onnxruntime as ort

DTYPES = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I64": np.int64, "I32": np.int32, "I8": np.int8,
          "U8": np.uint8, "BOOL": np.bool_}
LEVELS = {"none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
          "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED, "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}


def check_sums(folder: pathlib.Path) -> None:
    """Every file is there, unchanged, and none is too many. It shows nothing of who made the package."""
    listed = dict(reversed(line.split("  ", 1)) for line in (folder / "SHA256SUMS").read_text().splitlines())
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()} - {"SHA256SUMS"}
    for name in sorted(found ^ listed.keys()):
        raise SystemExit(f"{folder / name}: {'is not listed in SHA256SUMS' if name in found else 'is absent'}")
    for name, sha256 in listed.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sha256:
            raise SystemExit(f"{folder / name}: was changed")


def open_part(folder: pathlib.Path, part: dict) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[part["optimisation"]]
    options.log_severity_level = 3  # errors
    options.intra_op_num_threads = part["threads"]
    entries = {key: value for key, value in part["options"].items() if key.startswith(("session.", "ep."))}
    provider_options = {key: value for key, value in part["options"].items() if key not in entries}
    if part["on_device"] and part["provider"] == "CPUExecutionProvider":
        raise SystemExit(f"{part['target']} is a simulator, which paritas alone runs")
    if part["on_device"]:
        entries["session.disable_cpu_ep_fallback"] = "1"  # opens on the device, whole, or not at all
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    if part["provider"] == "QNNExecutionProvider":  # a plug-in: registered once, chosen by its device
        import onnxruntime_qnn as qnn
        if all(device.ep_name != part["provider"] for device in ort.get_ep_devices()):
            ort.register_execution_provider_library(part["provider"], qnn.get_library_path())
        library = pathlib.Path(qnn.get_library_path())
        provider_options["backend_path"] = str(library.with_name(provider_options["backend_path"]))  # a file name only
        device = next(device for device in ort.get_ep_devices() if device.ep_name == part["provider"])
        options.add_provider_for_devices([device], provider_options)
    elif part["provider"] != "CPUExecutionProvider":
        raise SystemExit(f"part \"{part['name']}\": register the library of {part['provider']} here")
    return ort.InferenceSession(folder / part["file"], options)


def read_inputs(arguments: list, wanted: list) -> dict:
    tensors = {}
    for argument in arguments:
        if "=" in argument:
            name, file = argument.split("=", 1)
            tensors[name] = np.load(file)
            continue
        data = pathlib.Path(argument).read_bytes()
        start = 8 + int.from_bytes(data[:8], "little")
        for name, entry in json.loads(data[8:start]).items():
            if name in wanted:
                begin, end = entry["data_offsets"]
                tensors[name] = np.frombuffer(data[start + begin:start + end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def main() -> None:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    check_sums(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    tensors = read_inputs(sys.argv[2:], [port["name"] for port in manifest["inputs"]])
    sessions = [(part, open_part(folder, part)) for part in manifest["parts"]]
    for part, session in sessions:  # names tie outputs to inputs, never their order; tensors stay in memory
        made = session.run([port["name"] for port in part["outputs"]],
                           {port["name"]: tensors[port["tensor"]] for port in part["inputs"]})
        tensors.update(zip((port["tensor"] for port in part["outputs"]), made))
    for port in manifest["outputs"]:
        if port.get("role") == "scores":
            print(f"{port['name']}: highest {tensors[port['name']].max():.6f}")


if __name__ == "__main__":
    main()
