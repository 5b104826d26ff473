Where a model really ran
========================

A small model with a Softmax in the middle, and evidence files of a session in which the Softmax was pinned to the CPU. They
were written by ONNX Runtime and the QNN provider; reading them needs neither.

  $ "$PYTHON" "$CASES/data/placement_models.py"
  $ cp -r "$CASES"/data/placement evidence
  $ files="--profile evidence/profile.json --op-trace evidence/qnn_op_trace.json --cycles evidence/qnn_cycles.csv --context evidence/context.onnx"
  $ paritas placement attention.onnx $files --planned op:Softmax --json all.json
  NOT JUDGED   nothing is required of the placement (--require)
  
  Device         6 of 7 nodes, 85.7 % on QNNExecutionProvider, 2 partitions
  Optimised      7 nodes: 6 on QNNExecutionProvider, 1 left to others
  Source         6 nodes: 5 device, 1 planned cpu
  Time           99.9 % of what nodes took was on the device (profile, 1 run)
  Cycles         26,522 in 4 operations of the device, 7,829 beside them; none are counted on the CPU
  Crossing       2 hand-overs, 256 bytes between partitions in one run
  
  evidence       names that map  says
  context model          6 of 6  2 compiled partitions, 1 node outside
  profile                1 of 1  1 run: 2 partitions on QNNExecutionProvider, 1 node one by one
  op trace               5 of 5  6 device operations from 4 named nodes in 2 partitions, 1 node left to others
  cycles                 4 of 4  26522 cycles in 6 device operations, 2 executions of partitions
  
  partition               source nodes  optimised      us  bytes in  bytes out
  QNNExecutionProvider 1             3          -  28,187       128        128
  CPUExecutionProvider               1          -      43         -          -
  QNNExecutionProvider 2             2          -  52,011       256        128
  
  node           op       where        evidence
  /attn/Softmax  Softmax  planned cpu  context model, profile, op trace
  
  Note      6 of 7 nodes of the optimised graph are on QNNExecutionProvider, in 2 partitions.
            shows           what the evidence files say of the nodes; that the provider compiled them
                            into 6 operations of its back end; that the partitions were executed; that
                            4 of the operations took cycles there
            does not show   where the work of operations without cycles was done, or in which
                            precision any was
            next            look at the operations without cycles before counting on them
  note: 2 of 6 device operations have 0 cycles: the back end charges their work to others
  note: the op trace calls its model "attention.onnx"

Each node names the sources that say so. The Softmax was planned for the CPU; without `--planned` it counts as fallen back.

  $ "$PYTHON" - << 'PY'
  > import json
  > for n in json.load(open("all.json"))["placement"]["nodes"]:
  >     print(n["name"], n["place"], n["partition"], n["evidence"], n["cycles"])
  > PY
  /q/MatMul device QNNExecutionProvider 1 ['context model', 'op trace', 'cycles'] 5699
  /q/Add device QNNExecutionProvider 1 ['context model', 'op trace', 'cycles'] 5699
  /q/Relu device QNNExecutionProvider 1 ['context model', 'op trace', 'cycles'] 3142
  /attn/Softmax planned cpu CPUExecutionProvider ['context model', 'profile', 'op trace'] None
  /out/MatMul device QNNExecutionProvider 2 ['context model', 'op trace', 'cycles'] 10864
  /out/Add device QNNExecutionProvider 2 ['context model', 'op trace', 'cycles'] 6817
  $ paritas placement attention.onnx $files | grep -A4 '^node '
  node           op       where         evidence
  /attn/Softmax  Softmax  cpu fallback  context model, profile, op trace
  
  Note      1 node of the source graph fell back to the CPU in a session for QNNExecutionProvider:
            /attn/Softmax.

