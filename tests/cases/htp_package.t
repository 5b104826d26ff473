The story that examples/detr-mini/README.md tells after the diagnosis: its commands, and that what it shows is what they print
==============================================================================================================================

  $ cp -r "$EXAMPLES"/detr-mini . && cd detr-mini && export COLUMNS=100
  $ as_shown() { "$PYTHON" "$CASES"/data/shown_output.py README.md "$1" "$2"; }

The whole model on the HTP fails:

  $ paritas check paritas.toml > check.txt 2> /dev/null; echo "[$?]"; as_shown 'paritas check' check.txt
  [1]
  as shown

Split, and verify from the files alone:

  $ paritas split paritas.toml -o package > split.txt 2> /dev/null; echo "[$?]"; as_shown 'paritas split paritas.toml -o package' split.txt
  [0]
  as shown
  $ paritas verify package > verify.txt 2> /dev/null; echo "[$?]"; as_shown 'paritas verify' verify.txt
  [0]
  as shown
  $ (cd package && sha256sum --check --strict --quiet SHA256SUMS); echo "[$?]"
  [0]

Without a vendor stack:

  $ paritas split paritas.toml --part encoder=sim:fp16 --part decoder=cpu,opt=all -o package-sim > sim.txt 2> /dev/null; echo "[$?]"; as_shown 'paritas split paritas.toml --part' sim.txt
  [0]
  as shown

The comparison of shown and printed lines can fail:

  $ sed 's/260 nodes/261 nodes/' split.txt > other.txt; as_shown 'paritas split paritas.toml -o package' other.txt
  not printed there: Part       encoder: encoder_ctx.onnx for qnn:htp,htp_arch=73,soc_model=77, 260 nodes of the model,
  [1]
  $ sed 's/0\.99[0-9]* >=/0.95 >=/' verify.txt > other.txt; as_shown 'paritas verify' other.txt
  not printed there:              of sample-000008); detections: unmatched 0 <= 0; detections: matched_iou_min 0.9978 >=
  [1]
  $ sed '/Premise/d' split.txt > other.txt; as_shown 'paritas split paritas.toml -o package' other.txt
  not printed there: Premise    on the reference, the parts equal the whole bit for bit on 9 samples
  [1]
