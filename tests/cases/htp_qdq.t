A quantised network on a real accelerator stack
===============================================

  $ [ -d "$MODELS/efficientnet-lite0" ] || exit 80  # skip: needs the shared model efficientnet-lite0 (PARITAS_TEST_MODELS)

EfficientNet-Lite0 with QDQ pairs, weights per tensor, on Qualcomm's HTP (emulated). The reference has two answers: the pairs
computed in float as they are written, or fused into integer kernels. Both are settings of ONNX Runtime, recorded, and the
distance between them is shown beside the device's to each.

  $ cp "$MODELS"/efficientnet-lite0/efficientnet-lite0.qdq-pt.onnx pt.onnx
  $ cp "$MODELS"/efficientnet-lite0/inputs/rocket.npy .
  $ cat > paritas.toml << 'TOML'
  > schema = "paritas.project/1"
  > 
  > [model]
  > reference = "pt.onnx"
  > 
  > [inputs.image]
  > file = "rocket.npy"
  > 
  > [targets]
  > reference = "cpu"
  > device = "qnn:htp,soc_model=77,htp_arch=73"
  > 
  > [[gate]]
  > tensor = "logits"
  > metric = "sqnr_db"
  > op = ">="
  > value = 20
  > TOML
  $ paritas check --json loose.json > text; echo "[$?]"
  [0]
  $ grep -A 4 -E "^Reference" text
  Reference  optimisation none, session.disable_quant_qdq 1: QDQ pairs computed in float as written
             its other answer: optimisation all, session.disable_quant_qdq 0: QDQ pairs fused into
               integer kernels
             logits: the reference itself moves, * dB SQNR between them; the device is * dB from (glob)
               the first, * dB from the second (sample-000000) (glob)
  $ grep "^Ran on" text
  Ran on     298 of 300 nodes on QNNExecutionProvider

A gate tighter than that distance convicts only who is farther away than the reference from itself, as the HTP is; the
reference's own other answer is not.

  $ sed -i 's/value = 20/value = 40/' paritas.toml
  $ paritas check --json tight.json > text; echo "[$?]"
  [1]
  $ head -1 text
  DEVIATES   logits: sqnr_db 2* < 40 (glob)
  $ sed -i 's/^device = .*/device = "cpu,opt=all"/' paritas.toml
  $ paritas check --json same.json > text; echo "[$?]"
  [1]
  $ head -1 text
  INVALID   logits: cannot tell: sqnr_db * < 40, and reference optimisation alone is no nearer (sqnr_db * < 40) (glob)
  $ "$PYTHON" - << 'PY'
  > import json
  > for name in ("loose", "tight", "same"):
  >     r = json.load(open(f"{name}.json"))
  >     v = r["reference_variants"]
  >     print(name, r["verdict"], len(v["undecided"]))
  > o = json.load(open("loose.json"))["reference_variants"]["outputs"][0]
  > print(o["sample"], 28 < o["sqnr_db"] < 32, 24 < o["device_to_declared_db"] < 28, 24 < o["device_to_other_db"] < 28)
  > PY
  loose pass 0
  tight deviates 0
  same invalid 1
  sample-000000 True True True

What a recording says of its reference.

  $ for opt in none all; do paritas run pt.onnx --input image=rocket.npy --target cpu,opt=$opt -o $opt --quiet; done
  $ "$PYTHON" -c 'import json; [print(o, json.load(open(f"{o}/run.json"))["options"]) for o in ("none", "all")]'
  none {'session.disable_quant_qdq': '1'}
  all {'session.disable_quant_qdq': '0'}
