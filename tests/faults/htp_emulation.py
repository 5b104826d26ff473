"""The scores of a variant on the emulated Qualcomm HTP, when the Python package onnxruntime-qnn is installed."""

import importlib.util
import pathlib

import onnxruntime as ort

PROVIDER = "QNNExecutionProvider"


def available():
    return importlib.util.find_spec("onnxruntime_qnn") is not None


def provider_device():
    devices = [d for d in ort.get_ep_devices() if d.ep_name == PROVIDER]
    if devices:
        return devices[0], library_folder()
    ort.register_execution_provider_library(PROVIDER, str(library_folder() / "libonnxruntime_providers_qnn.so"))
    return next(d for d in ort.get_ep_devices() if d.ep_name == PROVIDER), library_folder()


def library_folder():
    return pathlib.Path(importlib.util.find_spec("onnxruntime_qnn").origin).parent


def run(model_path, feeds, outputs):
    device, folder = provider_device()
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.add_provider_for_devices(
        [device], {"backend_path": str(folder / "libQnnHtp.so"), "soc_model": "77", "htp_arch": "73"})
    return ort.InferenceSession(str(model_path), options).run(outputs, feeds)
