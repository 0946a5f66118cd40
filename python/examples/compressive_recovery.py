"""
A photograph from a quarter of its numbers
==========================================

A compressive camera measures each block of 64 pixels by a few random sums of them. `CompressiveRecovery`
finds the picture again from these sums alone, without training.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"

image = np.asarray(Image.open(PHOTOGRAPHS / "camera.png"))[70:230, 130:290]

# %%
# `sense` keeps `ratio` × 64 numbers of each block and nothing else. `first_estimate` takes each block on
# its own; `recover` lets the whole picture and the measurements take turns, so that the blocks leave no
# seams.

figure, axes = plt.subplots(2, 3, figsize=(9, 6.4), layout="constrained")
for row, ratio in zip(axes, (0.25, 0.125), strict=True):
    camera = sparsemble.CompressiveRecovery(ratio=ratio, random_state=0, n_threads=2)
    measurements = camera.sense(image)
    blocks = camera.first_estimate(measurements, image.shape)
    recovered = camera.recover(measurements, image.shape)

    pictures = {
        f"the photograph: {image.size:,} numbers": image,
        f"block by block: {sparsemble.psnr(image, blocks):.1f} dB": blocks,
        f"recovered: {sparsemble.psnr(image, recovered):.1f} dB": recovered,
    }
    for axis, (title, picture) in zip(row, pictures.items(), strict=True):
        axis.imshow(picture, cmap="gray", vmin=0, vmax=255)
        axis.set_title(title)
        axis.set_axis_off()
    row[0].text(5, 152, f"{measurements.size:,} measured", color="white", backgroundcolor="black")
plt.show()

# %%
# Without noise the recovered picture fits its measurements exactly: nothing that was measured is lost.

print(f"largest misfit: {np.abs(camera.sense(recovered) - measurements).max():.1e}")
