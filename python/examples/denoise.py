"""
Take noise out of a photograph
==============================

`denoise` needs the standard deviation of the noise and nothing else: no training, no other pictures. It
groups like patches of the picture and estimates each group as a Gaussian of its own.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import sparsemble

PHOTOGRAPHS = Path(__file__).resolve().parents[2] / "data" / "cc0"

# %%
# Grey levels go from 0 to 255, for floats too. The noise is white, with a standard deviation of 25.

clean = np.asarray(Image.open(PHOTOGRAPHS / "camera.png"))[60:316, 100:356]
sigma = 25.0
noisy = clean + np.random.default_rng(0).normal(0, sigma, clean.shape)

restored = sparsemble.denoise(noisy, sigma, n_threads=2)

# %%
# What was taken out should look like noise. Where it shows edges, detail went with it.

pictures = {
    f"noisy: {sparsemble.psnr(clean, noisy):.1f} dB": noisy,
    f"restored: {sparsemble.psnr(clean, restored):.1f} dB": restored,
    "the photograph": clean,
    "what was taken out": noisy - restored + 128,
}
figure, axes = plt.subplots(2, 2, figsize=(7, 7.4), layout="constrained")
for axis, (title, picture) in zip(axes.flat, pictures.items(), strict=True):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=255)
    axis.set_title(title)
    axis.set_axis_off()
plt.show()
