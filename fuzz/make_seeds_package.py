"""make_seeds_package.py PACKAGE: seeds of the package target, from a package that paritas split wrote."""

import json
import sys
from pathlib import Path

package, corpus = Path(sys.argv[1]), Path(__file__).parent / "corpus" / "package"
corpus.mkdir(parents=True, exist_ok=True)
manifest = json.loads((package / "manifest.json").read_text())
manifest["verification"] = None  # long, and not read into
(corpus / "manifest").write_text(json.dumps(manifest, indent=0))
manifest["parts"][0]["sha256"] = "0"
(corpus / "two_hashes").write_text(json.dumps(manifest, indent=0))
(corpus / "sums").write_text((package / "SHA256SUMS").read_text())
(corpus / "sums_damaged").write_text((package / "SHA256SUMS").read_text().replace("  ", " "))
for i, target in enumerate(["qnn:htp,soc_model=77,htp_arch=73", "ort:X,library=/a/b.so,a=\"1,2\"", "cpu,opt=all,threads=8"]):
    (corpus / f"target_{i}").write_text(target)
