The version, and what a wrong command line says: one sentence on standard error, exit code 2.

  $ paritas --version
  paritas 0.1.0
  $ paritas
  paritas: no command was given; there are: run, compare, locate, inject, pieces, explain, placement, bench, check, monitor, split, verify, init, merge, ledger, inspect, targets, import, help
  [2]
  $ paritas --no-such-flag 2>&1 >/dev/null | grep -c '^paritas: '
  1

A word that is no command: the commands, nearest first.

  $ paritas comprae a b
  paritas: "comprae" is not a command; there are: compare, merge, locate, import, run, explain, check, monitor, split, inspect, help, inject, pieces, bench, verify, init, ledger, targets, placement
  [2]

Nothing goes to standard output when the command line is wrong.

  $ paritas frobnicate 2>/dev/null
  [2]

Help is there by either spelling.

  $ paritas help | sed -n '/^Subcommands/,/^$/p'
  Subcommands:
    run                             Run a model on a target and record what it does
    compare                         Compare recordings, tensor by tensor
    locate                          Find where a device stops computing what the reference computes
    inject                          Put an error into the reference run and see what becomes of the outputs
    pieces                          Show where on its input axis a device's Erf, GELU, Sigmoid, Exp and the like err or saturate
    explain                         Explain a bad layer of a quantised network from its weights and recorded values
    placement                       Show where each node of a model really ran, and by which evidence
    bench                           Time a model or a package under recorded conditions, and check that its results are right
    check                           Carry out what a project file declares, and judge it
    monitor                         Follow every layer of two models over a set of samples
    split                           Cut a model into parts, build each for where it runs, and deliver them as a verified package
    verify                          Prove a package anew, from its files alone: hashes, sessions, placement, results
    init                            Write a commented project file for a model
    merge                           Join results of compare --samples into that of the whole
    ledger                          Show which experiments were made on a model, and what came of them
    inspect                         Show what a model, a recording, a tensor file or a dump holds
    targets                         What can run here; for what cannot: why, and what to install
    import                          Make a recording of what another tool wrote
    help                            Show the commands, or the options of one: paritas help COMMAND
  
  $ paritas help > a && paritas --help > b && cmp a b
  $ paritas help init > a && paritas init --help > b && cmp a b && head -2 a
  Write a commented project file for a model
  Usage: paritas init [OPTIONS] model [dump]
  $ paritas help frobnicate 2>&1 | cut -c 1-38
  paritas: "frobnicate" is not a command

Remedies name what the command has: locate knows no declared roles, inject and inspect list tensors.

  $ "$PYTHON" "$CASES/data/small_models.py"
  $ paritas locate square.onnx --input x=x.npy --device sim:fp16 --gate 'role=scores: cosine>=0.99'
  paritas: --gate: no tensor has the role "scores"; name the tensor in the gate, or declare roles in a project file (paritas init); there is: y
  [2]
  $ paritas inject square.onnx --input x=x.npy --at 'wibble: offset(1)'
  paritas: wibble: no float tensor that depends on the input has this name; paritas inspect lists the model's tensors with --verbose; node names do as well
  [2]
  $ paritas run square.onnx --input x=x.npy --dim batch=7 -o out
  paritas: dimension batch = 7: the tensor given for "x" has 1 there; give an input of that size, or leave the dimension out: it follows from the inputs
  [2]
