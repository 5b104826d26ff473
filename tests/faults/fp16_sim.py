"""An independent IEEE float16 simulator: every float tensor passes a pair of Casts. Used to check the fault variants.

Graph inputs, float initialisers, Constant nodes and every float node output are rounded; overflow becomes infinity;
between two roundings everything is computed in float32 by ONNX Runtime's CPU kernels with all optimisation off.
"""

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper


def cpu_session(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run_cpu(model, feeds):
    session = cpu_session(model)
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


def round_f16(array):
    with np.errstate(over="ignore"):
        return array.astype(np.float16).astype(np.float32)


def run_marked(model, feeds):
    """All node outputs of a CPU run by name."""
    marked = onnx.ModelProto()
    marked.CopyFrom(model)
    present = {o.name for o in marked.graph.output}
    for node in marked.graph.node:
        for out in node.output:
            if out and out not in present:
                marked.graph.output.append(onnx.ValueInfoProto(name=out))
    return run_cpu(marked, feeds)


def simulate(model, float_tensors):
    """The model with a rounding behind every tensor named in float_tensors."""
    sim = onnx.ModelProto()
    sim.CopyFrom(model)
    graph = sim.graph
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(round_f16(numpy_helper.to_array(tensor)), tensor.name))
    nodes, renamed = [], {}

    def rounding(source, target):
        nodes.append(helper.make_node("Cast", [source], [target + "__f16"], to=TensorProto.FLOAT16))
        nodes.append(helper.make_node("Cast", [target + "__f16"], [target], to=TensorProto.FLOAT))

    initializers = {t.name for t in graph.initializer}
    for value in graph.input:
        if value.name not in initializers and value.type.tensor_type.elem_type == TensorProto.FLOAT:
            renamed[value.name] = value.name + "__rounded"
            rounding(value.name, renamed[value.name])
    for node in list(graph.node):
        for i, name in enumerate(node.input):
            node.input[i] = renamed.get(name, name)
        nodes.append(node)
        for i, name in enumerate(node.output):
            if name in float_tensors:
                node.output[i] = name + "__raw"
                rounding(name + "__raw", name)
    del graph.node[:]
    del graph.value_info[:]
    graph.node.extend(nodes)
    return sim


def float_outputs(marked_run):
    return {name for name, value in marked_run.items() if value.dtype == np.float32}


def cosine(reference, device):
    """Cosine over all elements; 0 when anything in the device tensor is not finite."""
    x, y = reference.astype(np.float64).ravel(), device.astype(np.float64).ravel()
    if not np.isfinite(y).all():
        return 0.0
    norm = np.linalg.norm(x) * np.linalg.norm(y)
    return float(x @ y / norm) if norm else float(np.array_equal(x, y))
