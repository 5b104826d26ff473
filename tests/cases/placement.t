Where a model really ran
========================

A small model with a Softmax in the middle, and evidence files of a session in which the Softmax was pinned to the CPU. They
were written by ONNX Runtime and the QNN provider; reading them needs neither.

  $ "$PYTHON" "$CASES/data/placement_models.py"
  $ evidence="$CASES/data/placement"
  $ files="--profile $evidence/profile.json --op-trace $evidence/qnn_op_trace.json --cycles $evidence/qnn_cycles.csv --context $evidence/context.onnx"
  $ paritas placement attention.onnx $files --planned op:Softmax --json all.json

Each node names the sources that say so. The Softmax was planned for the CPU; without `--planned` it fell back.

  $ "$PYTHON" - << 'PY'
  > import json
  > for n in json.load(open("all.json"))["placement"]["nodes"]:
  >     print(n["name"], n["place"], n["partition"], n["evidence"], n["cycles"])
  > PY
  $ paritas placement attention.onnx $files | grep -A4 '^node '

A requirement is a gate.

  $ paritas placement attention.onnx $files --require '/q/*=100%' --require 80% | head -3
  $ paritas placement attention.onnx $files --require 100% > text; echo "[$?]"
  $ head -1 text
  $ paritas placement attention.onnx $files --require '/nowhere/*=100%'

Assignment to a partition does not show that every operation inside ran on the accelerator: what is claimed depends on the
evidence.

  $ paritas placement attention.onnx --context $evidence/context.onnx | grep -A6 'are on QNN'
  $ paritas placement attention.onnx --op-trace $evidence/qnn_op_trace.json --cycles $evidence/qnn_cycles.csv | grep -A6 'are on QNN'

Sources that contradict each other are a finding, and the verdict is invalid.

  $ sed 's|/attn/Softmax|/q/Relu|; s|"op_name" : "Softmax"|"op_name" : "Relu"|' $evidence/profile.json > relu.json
  $ paritas placement attention.onnx --profile relu.json --op-trace $evidence/qnn_op_trace.json > text; echo "[$?]"
  $ head -1 text; grep -A3 '^Finding' text
  $ grep -v EXECUTE $evidence/qnn_cycles.csv > cut.csv; tail -1 cut.csv | cut -d, -f7
  $ sed '/_3_1/,$d' $evidence/qnn_op_trace.json > cut.json
  $ paritas placement attention.onnx --op-trace cut.json

Evidence of another model is refused, and says how many names map.

  $ cp "$EXAMPLES"/detr-mini/detr_mini.onnx .
  $ paritas placement detr_mini.onnx --profile $evidence/profile.json
  $ paritas placement detr_mini.onnx --op-trace $evidence/qnn_op_trace.json
  $ paritas placement detr_mini.onnx --context $evidence/context.onnx

The model with the compiled partitions says where its boundary is, not what is inside.

  $ paritas placement $evidence/context.onnx --op-trace $evidence/qnn_op_trace.json --json opaque.json | grep -A1 -E '^Source|are partitions'

Two placements are compared.

  $ paritas placement attention.onnx $files --planned op:Softmax --against all.json | grep 'same placement'
  $ paritas placement attention.onnx --input x=x.npy --target cpu --against all.json | grep -A9 '^Against'

A provider that takes nothing is refused, whatever it is called.

  $ idle="ort:IdleExecutionProvider,library=$BUILD/tests/libparitas_test_provider_idle.so"
  $ paritas placement attention.onnx --input x=x.npy --target "$idle" > text; echo "[$?]"
  $ head -1 text; grep '^Finding' text

What a pin would touch is known before anything runs.

  $ paritas placement detr_mini.onnx --pin Softmax=CPU | grep -A9 '^Before'

What does not go together is said before anything runs.

  $ paritas placement attention.onnx
  $ paritas placement attention.onnx --target cpu --profile $evidence/profile.json
  $ paritas placement attention.onnx --target cpu --input x=x.npy --pin Softmax=CPU
  $ paritas placement attention.onnx --pin Softmax=GPU
  $ paritas placement attention.onnx $files --require all
  $ paritas placement attention.onnx $files --against $evidence/profile.json
  $ paritas placement attention.onnx --profile $evidence/qnn_cycles.csv
  $ paritas placement attention.onnx --cycles $evidence/profile.json
  $ paritas placement attention.onnx --op-trace $evidence/profile.json
  $ paritas placement attention.onnx --context attention.onnx
  $ paritas placement attention.onnx $files --gate 'y: cosine>=0.99'