A requirement is a gate.

  $ paritas placement attention.onnx $files --require '/q/*=100%' --require 80% | head -3
  PASS   source graph: 3 of 3 nodes on the device, required /q/*=100%
         optimised graph: 6 of 7 nodes on the device, required 80%
  
  $ paritas placement attention.onnx $files --require 100% > text; echo "[$?]"
  [1]
  $ head -1 text
  DEVIATES   optimised graph: 6 of 7 nodes on the device, required 100%
  $ paritas placement attention.onnx $files --require '/nowhere/*=100%'
  paritas: --require /nowhere/*=100%: "/nowhere/*" fits no node of attention.onnx that depends on its inputs; patterns are node names with * and ?, or op:TYPE
  [2]

Assignment to a partition does not show that every operation inside ran on the accelerator: what is claimed depends on the
evidence.

  $ paritas placement attention.onnx --context evidence/context.onnx | grep -A6 'are on QNN'
  Note      5 of 6 nodes of the source graph are on QNNExecutionProvider, in 2 partitions.
            shows           what the evidence files say of the nodes
            does not show   what the provider made of its partitions: that every operation inside ran
                            on the accelerator, or in which precision
            next            add the provider's op trace (--op-trace) and cycles (--cycles)
  $ paritas placement attention.onnx --op-trace evidence/qnn_op_trace.json --cycles evidence/qnn_cycles.csv | grep -A6 'are on QNN'
  Note      6 of 7 nodes of the optimised graph are on QNNExecutionProvider, in 2 partitions.
            shows           what the evidence files say of the nodes; that the provider compiled them
                            into 6 operations of its back end; that 4 of the operations took cycles
                            there
            does not show   where the work of operations without cycles was done, or in which
                            precision any was
            next            look at the operations without cycles before counting on them

Sources that contradict each other are a finding, and the verdict is invalid.

  $ sed 's|/attn/Softmax|/q/Relu|; s|"op_name" : "Softmax"|"op_name" : "Relu"|' evidence/profile.json > relu.json
  $ paritas placement attention.onnx --profile relu.json --op-trace evidence/qnn_op_trace.json > text; echo "[$?]"
  [1]
  $ head -1 text; grep -A3 '^Finding' text
  INVALID   contradictory evidence: 1 node has two places: on CPUExecutionProvider by the profile, on QNNExecutionProvider by the op trace
  Finding   Two sources contradict each other: 1 node has two places: on CPUExecutionProvider by the
            profile, on QNNExecutionProvider by the op trace (/q/Relu).
            shows           at least one of the two is of another session, another build, or
                            incomplete
  $ sed '0,/,EXECUTE,/s//,BACKEND,/' evidence/qnn_cycles.csv > cut.csv
  $ paritas placement attention.onnx --profile evidence/profile.json --cycles cut.csv | grep '^INVALID'
  INVALID   contradictory evidence: the profile has 2 executions of partitions, the cycles 1
  $ paritas placement attention.onnx --profile evidence/profile.json --context evidence/context.onnx --require 0% | head -1
  PASS   source graph: 5 of 6 nodes on the device, required 0%

Evidence of another model is refused, and says how many names map.

  $ cp "$EXAMPLES"/detr-mini/detr_mini.onnx .
  $ paritas placement detr_mini.onnx --profile evidence/profile.json
  paritas: evidence/profile.json: is of another model: 0 of its 1 node names lead to a node of detr_mini.onnx ("/attn/Softmax" does not); give the evidence of a session with this model
  [2]
  $ paritas placement detr_mini.onnx --op-trace evidence/qnn_op_trace.json
  paritas: evidence/qnn_op_trace.json: is of another model: 0 of its 5 node names lead to a node of detr_mini.onnx ("/attn/Softmax" does not); give the evidence of a session with this model
  [2]
  $ paritas placement detr_mini.onnx --context evidence/context.onnx
  paritas: evidence/context.onnx: is of another model: 0 of its 5 node names lead to a node of detr_mini.onnx ("/attn/Softmax" does not); give the evidence of a session with this model
  [2]

The model with the compiled partitions says where its boundary is, not what is inside.

  $ paritas placement evidence/context.onnx --op-trace evidence/qnn_op_trace.json --json opaque.json | grep -A1 -E '^Source|are partitions'
  Source         3 nodes: 2 device, 1 unknown
  Crossing       1 hand-over, 128 bytes between partitions in one run
  --
  Note      2 nodes of this model are partitions compiled for QNNExecutionProvider: what is inside is
            not listed.

Two placements are compared.

  $ paritas placement attention.onnx $files --planned op:Softmax --against all.json | grep 'same placement'
  note: the same placement as in all.json
  $ paritas placement attention.onnx --input x=x.npy --target cpu --against all.json | grep -A9 '^Against'
  Against        all.json: device 85.7 % -> 0 %, partitions 2 -> 0, hand-overs 2 -> 0
  moved        op      from                  to
  /q/MatMul    MatMul  QNNExecutionProvider  CPUExecutionProvider
  /q/Add       Add     QNNExecutionProvider  CPUExecutionProvider
  /q/Relu      Relu    QNNExecutionProvider  CPUExecutionProvider
  /out/MatMul  MatMul  QNNExecutionProvider  CPUExecutionProvider
  /out/Add     Add     QNNExecutionProvider  CPUExecutionProvider
  
  Note      Against all.json: 5 nodes moved, partitions 2 -> 0 (/q/MatMul, /q/Add, /q/Relu,
            /out/MatMul and 1 more).

A provider that takes nothing is refused, whatever it is called.

  $ idle="ort:IdleExecutionProvider,library=$BUILD/tests/libparitas_test_provider_idle.so"
  $ paritas placement attention.onnx --input x=x.npy --target "$idle" > text; echo "[$?]"
  [1]
  $ head -1 text; grep '^Finding' text
  DEVIATES   0 of 7 nodes on IdleExecutionProvider
  Finding   IdleExecutionProvider took none of 7 nodes: 0 %. Everything was computed by others.

Places can be looked at in other viewers: node data for Model Explorer, node metadata for Netron.

  $ paritas placement attention.onnx $files --quiet --node-data nodes.json --annotated annotated
  $ "$PYTHON" - << 'PY'
  > import json, onnx
  > print(json.load(open("nodes.json"))["results"]["/attn/Softmax"])
  > onnx.checker.check_model("annotated/model.onnx", full_check=True)
  > node = onnx.load("annotated/model.onnx").graph.node[3]
  > print(node.name, {p.key: p.value for p in node.metadata_props})
  > PY
  {'value': 'cpu fallback', 'bgColor': '#D55E00'}
  /attn/Softmax {'paritas.place': 'cpu fallback', 'paritas.provider': 'CPUExecutionProvider', 'paritas.partition': 'CPUExecutionProvider', 'paritas.evidence': 'context model, profile, op trace'}
  $ paritas placement attention.onnx $files --quiet --annotated annotated
  paritas: annotated: exists already; choose another name or pass --force
  [2]

What a pin would touch is known before anything runs.

  $ paritas placement detr_mini.onnx --pin Softmax=CPU | grep -A9 '^Before'
  Before         Softmax=CPU touches 14 nodes of the source graph: /enc/blocks.0/attn/Softmax,
                 /enc/blocks.1/attn/Softmax, /enc/blocks.2/attn/Softmax, /enc/aifi/Softmax,
                 /dec/layers.0/sa/Softmax, /dec/layers.0/ca/Softmax, /dec/Softmax,
                 /dec/layers.1/sa/Softmax, /dec/layers.1/ca/Softmax, /dec/Softmax_1,
                 /dec/layers.2/sa/Softmax, /dec/layers.2/ca/Softmax, /dec/Softmax_2,
                 /dec/lqe.2/Softmax

What does not go together is said before anything runs.

  $ paritas placement attention.onnx
  paritas: paritas placement: nothing says where the model ran; give --target, or evidence files: --profile, --op-trace, --cycles, --context
  [2]
  $ paritas placement attention.onnx --target cpu --profile evidence/profile.json
  paritas: --target: evidence files are of another session than the one that would be run; give either --target or --profile, --op-trace, --cycles and --provider
  [2]
  $ paritas placement attention.onnx --target cpu --input x=x.npy --pin Softmax=CPU
  paritas: --pin: cpu cannot pin operator types; qnn:htp can
  [2]
  $ paritas placement attention.onnx --pin Softmax=GPU
  paritas: --pin Softmax=GPU: nodes cannot be pinned to "GPU"; only to CPU
  [2]
  $ paritas placement attention.onnx $files --require all
  paritas: --require all: is not PERCENT% or PATTERN=PERCENT%; for example: --require 100%, --require '/enc/*=100%', --require 'op:Conv=90%'
  [2]
  $ paritas placement attention.onnx $files --against evidence/profile.json
  paritas: evidence/profile.json: is no result of paritas placement; give a file that `paritas placement --json` wrote
  [2]
  $ paritas placement attention.onnx --profile evidence/qnn_cycles.csv
  paritas: evidence/qnn_cycles.csv: not valid JSON (The JSON document has an improper structure: missing or superfluous commas, braces, missing keys, etc.); the file is damaged or cut off: save it again
  [2]
  $ paritas placement attention.onnx --cycles evidence/profile.json
  paritas: evidence/profile.json: has no column "Message" in its first line; give the CSV that the QNN provider wrote (profiling_level=detailed)
  [2]
  $ paritas placement attention.onnx --op-trace evidence/profile.json
  paritas: evidence/profile.json: expected an object that holds "schema_version"
  [2]
  $ paritas placement attention.onnx --context attention.onnx
  paritas: attention.onnx: holds no EPContext node; give the model that ep.context_enable wrote
  [2]
  $ paritas placement attention.onnx $files --gate 'y: cosine>=0.99'
  paritas: --gate: gates are for outputs of a pinned session; give --target and --pin
  [2]

Names alone prove nothing. A profile of a model that calls other operators by the same names is another model's; where only some
differ, they are named and the profile is not believed about them.

  $ "$PYTHON" - <<'END'
  > import json, onnx
  > def profile(file, ops):
  >     nodes = [{"cat": "Node", "name": name + "_kernel_time", "dur": 5, "ph": "X", "ts": 1, "pid": 1, "tid": 1,
  >               "args": {"op_name": op, "provider": "QNNExecutionProvider", "output_size": "4", "activation_size": "4"}}
  >              for name, op in ops]
  >     json.dump([{"cat": "Session", "name": "model_run", "dur": 9, "ph": "X", "ts": 1, "pid": 1, "tid": 1, "args": {}}] + nodes, open(file, "w"))
  > names = ["/q/MatMul", "/q/Add", "/q/Relu", "/attn/Softmax", "/out/MatMul", "/out/Add"]
  > profile("other.json", [(name, "Conv") for name in names])
  > profile("mostly.json", list(zip(names, ["QLinearMatMul", "QLinearAdd", "Relu", "Softmax", "MatMul", "Conv"])))
  > model = onnx.load("attention.onnx")
  > model.graph.node[0].name = model.graph.node[4].name = "twice"
  > onnx.save(model, "twice.onnx")
  > profile("twice.json", [("twice", "MatMul"), ("/q/Add", "Add")])
  > END
  $ paritas placement attention.onnx --profile other.json
  paritas: other.json: is of another model: 0 of its 6 node names lead to a node of attention.onnx ("/attn/Softmax" has another operator than Softmax); give the evidence of a session with this model
  [2]
  $ paritas placement attention.onnx --profile mostly.json | grep -E 'INVALID|contradict|another operator'
  INVALID   contradictory evidence: the profile has another operator than the model for 1 node ("/out/Add" is Conv there and Add in the model), and is not believed about it
  Finding   Two sources contradict each other: the profile has another operator than the model for 1
  $ paritas placement twice.onnx --profile twice.json | grep -E '^(twice|/q/Add|note)'
  note: a name is used by several nodes of the model, so that no place is known by it: twice

ONNX Runtime's CPU provider runs convolutions in a blocked layout, under names made from tensors. They lead back to the model.

  $ paritas placement conv.onnx --profile evidence/profile_nchwc.json --json nchwc.json | sed -n '/^evidence/,/^$/p'
  evidence  names that map  says
  profile         12 of 12  2 runs: 13 nodes one by one
  
  $ "$PYTHON" - << 'PY'
  > import json
  > p = json.load(open("nchwc.json"))["placement"]
  > for n in p["nodes"]: print(n["name"], n["op"], n["place"], n["evidence"], n["seen_as"])
  > print(p["made_up"], p["unmapped"], p["contradictions"])
  > PY
  /stem/Conv Conv planned cpu ['profile'] ['r0_nchwc']
  /stem/Relu Relu planned cpu ['profile'] ['r0_nchwc']
  /stem/MaxPool MaxPool planned cpu ['profile'] ['p0_nchwc']
  /block/Conv Conv planned cpu ['profile'] ['c1_nchwc']
  /block/Sigmoid Sigmoid planned cpu [] []
  /block/Mul Mul planned cpu ['profile'] ['/block/Mul/QuickGeluFusion/']
  /block/Add Add planned cpu ['profile'] []
  c2 Conv planned cpu ['profile'] ['c2_nchwc']
  /skip/Conv Conv planned cpu ['profile'] ['c3_nchwc']
  /skip/Add Add planned cpu [] []
  /skip/Relu Relu planned cpu [] []
  /head/Concat Concat planned cpu ['profile'] []
  /head/Resize Resize planned cpu ['profile'] ['big_nchwc']
  /head/Pool GlobalAveragePool planned cpu ['profile'] ['g_nchwc']
  /head/Flatten Flatten planned cpu ['profile'] []
  /head/Gemm Gemm planned cpu ['profile'] []
  1 [] []

An operator of another kind under such a name is not believed.

  $ sed 's/"op_name" : "MaxPool"/"op_name" : "Conv"/' evidence/profile_nchwc.json > other.json
  $ paritas placement conv.onnx --profile other.json | head -1
  INVALID   contradictory evidence: the profile has another operator than the model for 1 node ("p0_nchwc" is Conv there and MaxPool in the model), and is not believed about it

What the documentation shows is what is printed.

  $ paritas placement attention.onnx $files --planned op:Softmax > text
  $ "$PYTHON" "$CASES"/data/shown_output.py "$CASES"/../../docs/placement.md "paritas placement attention.onnx" text
  as shown
