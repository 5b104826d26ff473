A reference that moves by itself
================================

  $ [ -d "$MODELS/smart-turn" ] || exit 80  # skip: needs the shared model smart-turn (PARITAS_TEST_MODELS)

An INT8 network of a vendor: with the optimiser of the runtime on it answers 0.0366, without it 0.0495. Either is the reference's
right; so no difference below 9 dB tells anything, whatever the device.

  $ locate() { paritas locate "$MODELS"/smart-turn/smart-turn-v3.2-cpu.onnx --input input_features="$MODELS"/smart-turn/inputs/cut_off.npy "$@"; }
  $ locate --reference cpu,opt=all --device cpu --gate 'logits: sqnr_db>=20' --consistency --json noise.json > text 2> /dev/null; echo "[$?]"
  [1]
  $ head -2 text
  INVALID   logits: cannot tell: sqnr_db * < 20, and reference optimisation alone is no nearer (sqnr_db * < 20) (glob)
  
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("noise.json"))
  > print(8 < r["outputs"][0]["noise_floor"]["sqnr_db"] < 11, r["outputs"][0]["noise_floor"]["check"])
  > print([(p["format"], p["computed"]) for p in r["consistency"]["reference_precision"]])
  > print([(f["id"], f["severity"]) for f in r["findings"]])
  > print(r["probe_effect"][0]["changed"])  # quantised weights are not folded, so marks leave the network what it is
  > PY
  True reference optimisation
  [('uint8', True), ('int8', False), ('int32', False)]
  [('reference-noise', 'note')]
  False

A gate that the noise keeps stands.

  $ locate --reference cpu,opt=all --device cpu --gate 'logits: sqnr_db>=5' --consistency --json kept.json > text 2> /dev/null; echo "[$?]"
  [0]
