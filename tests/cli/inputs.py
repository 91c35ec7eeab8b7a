"""Small data of every kind of input, with something to learn in them."""

import gzip
import math
import random
import struct

from conftest import write_csv


def series(path, hours=400, seed=1, start=0, gap=None, city=None):
    """Hourly rows time, x, y: y follows its own past and x. Rows after `gap` come a day later."""
    draw = random.Random(seed)
    rows, y = [], 0.0
    for i in range(start + hours):
        x = math.sin(i / 5)
        y = 0.8 * y + x + draw.gauss(0, 0.1)
        hour = i + (24 if gap is not None and i >= gap else 0)
        time = f"2020-01-{1 + hour // 24 % 28:02}T{hour % 24:02}:00:00" if hour < 24 * 28 else f"2020-02-{1 + hour // 24 - 28:02}T{hour % 24:02}:00:00"
        if i >= start:
            rows.append([time, f"{x:.6f}", f"{y:.6f}", *([city] if city else [])])
    return write_csv(path, ["time", "x", "y", *(["city"] if city else [])], rows)


def idx(path, images, labels=None):
    """An IDX file of grey images [[rows of bytes]], gzipped where the name says so, and its labels beside it."""
    opened = gzip.open if path.name.endswith(".gz") else open
    height, width = len(images[0]), len(images[0][0])
    with opened(path, "wb") as file:
        file.write(struct.pack(">IIII", 0x803, len(images), height, width) + bytes(p for image in images for row in image for p in row))
    if labels is not None:
        with opened(path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1")), "wb") as file:
            file.write(struct.pack(">II", 0x801, len(labels)) + bytes(labels))
    return path


def squares(count, seed=1):
    """Images of 8 x 8 with a bright square in the upper (0) or the lower half (1)."""
    draw = random.Random(seed)
    images, labels = [], []
    for i in range(count):
        image = [[draw.randrange(60) for _ in range(8)] for _ in range(8)]
        top, left = 4 * (i % 2), draw.randrange(5)
        for row in range(top + 1, top + 4):
            for column in range(left, left + 3):
                image[row][column] = 220
        images.append(image)
        labels.append(i % 2)
    return images, labels


def cifar(path, count, seed=1, record=3073):
    """CIFAR-10 records whose class, 0 or 1, is red or blue."""
    draw = random.Random(seed)
    data = bytearray()
    for i in range(count):
        planes = [bytes(draw.randrange(100, 200) if plane == 2 * (i % 2) else draw.randrange(60) for _ in range(1024)) for plane in range(3)]
        data += (bytes([i % 2]) + b"".join(planes))[:record]
    path.write_bytes(bytes(data))
    return path


def reviews(path, count, seed=1):
    """Texts whose one telling word stands anywhere; the label is 0 or 1."""
    draw = random.Random(seed)
    others = "the film was a story of people".split()
    rows = []
    for i in range(count):
        words = [draw.choice(others) for _ in range(draw.randrange(1, 7))] + ["good" if i % 2 else "bad"]
        draw.shuffle(words)
        rows.append([" ".join(words) + f" {i}", i % 2])
    return write_csv(path, ["text", "label"], rows)
