Models that draw random numbers
===============================

An operator that draws begins anew in each session, so that a difference between two runs may be the draw, and so may an
agreement. That is known from the graph: no cell of a cross matrix convicts a half of it, and nothing is measured.

  $ "$PYTHON" "$CASES/data/random_models.py"
  $ paritas locate ids.onnx -d sim:fp16 -i x=x.npy --cut a --only-cuts --gate 'ids: differing<=0' --json ids.json
  INVALID   cut "cut-1": ids: cannot tell: depends on "/noise" (RandomUniformLike), drawn anew in every session
            ids: cannot tell: depends on "/noise" (RandomUniformLike), drawn anew in every session
  
  output  reference max  device max  cosine  max abs  note
  ids                                                 * of 4 differ (integers: no cosine) (glob)
  
  Where it ran   float16 (simulated: 6 nodes on CPUExecutionProvider, each result rounded)
  
  Cut "cut-1"   1 tensor, 256 bytes; 2 nodes in front, 1 behind
    front          rear       max  cosine  outcome
    reference      reference    -       -  cannot tell: random operators
    device         reference    -       -  cannot tell: random operators
    reference      device       -       -  cannot tell: random operators
    device         device       -       -  cannot tell: random operators
    device, uncut               -       -  cannot tell: random operators
  
  Note      ids depends on random numbers: "/noise" (RandomUniformLike) draws anew in each session, so
            that what differs may be the draw.
  
  * s in all (glob)
  [1]
  $ "$PYTHON" -c '
  > import json; r = json.load(open("ids.json")); m = r["cross_matrix"][0]
  > print(m["split"], [c["outcome"] for c in m["cells"]], [f["severity"] for f in r["findings"]])'
  random ['cannot tell', 'cannot tell', 'cannot tell', 'cannot tell'] ['note']

The rest of the diagnosis says the same.

  $ paritas locate ids.onnx -d sim:fp16 -i x=x.npy --gate 'ids: differing<=0' > all.txt; echo "[$?]"
  [1]
  $ head -1 all.txt; sed -n '/^Note/,/^$/p' all.txt; grep -c Finding all.txt
  INVALID   ids: cannot tell: depends on "/noise" (RandomUniformLike), drawn anew in every session
  Note      ids depends on random numbers: "/noise" (RandomUniformLike) draws anew in each session, so
            that what differs may be the draw.
  note: what depends on random operators has no accumulated error: it would compare two draws
  
  0
  [1]
  $ paritas locate loop.onnx -d sim:fp16 -i x=x.npy --gate 'y: cosine>=0.99' | head -1
  INVALID   y: cannot tell: depends on "/if" (If with RandomNormalLike inside), drawn anew in every session

With a seed, ONNX Runtime draws alike in the first run of every session of the CPU, and so of the simulator.

  $ paritas locate seeded.onnx -d sim:fp16 -i x=x.npy --cut a --gate 'y: cosine>=0.99' | head -2
  PASS   y: cosine 1 >= 0.99
  
  $ paritas locate seeded.onnx -d sim:fp16 -i x=x.npy --cut a --only-cuts --gate 'y: cosine>=0.99' | sed -n '/^Cut/,/^Note/p'
  Cut "cut-1"   1 tensor, 256 bytes; 2 nodes in front, 1 behind
    front          rear        y max    cosine  outcome
    reference      reference  0.9923         1  equals the whole, bit for bit
    device         reference  0.9923  1.000000  holds
    reference      device     0.9922  1.000000  holds
    device         device     0.9922  1.000000  holds
    device, uncut             0.9922  1.000000  holds
    device's front half: lowest cosine 1.000000 of 1 tensor of the cut, at a
  
  Note      Cut "cut-1" (at a): neither half on the device breaks the outputs, nor do both (y: cosine

With several samples the sessions run more than once, and go on with the sequence.

  $ paritas locate seeded.onnx -d sim:fp16 -i x=x.npy -i x=x.npy --gate 'y: cosine>=0.99' > two.txt; echo "[$?]"
  [1]
  $ head -1 two.txt; sed -n '/^Note/,/^note/p' two.txt; grep 'of 2, ' two.txt | sed 's/invalid.*/invalid/'
  INVALID   y: cannot tell: depends on "/noise" (RandomUniformLike), whose seed makes both sides draw alike only in the first runs of sessions on the CPU (sample-000000)
  Note      On all 2 samples. In sample-000001: y depends on random numbers: "/noise"
            (RandomUniformLike) has a seed, which makes both sides draw alike only in the first runs
            of sessions on the CPU, so that what differs may be the draw.
  note: what depends on random operators has no accumulated error: it would compare two draws
  y       0 of 2, 2 invalid

An output that does not depend on the draw is judged, and its cause is found.

  $ paritas locate mixed.onnx -d sim:fp16 -i x=x.npy --gate 'z: cosine>=0.99' --gate 'y: cosine>=0.99' > mixed.txt; echo "[$?]"
  [1]
  $ head -2 mixed.txt; sed -n '/^First/,/^note/p' mixed.txt
  INVALID   y: cannot tell: depends on "/noise" (RandomUniformLike), drawn anew in every session
            z: 50 of 64 elements are NaN or infinite on the device only
  First divergence   /square; what deviates behind it inherits
  
  Finding   /square (Mul) makes values up to 3.6e+05; float16 ends at 65504, so they are 5.49 times
            too large. Further nodes leave the range behind it: /back.
            shows           injecting this node's device result alone into the reference run moves the
                            outputs as the device does
            does not show   that nothing else is wrong on the device, or how other inputs behave
            next            keep this node's values in range (rescale before it), or run it in a wider
                            type; then run locate again
  Note      y depends on random numbers: "/noise" (RandomUniformLike) draws anew in each session, so
            that what differs may be the draw.
  note: what depends on random operators has no accumulated error: it would compare two draws

Injecting into the reference, draws are fed, so that only the injected error differs.

  $ paritas inject mixed.onnx -i x=x.npy --at 'a: offset(0)' | sed -n '/^Note/,$p'
  Note      Injected into the reference: offset(0) at a (error NMSE 0). No output changes, to the bit.
            shows           it weakens the suspicion against these nodes on these inputs
            does not show   that they are innocent on other inputs: an injection never proves that
