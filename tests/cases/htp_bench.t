An emulation's time is not a device's
=====================================

On a PC the HTP is emulated. Its times are labelled as those of the host wherever they stand, beside the provider's own count of cycles; no
ratio is made of them. The performance mode is burst unless the target says otherwise.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ bench() { paritas bench "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ bench detr_mini.onnx --target qnn:htp,soc_model=77,htp_arch=73 --warm-up 1 --runs 2 --gate 'scores: cosine>=0.99' --json htp.json
  Time of detr_mini.onnx (2 runs after 1 of warm-up)
    model: detr_mini.onnx on qnn:htp,soc_model=77,htp_arch=73
  
  milliseconds * median * p10 * p90 * p95 * min * max (glob)
  model (host time of emulation) * * * * * * (glob)
  
  Cycles     "model": * of the accelerator, * of its operations a run (the provider's own count, which follows the load of the emulating host) (glob)
  Start-up   process and ONNX Runtime * ms, provider's library * ms, session of "model" * ms; ready after * ms; first run * ms (glob)
  Memory     peak * MiB resident, * MiB when the sessions were open (glob)
  Conditions threads 1, inter-op 1, sequential, optimisation all, htp_performance_mode=burst; ONNX Runtime * (glob)
  Machine    other processes kept * of * cores busy; load average * before, * after; too few runs to tell noise (fewer than 8) (glob)
  Results    NOT JUDGED   labels: no gate covers it
             boxes: no gate covers it
             scores: cosine * >= 0.99 (glob)
  note: x86-64 emulation of the HTP: results, not speed
  
  Hand-over between stages is included; decoding of pictures, preprocessing and start-up are not.
  
  Note      Whether what was timed is right was not judged for detr_mini.onnx: labels: no gate covers
            it.
  Note      model of detr_mini.onnx ran on an emulation: its times are those of this host, not of a
            device. The provider's own count: model: * cycles of the accelerator a run. (glob)
  $ "$PYTHON" - << 'PY'
  > import json
  > side = json.load(open("htp.json"))["sides"][0]
  > stage = side["stages"][0]
  > print(stage["emulated"], stage["options"]["htp_performance_mode"], side["conditions"]["performance"])
  > print(stage["placement"], stage["cycles"]["runs"])
  > print(stage["cycles"]["accelerator"] > 0 or stage["cycles"]["operations"] > 0, stage["session_ms"] > 0, stage["provider_ms"] > 0)
  > PY
  True burst htp_performance_mode=burst
  {'requested': 'QNNExecutionProvider', 'on_requested': 842, 'total': 842} 1
  True True True

The broken detector, timed: wrong.

  $ bench detr_mini_fragile.onnx --target qnn:htp,soc_model=77,htp_arch=73,htp_performance_mode=balanced --warm-up 0 --runs 1 \
  > --gate 'scores: cosine>=0.99' --json wrong.json --quiet
  [1]
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("wrong.json"))
  > print(r["sides"][0]["conditions"]["performance"], [f["id"] for f in r["findings"]])
  > PY
  htp_performance_mode=balanced ['timing-of-wrong-results', 'timing-single-run', 'timing-emulated']

Cut at its feature maps it is right, and the shipped context is what is timed.

  $ paritas split detr_mini_fragile.onnx --cut encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0 \
  > --device qnn:htp,soc_model=77,htp_arch=73 --gate 'scores: cosine>=0.99' --no-ledger --quiet -o package \
  > --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy
  $ paritas bench package --warm-up 1 --runs 2 --json package.json | grep -e emulation -e ^decoder -e ^hand-over
  encoder (host time of emulation) * * * * * * (glob)
  decoder * * * * * * (glob)
  hand-over * * * * * * (glob)
  whole chain (host time of emulation) * * * * * * (glob)
  note: x86-64 emulation of the HTP: results, not speed
  Note      encoder of package ran on an emulation: its times are those of this host, not of a device.
  $ "$PYTHON" - << 'PY'
  > import json
  > side = json.load(open("package.json"))["sides"][0]
  > print([(s["name"], s["file"], s["emulated"], s["edited"]) for s in side["stages"]])
  > encoder = side["stages"][0]
  > print(encoder["options"]["session.disable_cpu_ep_fallback"], encoder["cycles"]["accelerator"] > 0, side["stages"][1]["cycles"])
  > print(side["verdict"], [t["name"] for t in side["comparison"]["tensors"] if t["verdict"] == "pass"])
  > PY
  [('encoder', 'package/encoder_ctx.onnx', True, ''), ('decoder', 'package/decoder.onnx', False, '')]
  1 True None
  not judged ['scores', 'images', 'orig_target_sizes']
