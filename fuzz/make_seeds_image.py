"""Writes the small seed files under corpus/image; paritas/image's unit tests read some of them. Needs Pillow and numpy."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

CORPUS = Path(__file__).parent / "corpus" / "image"
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows, interlaced=0, before=b"", end=chunk(b"IEND", b"")):
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
    return SIGNATURE + header + before + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)) + end


def picture(mode="RGB", size=(16, 12)):
    y, x = np.mgrid[0 : size[1], 0 : size[0]]
    planes = np.stack([x * 15, y * 20, (x + y) * 9, 255 - x * 3], -1).astype(np.uint8)
    return Image.fromarray(planes, "CMYK") if mode == "CMYK" else Image.fromarray(planes[..., :3]).convert(mode)


def jpeg(mode="RGB", size=(16, 12), **options):
    out = io.BytesIO()
    picture(mode, size).save(out, "JPEG", **{"quality": 60, "optimize": True, **options})
    return out.getvalue()


def oriented(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif


def claiming(content, width, height):
    """The JPEG with another size in its frame header."""
    at = next(content.index(marker) for marker in (b"\xff\xc0", b"\xff\xc2") if marker in content) + 5
    return content[:at] + struct.pack(">HH", height, width) + content[at + 4 :]


def scans(content):
    """Offsets of the scans (and the tables before each) of a progressive JPEG, and of its end."""
    at = content.index(b"\xff\xc2") + 2
    starts = []
    at += struct.unpack(">H", content[at : at + 2])[0]
    start = at
    while content[at + 1] != 0xD9:
        kind = content[at + 1]
        at += 2 + struct.unpack(">H", content[at + 2 : at + 4])[0]
        if kind == 0xDA:
            while content[at] != 0xFF or content[at + 1] == 0:
                at += 1
            starts.append((start, at))
            start = at
    return starts


PROGRESSIVE = jpeg(progressive=True)
BASELINE = jpeg(subsampling=0)
PALETTE = chunk(b"PLTE", bytes(range(9)))
SEEDS = {
    "jpeg_grey": jpeg("L"),
    "jpeg_444": BASELINE,
    "jpeg_420": jpeg(subsampling=2),
    "jpeg_restart": jpeg(restart_marker_blocks=1),
    "jpeg_progressive": PROGRESSIVE,
    "jpeg_cmyk": jpeg("CMYK", (8, 8)),
    "jpeg_turned": jpeg(exif=oriented(6)),
    "jpeg_cut": BASELINE[:-20],
    "jpeg_no_end": BASELINE[:-2],
    "jpeg_extraneous": BASELINE[:-2] + bytes(40) + BASELINE[-2:],
    "jpeg_lying": claiming(BASELINE, 9000, 9000),
    "jpeg_too_large": claiming(BASELINE, 65000, 65000),
    "jpeg_zero": claiming(BASELINE, 16, 0),
    "jpeg_first_scan_only": PROGRESSIVE[: scans(PROGRESSIVE)[0][1]] + b"\xff\xd9",
    "jpeg_last_scan_missing": PROGRESSIVE[: scans(PROGRESSIVE)[-1][0]] + b"\xff\xd9",
    "png_grey1": png(9, 2, 1, 0, [b"\xa5\x80", b"\x5a\0"]),
    "png_grey2": png(4, 1, 2, 0, [b"\x1b"]),
    "png_grey16": png(3, 1, 16, 0, [b"\0\x07\0\xff\1\0"]),
    "png_grey_alpha": png(2, 1, 8, 4, [b"\x12\0\x34\xff"]),
    "png_rgb": png(2, 2, 8, 2, [bytes(range(6)), bytes(range(100, 106))]),
    "png_rgb16": png(1, 1, 16, 2, [b"\x12\xff\x34\x80\0\xff"]),
    "png_rgba": png(1, 1, 8, 6, [b"\x0a\x14\x1e\0"]),
    "png_palette": png(3, 1, 2, 3, [b"\x18"], before=PALETTE),
    "png_palette_transparent": png(3, 1, 2, 3, [b"\x18"], before=PALETTE + chunk(b"tRNS", b"\0")),
    "png_palette_beyond": png(3, 1, 2, 3, [b"\x1c"], before=PALETTE),
    "png_no_palette": png(3, 1, 2, 3, [b"\x18"]),
    "png_interlaced": png(3, 3, 8, 0, [b"\1", b"\3", b"\7\x09", b"\2", b"\x08", b"\4\5\6"], 1),
    "png_turned": png(1, 1, 8, 0, [b"\7"], before=chunk(b"eXIf", oriented(8).tobytes()[6:])),
    "png_lying": png(9000, 9000, 8, 2, [bytes(6)]),
    "png_too_large": png(65000, 65000, 1, 0, [b"\0"]),
    "png_wide": png(1 << 31, 1, 1, 0, [b"\0"]),
    "png_zero": png(0, 1, 8, 0, [b"\0"]),
    "png_few_rows": png(2, 3, 8, 2, [bytes(6)]),
    "png_no_end": png(1, 1, 8, 0, [b"\7"], end=b""),
    "png_bad_crc": png(2, 2, 8, 2, [bytes(6), bytes(6)])[:-16] + b"\0\0\0\0" + chunk(b"IEND", b""),
    "png_bad_depth": png(1, 1, 16, 3, [b"\0\0"], before=PALETTE),
    "png_short": SIGNATURE + b"\0\0\0\x0dIHDR",
    "gif": b"GIF89a" + bytes(10),
    "empty": b"",
}


def scan_by_scan(components):
    """Sequential with three components, a scan for each number in `components`."""
    grey = jpeg("L", (8, 8), optimize=False)
    frame, scan = grey.index(b"\xff\xc0"), grey.index(b"\xff\xda")
    sof = b"\xff\xc0" + struct.pack(">HBHHB", 17, 8, 8, 8, 3) + b"".join(bytes((c, 0x11, 0)) for c in (1, 2, 3))
    data = grey[scan + 10 : -2]
    parts = [b"\xff\xda\0\x08\1" + bytes((c, 0, 0, 63, 0)) + data for c in components]
    return grey[:frame] + sof + grey[frame + 13 : scan] + b"".join(parts) + b"\xff\xd9"


SEEDS["jpeg_scan_by_scan"] = scan_by_scan((1, 2, 3))
SEEDS["jpeg_component_missing"] = scan_by_scan((1, 2))  # libjpeg would fill it with zeros in silence
SEEDS["jpeg_many_scans"] = scan_by_scan([1, 2] + [3] * 120)

CORPUS.mkdir(parents=True, exist_ok=True)
for name, content in SEEDS.items():
    (CORPUS / name).write_bytes(content)
