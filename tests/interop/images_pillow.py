"""Checks decoding, resizing and whole pipelines against Pillow and numpy, byte for byte.

images_pillow.py PATH_OF_IMAGE_TOOL SOURCE_FOLDER
Photos and the tensors made of them are looked for in PARITAS_TEST_MODELS, else in SOURCE_FOLDER/../shared/models."""

import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib
from pathlib import Path

try:
    import numpy as np
    import PIL
    from PIL import Image
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

warnings.simplefilter("ignore")  # Pillow's, about palettes with transparency
FILTERS = {"nearest": 0, "box": 4, "bilinear": 2, "hamming": 5, "bicubic": 3, "lanczos": 1}


class Tool:
    def __init__(self, program, folder):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.out = folder / "out"

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        state, _, answer = self.process.stdout.readline().rstrip("\n").partition(" ")
        assert state in ("ok", "error"), f"the tool ended at {words}"
        return state == "ok", answer

    def decode(self, path):
        good, answer = self.ask("decode", path, self.out)
        assert good, answer
        width, height, orientation = map(int, answer.split())
        return np.fromfile(self.out, np.uint8).reshape(height, width, 3), orientation

    def resize(self, size, name, box):
        good, answer = self.ask("resize", *size, name, *(box or (-1, -1, -1, -1)), self.out)
        assert good, answer
        return np.fromfile(self.out, np.uint8).reshape(size[1], size[0], 3)

    def prepare(self, path, pipeline):
        declaration = self.out.with_name("pipeline.json")
        declaration.write_text(json.dumps(pipeline))
        good, answer = self.ask("prepare", path, declaration, self.out)
        assert good, answer
        dtype, shape, digest, record = answer.split(" ", 3)
        data = self.out.read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        return np.frombuffer(data, dtype).reshape(json.loads(shape)), json.loads(record)


def same(ours, theirs, what):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, f"{what}: {ours.dtype} {ours.shape}, {theirs.dtype} {theirs.shape}"
    if ours.tobytes() != theirs.tobytes():
        differs = np.argwhere(ours != theirs)
        at = tuple(differs[0])
        raise AssertionError(f"{what}: {len(differs)} differ, first at {at}: {ours[at]} instead of {theirs[at]}")


def texture(generator, width, height, channels):
    """Smooth colours with noise, so that both flat and busy blocks are met; every third is pure noise."""
    if generator.integers(3) == 0:
        return generator.integers(0, 256, (height, width, channels), dtype=np.uint8)
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 90 * np.sin(x / (3 + c * 5) + c) + 60 * np.cos(y / (4 + c * 3)) for c in range(channels)]
    noise = generator.normal(0, 12, (height, width, channels))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


# --- PNG by hand, since Pillow does not write every kind

ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(samples, depth):
    """samples: height x width x channels, integers below 2 ** depth."""
    if 0 in samples.shape:
        return b""
    bits = ((samples.reshape(samples.shape[0], -1)[..., None] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8)
    rows = np.packbits(bits.reshape(samples.shape[0], -1), axis=1)
    return b"".join(b"\0" + row.tobytes() for row in rows)


def png(samples, depth, colour, palette=None, transparent=None, interlaced=False):
    height, width = samples.shape[:2]
    if interlaced:
        data = b"".join(packed_rows(samples[y::dy, x::dx], depth) for x, y, dx, dy in ADAM7)
    else:
        data = packed_rows(samples, depth)
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced)))
    if palette is not None:
        content += chunk(b"PLTE", palette)
    if transparent is not None:
        content += chunk(b"tRNS", transparent)
    return content + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


PNG_KINDS = [(0, d, 1) for d in (1, 2, 4, 8, 16)] + [(2, 8, 3), (2, 16, 3), (4, 8, 2), (4, 16, 2), (6, 8, 4), (6, 16, 4)]
PNG_KINDS += [(3, d, 1) for d in (1, 2, 4, 8)]
TRANSPARENT = {0: b"\0\1", 2: b"\0\1\0\2\0\3", 3: b"\0\x80"}


def check_file(tool, path, content, what):
    path.write_bytes(content)
    ours, _ = tool.decode(path)
    same(ours, np.asarray(Image.open(io.BytesIO(content)).convert("RGB")), what)


