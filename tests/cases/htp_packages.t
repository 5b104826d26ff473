Two packages with contexts compiled for the HTP.
================================================

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ MAPS=encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0
  $ split() { paritas split "$1" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy --cut $MAPS --device qnn:htp,soc_model=77,htp_arch=73 --gate 'scores: cosine>=0.9' --quiet --force -o "$2"; }

The provider names the partition anew in every session, so the files differ; the contexts do not. (A shorter name, one in twenty, may
shift what stands behind it: such a one is made again.)

  $ name_size() { "$PYTHON" -c "import json, sys; print(len(json.load(open(sys.argv[1] + '/manifest.json'))['parts'][0]['context']['partition']))" "$1"; }
  $ for package in v1 again; do
  >   for try in 1 2 3 4 5 6; do split detr_mini.onnx $package; [ "$(name_size $package)" -lt 65 ] || break; done
  > done
  $ cmp -s v1/encoder_ctx.onnx again/encoder_ctx.onnx || echo other bytes
  other bytes
  $ paritas compare v1 again | grep -e '^SAME' -e '^CHANGED' -e '^contexts' -e '^note: encoder'
  SAME      Nothing changed that can change what is computed, where, or what an application must do.
  note: encoder: another file, but the context is equal bit for bit, but for the name that the

Another weight in the encoder is another context. What changed in it cannot be told.

  $ "$PYTHON" -c "
  > import onnx, numpy as np
  > from onnx import numpy_helper
  > model = onnx.load('detr_mini.onnx')
  > weight = next(t for t in model.graph.initializer if list(t.dims) == [64, 64, 1, 1])
  > weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(1.25), weight.name))
  > onnx.save(model, 'trained.onnx')"
  $ split trained.onnx later
  $ paritas compare v1 later | sed '/^$/,$d'
  CHANGED   A compiled part changed: encoder had SHA-256 *, has *. Also changed: (glob)
            reference outputs, verification.
            shows           the shipped context has other bytes
            does not show   what changed inside: a context can only be told by its hash, and other
                            bytes need not compute otherwise
            next            judge the second package by its own gates: paritas verify DIR2
  $ paritas compare v1 later | grep -e '^contexts' -e '^note: encoder'
  contexts: encoder had SHA-256 *, has * (glob)
  note: encoder is compiled: its inside is the provider's own, so it is told by its hash; other bytes
