Two packages: what changed between two releases?
================================================

  $ "$PYTHON" "$CASES"/data/package_models.py
  $ split() { paritas split "$1" --input x=x.npy --cut front=/front/Relu_output_0 --part front=sim:fp16 --part rear="$2" --meaning 'x=eight numbers' --gate 'y: cosine>=0.99' --quiet -o "$3"; }
  $ split net.onnx cpu v1
  $ split net.onnx cpu again
  $ split reexported.onnx cpu reexported
  $ split retrained.onnx cpu retrained
  $ split deeper.onnx cpu,opt=all deeper

Made twice, nothing changed that can matter: dates, times and the command do not.

  $ paritas compare v1 again | sed '/^made/,/^$/d'
  SAME      Nothing changed that can change what is computed, where, or what an application must do.
            Different all the same: files, made, timings.
            shows           parts, contract, gates, samples, reference and figures of both packages
                            are the same in all that is compared
            does not show   that either package holds on this machine: nothing was run
            next            judge the second package by its own gates: paritas verify DIR2
  
  Before  v1, of net.onnx (SHA-256 *), made * (glob)
  After   again, of net.onnx (SHA-256 *), made * (glob)
  
  files (does not matter): 1 changed, 0 added, 0 removed
    file                of                  bytes before  after
    reference/run.json  reference  changed * (glob)
  
  timings (does not matter)
    of  *figure  *before  *after (glob)
    build, front  opening the shipped file  * (glob)
    build, rear   opening the shipped file  * (glob)
    single observations, in seconds; neither package holds rounds of paritas bench
  
  same: contract, weights, graph, contexts, cut, parts, environment, gates, tasks, reference inputs,
    reference outputs, verification, source
  manifests sha256 * and *, * s (glob)

Other names for the same constants, or a Constant node for an initialiser, are no change.

  $ paritas compare v1 reexported | grep -v -e '^  ' -e '^$' -e '^manifests' -e '^Before' -e '^After'
  SAME      Nothing changed that can change what is computed, where, or what an application must do.
  files (does not matter): 3 changed, 0 added, 0 removed
  source (does not matter)
  made (does not matter)
  timings (does not matter)
  same: contract, weights, graph, contexts, cut, parts, environment, gates, tasks, reference inputs,
  note: front: 1 constant under another name with the same values: not counted as changed
  note: front: differs in bytes, not in what is compared: the same graph with the same constants
  note: rear: 1 constant under another name with the same values: not counted as changed
  note: rear: 1 constant moved between initialisers and Constant nodes with the same values: not
  note: rear: differs in bytes, not in what is compared: the same graph with the same constants

Weights that changed have their figures; what the reference and the verification say of it stands beside them.

  $ paritas compare v1 retrained --json retrained.json | sed '/^files/,$d'
  CHANGED   Weights changed: rear: 2 of 2 constants changed, most "rear.weight" (NMSE 0.023, largest
            difference 0.125). Also changed: reference outputs.
            shows           constants of the shipped ONNX parts hold other values
            does not show   what that does to results: nothing was run for this comparison
            next            judge the second package by its own gates: paritas verify DIR2
  
  Before  v1, of net.onnx (SHA-256 *), made * (glob)
  After   retrained, of retrained.onnx (SHA-256 *), made * (glob)
  
  weights
    rear                  type           differing  largest     NMSE
    rear.weight  changed  float32 [8,4]          4   0.1250  2.3e-02
    rear.bias    changed  float32 [4]            1   0.2500  1.2e-02
  
  reference outputs
    tensor     samples  equal    cosine  largest     NMSE  worst in
    y                1      0  0.998315   0.1582  1.0e-02  sample-000000
    feature_0        1      1  1.000000        0  0.0e+00
  
  $ paritas compare v1 retrained --quiet
  [1]
  $ "$PYTHON" -c "import json; d = json.load(open('retrained.json')); print(d['schema'], d['changed'], d['finding']['id'], [c['name'] for p in d['parts'] for c in p['constants']['differing']])"
  paritas.package-diff/1 True package-weights ['rear.weight', 'rear.bias']

Another graph and another target.

  $ paritas compare v1 deeper | sed -n '1,/^$/p;/^graph/,/^$/p;/^parts/,/^$/p'
  CHANGED   The graph of an ONNX part changed: rear: 2 nodes before, 3 after, 1 difference (Sigmoid 0
            -> 1). Also changed: parts, reference outputs.
            shows           operators, attributes or what reads what differ, names and order of nodes
                            left aside
            does not show   that the results differ: another graph may compute the same
            next            judge the second package by its own gates: paritas verify DIR2
  
  graph: rear: 2 nodes before, 3 after, 1 difference (Sigmoid 0 -> 1)
    rear                  before  after
    /rear/Sigmoid  added          Sigmoid
  
  parts
    what                           before  after
    part rear: target              cpu     cpu,opt=all
    part rear: optimisation        none    all
    part rear: nodes of the model  2       3
  

Another cut: what is handed over, and where constants went. Other samples: what is shared.

  $ paritas split net.onnx --input x=x.npy --input x=x2.npy --cut front=product --part front=sim:fp16 --part rear=cpu --gate 'y: cosine>=0.99' --quiet -o later
  $ paritas compare v1 later | sed -n '1,/^$/p;/^contract/,/^$/p;/^weights/,/^$/p;/^cut/,/^$/p;/^reference inputs/,/^$/p'
  CHANGED   What an application gives or gets changed: input x: meaning removed (eight numbers). Also
            changed: graph, cut, parts, reference inputs.
            shows           the manifests declare other inputs, outputs or meanings
            does not show   whether an application has to be changed for it, or that the parts keep
                            what is declared
            next            read the contract of the second package before it replaces the first
  
  contract
    what              before         after
    input x: meaning  eight numbers  -
  
  weights (does not matter)
    front                        type           differing  largest  NMSE
    rear.weight  from part rear  float32 [8,4]
    rear                        type           differing  largest  NMSE
    rear.weight  to part front  float32 [8,4]
  
  cut
    what                         before                               after
    cut 1: in all                1 tensor, 32 bytes                   1 tensor, 16 bytes
    cut 1: feature_0: source     /front/Relu_output_0                 product
    cut 1: feature_0             float32 [1,8], 8 elements, 32 bytes  float32 [1,4], 4 elements, 16 bytes
    cut 1: feature_0: made by    Relu                                 MatMul
    cut 1: feature_0: made from  MatMul                               Relu
    cut 1: feature_0: read by    MatMul                               Add
  
  reference inputs: 1 sample shared, 0 only in the first, 1 only in the second
  

A package that was changed is refused, and what is for recordings does not apply.

  $ printf x >> again/rear.onnx
  $ paritas compare v1 again
  paritas: again/rear.onnx: was changed: its SHA-256 is f0f6b2ccb53a, SHA256SUMS says e581c276dfdc; copy the package again, or split the model again
  [2]
  $ paritas compare v1 reexported --gate 'y: cosine>=0.99'
  paritas: compare: two packages are described, not judged: gates and options of recordings do not apply; leave them out; paritas verify judges a package
  [2]
  $ paritas compare v1 reexported --csv table.csv
  paritas: compare: two packages are described, not judged: gates and options of recordings do not apply; leave them out; paritas verify judges a package
  [2]