def check_png(tool, folder, generator):
    checked = 0
    for colour, depth, channels in PNG_KINDS:
        for width, height in ((1, 1), (7, 3), (33, 18), (64, 5)):
            for interlaced in (False, True):
                for transparent in (None, TRANSPARENT.get(colour)):
                    samples = generator.integers(0, 2**depth, (height, width, channels))
                    if colour == 0 and depth == 16 and width == 33:
                        samples %= 300  # 16-bit grey is clipped at 255: both sides of it
                    palette = generator.bytes(3 * 2**depth) if colour == 3 else None
                    what = f"PNG colour type {colour}, {depth} bits, {width}x{height}, {interlaced=}, {transparent=}"
                    check_file(tool, folder / "x.png", png(samples, depth, colour, palette, transparent, interlaced), what)
                    checked += 1
    for mode in ("1", "L", "LA", "RGB", "RGBA", "P"):  # with Pillow's row filters
        picture = Image.fromarray(texture(generator, 53, 41, 4), "RGBA").convert("RGB" if mode == "P" else "RGBA").convert(mode)
        out = io.BytesIO()
        picture.save(out, "PNG")
        check_file(tool, folder / "x.png", out.getvalue(), f"PNG of mode {mode}")
        checked += 1
    return checked


def check_jpeg(tool, folder, generator):
    checked = 0
    # Pillow's subsampling: 0 = 4:4:4, 1 = 4:2:2, 2 = 4:2:0
    for subsampling in (0, 1, 2, "4:1:1"):
        for quality in (5, 50, 90, 100):
            for width, height in ((1, 1), (2, 1), (1, 9), (8, 8), (17, 16), (33, 47), (100, 31)):
                options = [{}, {"progressive": True}, {"restart_marker_blocks": 2}, {"optimize": True}]
                for extra in options:
                    out = io.BytesIO()
                    Image.fromarray(texture(generator, width, height, 3)).save(
                        out, "JPEG", quality=quality, subsampling=subsampling, **extra)
                    what = f"JPEG {subsampling}, quality {quality}, {width}x{height}, {extra}"
                    check_file(tool, folder / "x.jpg", out.getvalue(), what)
                    checked += 1
    # Pillow does not write these: the sampling factors in the header of another picture with as many blocks.
    for written, size, header, factors in ((1, (32, 32), (64, 16), 0x12), (1, (32, 32), (32, 32), 0x12), (2, (16, 32), (8, 64), 0x14),
                                           (2, (40, 32), (80, 16), 0x41)):
        out = io.BytesIO()
        Image.fromarray(texture(generator, *size, 3)).save(out, "JPEG", quality=85, subsampling=written)
        content = bytearray(out.getvalue())
        at = content.index(b"\xff\xc0") + 5
        content[at : at + 4] = struct.pack(">HH", header[1], header[0])
        content[at + 6] = factors
        try:
            Image.open(io.BytesIO(content)).load()
        except OSError:
            raise AssertionError(f"the picture with sampling {factors:#x} was made wrongly") from None
        check_file(tool, folder / "x.jpg", bytes(content), f"JPEG with sampling {factors:#x}, {header}")
        checked += 1
    for mode, channels in (("L", 1), ("CMYK", 4)):
        for extra in ({}, {"progressive": True}):
            pixels = texture(generator, 45, 37, channels)
            out = io.BytesIO()
            Image.fromarray(pixels[..., 0] if channels == 1 else pixels, mode).save(out, "JPEG", quality=80, **extra)
            check_file(tool, folder / "x.jpg", out.getvalue(), f"JPEG of mode {mode}, {extra}")
            checked += 1
            if mode == "CMYK":
                content = out.getvalue()
                at = content.index(b"Adobe") - 4
                check_file(tool, folder / "x.jpg", content[:at] + content[at + 16 :], "CMYK JPEG without Adobe marker")
    out = io.BytesIO()
    Image.fromarray(texture(generator, 40, 24, 3)).save(out, "JPEG", keep_rgb=True)
    check_file(tool, folder / "x.jpg", out.getvalue(), "JPEG that holds RGB")
    return checked + 1


