"""
Enlarge a photograph
====================

`SuperResolution` makes pictures two, three or four times as large. Its model is part of the package:
nothing need be trained.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"

# %%
# To see what enlarging is worth, a photograph is made three times smaller first. An eye
# of the cat is shown below.

large = np.asarray(Image.open(PHOTOGRAPHS / "chelsea.png"))[:300, :450].astype(float)
small = sparsemble.imresize(large, 1 / 3)

results = {
    "nearest pixel": small.repeat(3, axis=0).repeat(3, axis=1),
    "bicubic": sparsemble.SuperResolution(3, method="bicubic", n_threads=2).upscale(small),
    "anchored": sparsemble.SuperResolution(3, n_threads=2).upscale(small),
    "the original": large,
}

# %%
# The PSNR is that of the whole picture, without a border of three pixels.

figure, axes = plt.subplots(2, 2, figsize=(8, 7.4), layout="constrained")
for axis, (name, picture) in zip(axes.flat, results.items(), strict=True):
    inner = np.s_[3:-3, 3:-3]
    quality = "" if picture is large else f": {sparsemble.psnr(large[inner], picture[inner]):.2f} dB"
    axis.imshow(picture[60:180, 130:270].clip(0, 255).round().astype(np.uint8), interpolation="nearest")
    axis.set_title(name + quality)
    axis.set_axis_off()
plt.show()
