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
  > [gates]
  > gates = ["logits: sqnr_db>=20"]
  > TOML
  $ paritas check --json loose.json > text; echo "[$?]"
  $ grep -A 6 -E "^Reference" text
  $ grep "^Ran on" text

A gate tighter than that distance proves nothing, whichever way it comes out.

  $ sed -i 's/sqnr_db>=20/sqnr_db>=40/' paritas.toml
  $ paritas check --json tight.json > text; echo "[$?]"
  $ head -1 text
  $ "$PYTHON" - << 'PY'
  > import json
  > for name in ("loose", "tight"):
  >     r = json.load(open(f"{name}.json"))
  >     v = r["reference_variants"]
  >     print(name, r["verdict"], len(v["undecided"]))
  > info = r["comparison"]["reference_info"] if "reference_info" in r["comparison"] else {}
  > o = v["outputs"][0]
  > print(v["declared"].split(":")[0], "/", v["other"].split(":")[0])
  > print(25 < o["sqnr_db"] < 35, o["device_to_declared_db"] < o["sqnr_db"] + 6, o["differing"] > 500)
  > PY

What a recording says of its reference.

  $ for opt in none all; do paritas run pt.onnx --input image=rocket.npy --target cpu,opt=$opt -o $opt --quiet; done
  $ "$PYTHON" -c 'import json; [print(o, json.load(open(f"{o}/run.json"))["options"]) for o in ("none", "all")]'