def check_orientation(tool, folder, generator):
    picture = Image.fromarray(texture(generator, 12, 10, 3))
    for name in ("x.jpg", "x.png"):
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x010F] = "maker"
            exif[0x0112] = orientation
            picture.save(folder / name, exif=exif)
            ours, told = tool.decode(folder / name)
            same(ours, np.asarray(Image.open(folder / name).convert("RGB")), f"{name} with orientation {orientation}")
            assert told == orientation, f"{name}: orientation {told} instead of {orientation}"


def check_damage(tool, folder, generator):
    """Cut anywhere, a file is refused; never a picture with a part missing."""
    cut = 0
    picture = Image.fromarray(texture(generator, 60, 50, 3))
    for name, extra in (("x.jpg", {}), ("x.jpg", {"progressive": True}), ("x.png", {})):
        picture.save(folder / name, **extra)
        content = (folder / name).read_bytes()
        for keep in [*range(0, len(content), max(1, len(content) // 60)), len(content) - 3, len(content) - 1]:
            (folder / name).write_bytes(content[:keep])
            good, answer = tool.ask("decode", folder / name, tool.out)
            assert not good and str(folder / name) in answer, f"{name} {extra} cut at {keep}: {answer}"
            cut += 1
    return cut


def check_resize(tool, folder, generator):
    checked = 0
    sizes = [(1, 1), (1, 7), (9, 1), (2, 3), (13, 8), (31, 57), (120, 33), (200, 150), (90, 301)]
    for source in sizes:
        pixels = texture(generator, *source, 3)
        if source == (31, 57):
            pixels = np.where(pixels > 127, 255, 0).astype(np.uint8)  # overshoot at both ends
        picture = Image.fromarray(pixels)
        picture.save(folder / "r.png")
        same(tool.decode(folder / "r.png")[0], pixels, "round trip")
        targets = [*sizes, source, (source[0], 5), (6, source[1]), *(tuple(generator.integers(1, 260, 2)) for _ in range(6))]
        for target in targets:
            target = tuple(map(int, target))
            for name, code in FILTERS.items():
                corners = np.sort(generator.uniform(0, 1, (2, 2)), axis=0) * source
                fraction = tuple(float(v) for v in corners.astype(np.float32).ravel())
                left, top = (int(v) for v in np.floor(corners[0]))
                whole = (left, top, max(left + 1, int(corners[1][0])), max(top + 1, int(corners[1][1])))
                for box in (None, whole, fraction, (0, 0, *target) if target <= source and target[1] <= source[1] else None):
                    theirs = np.asarray(picture.resize(target, code, box=box))
                    same(tool.resize(target, name, box), theirs, f"{source} -> {target}, {name}, box {box}")
                    checked += 1
    for source, target in (((640, 1138), (224, 224)), ((640, 1138), (224, 306)), ((640, 1138), (224, 307)), ((1000, 3), (5, 1)),
                           ((3000, 40), (700, 33)), ((40, 3000), (33, 700))):  # large; both sides of a change of pass order
        picture = Image.fromarray(texture(generator, *source, 3))
        picture.save(folder / "r.png")
        tool.decode(folder / "r.png")
        for name, code in FILTERS.items():
            same(tool.resize(target, name, None), np.asarray(picture.resize(target, code)), f"{source} -> {target}, {name}")
            checked += 1
    return checked


# --- pipelines


def numpy_steps(pixels, pipeline):
    """The declared steps behind the resize, in numpy's float32."""
    array = pixels[..., ::-1] if pipeline.get("colour") == "bgr" else pixels
    if pipeline.get("dtype") != "uint8":
        array = array.astype(np.float32)
        if "divide_by" in pipeline:
            array = array / np.float32(pipeline["divide_by"])
        elif "scale" in pipeline:
            array = array * np.float32(pipeline["scale"])
        array = array - np.array(pipeline.get("mean", 0), np.float32)
        if "inverse_std" in pipeline:
            array = array * np.array(pipeline["inverse_std"], np.float32)
        else:
            array = array / np.array(pipeline.get("std", 1), np.float32)
        assert array.dtype == np.float32
    if "quantise" in pipeline:
        q = pipeline["quantise"]
        steps = array / np.float32(q["scale"])
        inside = q.get("zero_point_order") == "inside"
        if inside:
            steps = steps + np.float32(q["zero_point"])
        whole = np.rint(steps)
        if q.get("rounding") == "half_away":
            whole = np.trunc(steps.astype(np.float64) + np.copysign(0.5, steps))
        whole = whole.astype(np.float64) + (0 if inside else q["zero_point"])
        limits = np.iinfo(q["dtype"])
        array = np.clip(whole, limits.min, limits.max).astype(q["dtype"])
    if pipeline.get("layout", "NCHW") == "NCHW":
        array = array.transpose(2, 0, 1)
    return np.ascontiguousarray(array[None])


STEPS = [
    {"divide_by": 255},
    {"scale": 1 / 255, "layout": "NHWC"},
    {"dtype": "uint8", "layout": "NHWC", "colour": "bgr"},
    {"mean": 127, "std": 128},
    {"divide_by": 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225], "colour": "bgr"},
    {"scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "inverse_std": [1 / 0.229, 1 / 0.224, 1 / 0.225]},
    {"mean": 127, "std": 128, "quantise": {"dtype": "int8", "scale": 0.006681320257484913, "zero_point": -10}},
    {"divide_by": 255, "quantise": {"dtype": "uint8", "scale": 1 / 51, "zero_point": 3, "rounding": "half_away"}},
    {"std": 2, "quantise": {"dtype": "int16", "scale": 1, "zero_point": 7, "zero_point_order": "inside"}},
    {"std": 2, "quantise": {"dtype": "uint16", "scale": 1, "zero_point": 7, "rounding": "half_away"}},
]


def letterbox(picture, width, height, code, pad, top_left=False):
    ratio = min(height / picture.height, width / picture.width)
    new = (max(1, round(picture.width * ratio)), max(1, round(picture.height * ratio)))
    canvas = np.full((height, width, 3), pad, np.uint8)
    left, top = (0, 0) if top_left else ((width - new[0]) // 2, (height - new[1]) // 2)
    canvas[top : top + new[1], left : left + new[0]] = np.asarray(picture.resize(new, code))
    return canvas, (left, top)


def short_side(picture, side, width, height, code):
    """torchvision's Resize(side) and CenterCrop((height, width)) on a Pillow image."""
    w, h = picture.size
    new = (side, int(side * h / w)) if w <= h else (int(side * w / h), side)
    resized = np.asarray(picture.resize(new, code))
    top, left = round((new[1] - height) / 2), round((new[0] - width) / 2)
    return resized[top : top + height, left : left + width]


def check_pipelines(tool, folder, generator):
    checked = 0
    for source in ((61, 47), (40, 93), (50, 50), (7, 120)):
        picture = Image.fromarray(texture(generator, *source, 3))
        picture.save(folder / "p.png")
        for number, steps in enumerate(STEPS):
            name, code = list(FILTERS.items())[number % len(FILTERS)]
            bgr = steps.get("colour") == "bgr"
            pad = [10, 20, 30]
            boxed, (left, top) = letterbox(picture, 48, 32, code, pad[::-1] if bgr else pad)
            side = 33 + number
            cases = [
                ({}, np.asarray(picture), None),
                ({"resize": {"width": 48, "height": 32, "filter": name}}, np.asarray(picture.resize((48, 32), code)), None),
                ({"resize": {"mode": "letterbox", "width": 48, "height": 32, "filter": name, "pad_value": pad}}, boxed, (left, top)),
                ({"resize": {"mode": "letterbox", "width": 31, "height": 64, "filter": name, "placement": "top_left"}},
                 letterbox(picture, 31, 64, code, 114, True)[0], (0, 0)),
                ({"resize": {"mode": "short_side", "short_side": side, "width": 30, "height": 28, "filter": name}},
                 short_side(picture, side, 30, 28, code), None),
                ({"crop": {"box": [1, 3, 7, 40]}, "resize": {"width": 9, "height": 20, "filter": name}},
                 np.asarray(picture.crop((1, 3, 7, 40)).resize((9, 20), code)), None),
                ({"crop": {"box": [0.25, 3.5, 6.75, 40], "edges": "beyond"}, "resize": {"width": 9, "height": 20, "filter": name}},
                 np.asarray(picture.resize((9, 20), code, box=(0.25, 3.5, 6.75, 40))), None),
            ]
            for geometry, pixels, pad_offset in cases:
                tensor, record = tool.prepare(folder / "p.png", {**geometry, **steps})
                same(tensor, numpy_steps(pixels, {**geometry, **steps}), f"{source}, {geometry}, {steps}")
                assert (record["width"], record["height"]) == source
                if pad_offset is not None:
                    assert (record["pad"]["left"], record["pad"]["top"]) == pad_offset
                checked += 1
    return checked


def check_photos(tool, models):
    """The tensors of the published networks, from the photos that they were made of."""
    photos, checked = models / "photos", 0
    for path in sorted([*photos.glob("*.jpg"), *photos.glob("*.png")]):
        same(tool.decode(path)[0], np.asarray(Image.open(path).convert("RGB")), path.name)
        checked += 1

    def resized(width, height, name="bilinear", **more):
        return {"resize": {"width": width, "height": height, "filter": name}, **more}

    centre = {"centre": 0.875, "edges": "beyond"}
    lite0 = resized(224, 224, "bicubic", mean=127, std=128)
    tflite = {**lite0, "crop": {"centre": 0.875}, "layout": "NHWC"}
    w8a8 = {"dtype": "int8", "scale": 0.006681320257484913, "zero_point": -10}
    page = Image.open(photos / "page.png").size
    cases = [
        ("chelsea.png", "efficientnet-lite0/inputs/cat_full.npy", lite0),
        ("chelsea.png", "efficientnet-lite0/inputs/cat_center.npy", {**lite0, "crop": centre}),
        ("coffee.png", "efficientnet-lite0/inputs/coffee.npy", {**lite0, "crop": centre}),
        ("rocket.jpg", "efficientnet-lite0/inputs/rocket.npy", {**lite0, "crop": centre}),
        ("chelsea.png", "fastestdet/inputs/cat.npy", resized(352, 352, colour="bgr", divide_by=255)),
        ("astronaut.jpg", "yunet/inputs/astronaut.npy", resized(320, 320, colour="bgr")),
        ("astronaut.jpg", "ulfd-rfb320/inputs/astronaut.npy", resized(320, 240, mean=127, std=128)),
        ("page.png", "ppocrv4-det/inputs/page.npy",
         resized(*(round(v / 32) * 32 for v in page), colour="bgr", divide_by=255, mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])),
        ("page.png", "ppocrv4-rec/inputs/title.npy",
         {"crop": {"box": [4, 11, 294, 37]}, **resized(-(-48 * 290 // 26), 48, colour="bgr", divide_by=255, mean=0.5, std=0.5)}),
    ]
    for photo in ("chelsea.png", "coffee.png", "rocket.jpg"):
        stem = "efficientnet-lite0/tflite-inputs/" + photo[:-4]
        raw = {key: tflite[key] for key in ("crop", "resize", "layout")}
        cases += [(photo, stem + ".f32.npy", tflite), (photo, stem + ".u8.raw", {**raw, "dtype": "uint8"}),
                  (photo, stem + ".i8.raw", {**tflite, "quantise": w8a8})]
    for photo, name, pipeline in cases:
        tensor, _ = tool.prepare(photos / photo, pipeline)
        path = models / name
        expected = np.load(path) if path.suffix == ".npy" else np.fromfile(path, tensor.dtype).reshape(tensor.shape)
        same(tensor, expected, f"{photo} -> {name}")
    return checked + len(cases)


def main():
    program, source = sys.argv[1], Path(sys.argv[2])
    models = Path(os.environ.get("PARITAS_TEST_MODELS", source.parent / "shared" / "models"))
    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tool = Tool(program, folder)
        counts = {
            "PNG": check_png(tool, folder, generator),
            "JPEG": check_jpeg(tool, folder, generator),
            "cut files": check_damage(tool, folder, generator),
            "resizes": check_resize(tool, folder, generator),
            "pipelines": check_pipelines(tool, folder, generator),
        }
        check_orientation(tool, folder, generator)
        if (models / "photos").is_dir():
            counts["photos and their tensors"] = check_photos(tool, models)
        else:
            print(f"SKIPPED in part: the photos are not at {models / 'photos'} (set PARITAS_TEST_MODELS)")
        tool.process.stdin.close()
        assert tool.process.wait() == 0
    print(f"Pillow {PIL.__version__}, numpy {np.__version__}: " + ", ".join(f"{n} {what}" for what, n in counts.items()))


if __name__ == "__main__":
    main()
