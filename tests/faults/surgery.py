"""Small edits of an ONNX graph: find, splice, rescale. Every edit keeps node names that it does not add itself."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Surgery:
    """One model being edited. Constants are looked up in initialisers and Constant nodes alike."""

    def __init__(self, model):
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.initializers = {t.name: t for t in self.graph.initializer}

    def node(self, name):
        found = [n for n in self.graph.node if n.name == name]
        if len(found) != 1:
            raise KeyError(f"{len(found)} nodes are called {name}")
        return found[0]

    def output_of(self, name, index=0):
        return self.node(name).output[index]

    def position(self, name):
        return next(i for i, n in enumerate(self.graph.node) if n.name == name)

    def constant(self, name, value, dtype=np.float32):
        """Adds an initialiser and gives its name."""
        tensor = numpy_helper.from_array(np.asarray(value, dtype=dtype), name)
        self.graph.initializer.append(tensor)
        self.initializers[name] = self.graph.initializer[-1]
        return name

    def weight(self, name):
        return numpy_helper.to_array(self.initializers[name]).copy()

    def set_weight(self, name, value):
        self.initializers[name].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(value, np.float32), name))

    def weight_input(self, node_name):
        """The one initialiser that a node reads."""
        found = [x for x in self.node(node_name).input if x in self.initializers]
        if len(found) != 1:
            raise KeyError(f"{node_name} reads {len(found)} initialisers")
        return found[0]

    def private_weight(self, node_name):
        """Gives the node a copy of its initialiser, so that a change does not reach other readers."""
        node = self.node(node_name)
        old = self.weight_input(node_name)
        readers = sum(list(n.input).count(old) for n in self.graph.node)
        if readers == 1:
            return old
        new = self.constant(old + "__" + node_name.strip("/").replace("/", "_"), self.weight(old))
        for i, x in enumerate(node.input):
            if x == old:
                node.input[i] = new
        return new

    def scale_weight(self, node_name, factor):
        """Multiplies the node's initialiser by a scalar or an array that broadcasts to it."""
        name = self.private_weight(node_name)
        self.set_weight(name, self.weight(name).astype(np.float64) * factor)

    def replace_input(self, node_name, old, new):
        node = self.node(node_name)
        hits = [i for i, x in enumerate(node.input) if x == old]
        if not hits:
            raise KeyError(f"{node_name} does not read {old}")
        for i in hits:
            node.input[i] = new

    def scalar_operand(self, node_name):
        """Input of a binary node that a Constant node, a Pow of constants or the like gives: the second one here."""
        return self.node(node_name).input[1]

    def splice(self, tensor, build, prefix, readers=None):
        """Puts nodes between a tensor and its readers.

        build(chain) adds nodes that start from chain.start and returns the tensor that readers read instead.
        readers: names of the nodes to rewire; None: all of them (and a graph output of that name is not supported).
        """
        if any(o.name == tensor for o in self.graph.output):
            raise ValueError(f"{tensor} is a graph output")
        producer = [i for i, n in enumerate(self.graph.node) if tensor in n.output]
        at = producer[0] + 1 if producer else 0
        old_readers = [n for n in self.graph.node if tensor in n.input and (readers is None or n.name in readers)]
        if not old_readers:
            raise KeyError(f"nothing reads {tensor}")
        chain = Chain(self, tensor, prefix)
        result = build(chain)
        for node in old_readers:
            for i, x in enumerate(node.input):
                if x == tensor:
                    node.input[i] = result
        for offset, node in enumerate(chain.nodes):
            self.graph.node.insert(at + offset, node)

    def replace_node(self, name, build, prefix):
        """Replaces a single-output node by a chain that starts from its first input and gives its output."""
        at = self.position(name)
        node = self.node(name)
        start, result = node.input[0], node.output[0]
        self.graph.node.remove(node)
        chain = Chain(self, start, prefix)
        last = build(chain)
        chain.nodes[[n.output[0] for n in chain.nodes].index(last)].output[0] = result
        for offset, new in enumerate(chain.nodes):
            self.graph.node.insert(at + offset, new)

    def insert_chain(self, start, prefix, build):
        """Adds nodes behind the producer of `start`; returns what build returns. Nothing is rewired."""
        producer = [i for i, n in enumerate(self.graph.node) if start in n.output]
        at = producer[0] + 1 if producer else 0
        chain = Chain(self, start, prefix)
        result = build(chain)
        for offset, node in enumerate(chain.nodes):
            self.graph.node.insert(at + offset, node)
        return result


class Chain:
    """Nodes under construction: each call adds one node `prefix/Label` and gives its output's name."""

    def __init__(self, surgery, start, prefix):
        self.surgery, self.start, self.prefix, self.nodes = surgery, start, prefix, []

    def add(self, label, op_type, *inputs, **attributes):
        name = f"{self.prefix}/{label}"
        out = name + "_output_0"
        self.nodes.append(helper.make_node(op_type, list(inputs), [out], name=name, **attributes))
        return out

    def const(self, label, value, dtype=np.float32):
        return self.surgery.constant(f"{self.prefix}/{label}", value, dtype)

    def to_float(self, label, tensor):
        return self.add(label, "Cast", tensor, to=TensorProto.FLOAT)
