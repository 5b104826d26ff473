How long does it take, and is what was timed right?
===================================================

Times differ from machine to machine; what is said about them does not. Only the sessions that are timed are open meanwhile; the
reference runs afterwards, in another process.

  $ cp "$EXAMPLES"/detr-mini/*.onnx "$EXAMPLES"/detr-mini/*.npy .
  $ bench() { paritas bench "$@" --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy; }
  $ gates() { bench "$@" --gate 'labels: differing<=0' --gate 'boxes: max_abs<=0.01' --gate 'scores: cosine>=0.999'; }
  $ gates detr_mini.onnx --history times.csv --json first.json | sed -n '1,/^Hand-over/p'
  Time of detr_mini.onnx (20 runs after 3 of warm-up)
    model: detr_mini.onnx on cpu
  
  milliseconds * median * p10 * p90 * p95 * min * max (glob)
  model * * * * * * (glob)
  
  Start-up   process and ONNX Runtime * ms, session of "model" * ms; ready after * ms; first run * ms (glob)
  Memory     peak * MiB resident, * MiB when the sessions were open (glob)
  Conditions threads 1, inter-op 1, sequential, optimisation all; ONNX Runtime * (glob)
  Machine    *; load average * before, * after; * (glob)
  Results    PASS   labels: differing 0 <= 0
             boxes: max_abs * <= 0.01 (glob)
             scores: cosine * >= 0.999 (glob)
  
  Hand-over between stages is included; decoding of pictures, preprocessing and start-up are not.
  $ findings() {
  >   "$PYTHON" -c 'import json, sys; print([f["id"] for f in json.load(open(sys.argv[1]))["findings"] if f["id"] != "timing-too-noisy"])' $1
  > }
  $ findings first.json
  []

Without gates nothing says that the results are right.

  $ bench detr_mini.onnx --json bare.json --quiet && findings bare.json
  ['timing-not-judged']

Wrong results make a timing worthless: it is marked, and the exit code says so. What a simulator takes is no device's latency.

  $ bench detr_mini_fragile.onnx --target sim:fp16 --runs 8 --gate 'scores: cosine>=0.99' --json wrong.json > wrong.txt
  [1]
  $ grep -e emulation -e ^Results wrong.txt
  model (host time of emulation) * * * * * * (glob)
  Results    DEVIATES   scores: cosine 0.5249 < 0.99
  Note      model of detr_mini_fragile.onnx ran on an emulation: its times are those of this host, not
  $ findings wrong.json
  ['timing-of-wrong-results', 'timing-emulated']

A single run is an observation: no percentiles, no ratio.

  $ bench detr_mini.onnx --runs 1 --warm-up 0 --json single.json | grep -e '^Time' -e '^milliseconds' -e '^model' -e 'single run'
  Time of detr_mini.onnx (1 run after 0 of warm-up)
  milliseconds * median * p10 * p90 * p95 * min * max (glob)
  model * - * - * - * - * * (glob)
  Note      The time of detr_mini.onnx is that of a single run: an observation for diagnosis.

Two subjects are timed in alternating rounds of one call. Other threads are other conditions: no ratio.

  $ bench detr_mini.onnx detr_mini.onnx --target cpu --target cpu,threads=2 --runs 10 --json two.json --quiet
  $ "$PYTHON" - << 'PY'
  > import json
  > r = json.load(open("two.json"))
  > print([[len(runs) for runs in side["rounds"]] for side in r["sides"]])
  > print(r["ratio"]["value"], r["ratio"]["refused"][0])
  > PY
  [[2, 2, 2, 2, 2], [2, 2, 2, 2, 2]]
  None threads: 1, then 2

The history says what differs from the last round of the same name.

  $ gates detr_mini.onnx --target cpu,opt=basic --runs 8 --history times.csv --json second.json --quiet
  $ "$PYTHON" - << 'PY'
  > import csv, json
  > rows = list(csv.DictReader(open("times.csv")))
  > print([(row["name"], row["optimisation"], row["runs"], row["verdict"]) for row in rows])
  > earlier = json.load(open("second.json"))["earlier"]
  > print(len(earlier), earlier[0]["value"], earlier[0]["refused"][:2])
  > PY
  [('detr_mini.onnx', 'all', '20', 'pass'), ('detr_mini.onnx', 'basic', '8', 'pass')]
  1 None ['target: cpu, then cpu,opt=basic', 'optimisation: all, then basic']
  $ bench detr_mini.onnx --history detr_mini.onnx
  paritas: detr_mini.onnx: its first line is not the header of a history of timings; name another file with --history
  [2]

The same input again and again: do results, memory or time drift?

  $ bench detr_mini.onnx --runs 8 --endure 1 --json long.json --quiet
  $ "$PYTHON" - << 'PY'
  > import json
  > e = json.load(open("long.json"))["sides"][0]["endurance"]
  > print(e["runs"] > 0, e["differing_runs"], e["first_differing_run"], len(e["resident"]) > 0)
  > PY
  True 0 None True

What cannot be timed is refused.

  $ bench detr_mini.onnx --gate 'score: cosine>=0.99'
  paritas: --gate: no tensor is called "score"; there is: labels, boxes, scores
  [2]
  $ bench detr_mini.onnx detr_mini.onnx --endure 5
  paritas: --endure: takes one subject; let each endure in a call of its own
  [2]
  $ paritas bench detr_mini.onnx --input images=images.npy
  paritas: detr_mini.onnx: input "orig_target_sizes" int64 [1,2] was not given; add --input orig_target_sizes=FILE
  [2]
  $ bench detr_mini.onnx --target cpu,inter=2
  paritas: cpu,inter=2: inter=2 has no effect in sequential mode; add mode=parallel, or leave it out
  [2]
  $ bench detr_mini.onnx --runs 0
  paritas: --runs: Value 0 not in range 1 to 100000
  [2]
  $ ls *.csv
  times.csv

A package is timed as it is shipped: all parts in one process, what they hand over stays in memory. Its own reference and gates
judge it; a package that was tampered with is refused.

  $ paritas split detr_mini.onnx --cut encoder=fpn.1.1.2/Mul_output_0,pan.0.1.2/Mul_output_0,pan.1.1.2/Mul_output_0 \
  > --part encoder=cpu,opt=all --part decoder=cpu,opt=all --gate 'scores: cosine>=0.99' --gate 'boxes: max_abs<=1' \
  > --gate 'labels: differing<=0' --no-ledger --quiet -o package \
  > --input images=images.npy --input orig_target_sizes=orig_target_sizes.npy
  $ paritas bench package --runs 8 | sed -n '1,/^Hand-over/p'
  Time of package (8 runs after 3 of warm-up)
    encoder: package/encoder.onnx on cpu,opt=all
    decoder: package/decoder.onnx on cpu,opt=all
  
  milliseconds * median * p10 * p90 * p95 * min * max (glob)
  encoder * * * * * * (glob)
  decoder * * * * * * (glob)
  hand-over * * * * * * (glob)
  whole chain * * * * * * (glob)
  medians of the stages need not add up to that of the chain
  
  Start-up   process and ONNX Runtime * ms, session of "encoder" * ms, session of "decoder" * ms; ready after * ms; first run * ms (glob)
  Memory     peak * MiB resident, * MiB when the sessions were open (glob)
  Conditions threads 1; 1, inter-op 1; 1, sequential; sequential, optimisation all; all; ONNX Runtime * (glob)
  Machine    *; load average * before, * after; * (glob)
  Results    PASS   labels: differing 0 <= 0
             boxes: max_abs * <= 1 (glob)
             scores: cosine * >= 0.99 (glob)
  
  Hand-over between stages is included; decoding of pictures, preprocessing and start-up are not.
  $ paritas bench package --target cpu
  paritas: --target: a package names its own targets; leave it out
  [2]
  $ printf x >> package/decoder.onnx
  $ paritas bench package
  paritas: package/decoder.onnx: was changed: its SHA-256 is *, SHA256SUMS says *; copy the package again, or split the model again (glob)
  [2]
