"""Writes the small seed files under corpus/project_file. Needs nothing but Python."""

from pathlib import Path

CORPUS = Path(__file__).parent / "corpus/project_file"
HEAD = 'schema = "paritas.project/1"\n'
RECORDINGS = HEAD + '[recordings]\nreference = "a"\ndevice = "b"\n'
TARGETS = HEAD + '[model]\nreference = "m.onnx"\ndims = { n = 1 }\n[targets]\nreference = "cpu"\ndevice = "sim:fp16"\n'

SEEDS = {
    "least": RECORDINGS,
    "run": TARGETS + 'marks = ["f*"]\n[inputs.x]\nfiles = ["1.npy", "2.npy"]\n[inputs.s]\nvalue = [6, 4]\ndtype = "int64"\nshape = [1, 2]\n',
    "image": TARGETS + '[inputs.x]\nimage = "a.jpg"\n[inputs.x.steps]\nresize = { width = 8, height = 4, filter = "box" }\ndivide_by = 255\n',
    "codes": RECORDINGS + '[inputs.x]\nquantisation = { scale = 0.5, zero_point = 3, rounding = "away" }\n[outputs.y]\nrole = "logits"\nquantisation = { scale = [0.5, 1], zero_point = [1, 2], axis = 1 }\n',
    "dump": HEAD + '[recordings.reference]\npath = "a"\nformat = "raw"\ndtype = "uint8"\nshapes = { y = [1, 4] }\ndtypes = { y = "int8" }\noutputs_only = true\n[recordings]\ndevice = "b"\n',
    "gates": RECORDINGS + '[gates]\nnonfinite = "equal"\nprofiles = ["monitor"]\n[[gate]]\ntask = "c*"\nmetric = "map"\nop = ">="\nvalue = 0.5\n',
    "pairing": RECORDINGS + '[pairing]\nnames = "normalised"\naliases = { a = "b" }\nranked = [{ scores = "s", ids = "l" }]\ninputs_unverified = true\n',
    "tasks": RECORDINGS + '[[task]]\ntype = "classification"\noutput = "y"\nvalues = "logits"\nlabels = "l.txt"\n[[task]]\ntype = "command"\ncommand = ["e", "{device}"]\noutputs = ["y"]\n',
    "steps": TARGETS + '[[step]]\ntype = "locate"\nsample = 1\nwhen = "always"\ninjection_seconds = 0.5\n[[step]]\ntype = "size-probe"\ninput = "s"\nboxes = "b"\nformat = "yxyx"\norder = "hw"\n',
    "positions": TARGETS + '[cuts]\nenc = ["f0", "f1"]\n[probes]\npositions = ["z", "a*"]\n',
    "two_sources": TARGETS + '[inputs.x]\nfile = "a"\nimage = "b"\n',
    "both_sides": TARGETS + '[recordings]\ndevice = "b"\n',
    "huge_shape": TARGETS + '[inputs.x]\nfile = "a"\nshape = [4294967296, 4294967296]\n',
    "wrong_types": HEAD + "model = 1\ntargets = []\ninputs = 2\ntask = {}\nstep = 3\n",
    "other_schema": 'schema = "paritas.project/2"\n',
}

CORPUS.mkdir(parents=True, exist_ok=True)
for name, text in SEEDS.items():
    (CORPUS / name).write_text(text)
