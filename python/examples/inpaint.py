"""
Fill in missing pixels
======================

`inpaint` fills in whatever a mask says is missing: pixels here and there, or strokes across the picture.
Each colour is restored by itself.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"

clean = np.asarray(Image.open(PHOTOGRAPHS / "chelsea.png"))[60:172, 110:270]
height, width = clean.shape[:2]

# %%
# Two masks, True where pixels are missing as in scikit-image: three pixels of four at random, and
# scratches.

scattered = np.random.default_rng(0).random((height, width)) < 0.75

drawing = Image.new("1", (width, height))
pen = ImageDraw.Draw(drawing)
for offset in range(-80, width, 40):
    pen.line([(offset, 0), (offset + 90, height)], fill=1, width=4)
scratches = np.asarray(drawing)

# %%
# Missing pixels may hold anything, also NaN.

figure, axes = plt.subplots(2, 2, figsize=(8, 6.2), layout="constrained")
for row, (name, mask) in zip(
    axes, {"here and there": scattered, "scratches": scratches}.items(), strict=True
):
    seen = np.where(mask[..., None], np.nan, clean)
    restored = sparsemble.inpaint(seen, mask, n_threads=2)

    row[0].imshow(np.where(mask[..., None], 255, clean))
    row[0].set_title(f"{name}: {mask.mean():.0%} missing")
    row[1].imshow(restored.clip(0, 255).round().astype(np.uint8))
    row[1].set_title(f"filled in: {sparsemble.psnr(clean, restored):.1f} dB")
    for axis in row:
        axis.set_axis_off()
plt.show()
