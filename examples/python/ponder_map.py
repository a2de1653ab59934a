"""Where did the network think? Draws a photograph, its ponder cost map over it, and the maps of the blocks.

    python3 ponder_map.py MODEL IMAGE [OUT.png]

Each part between "# %%" lines is a cell for editors that run scripts like notebooks.
"""

# %% What is asked for
import sys

import matplotlib

matplotlib.use("Agg")  # draws files, and needs no screen
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageOps

import sact

if len(sys.argv) not in (3, 4):
    sys.exit("usage: ponder_map.py MODEL IMAGE [OUT.png]")
model = sact.load(sys.argv[1])
photograph = ImageOps.exif_transpose(Image.open(sys.argv[2])).convert("RGB")
out = sys.argv[3] if len(sys.argv) == 4 else "ponder_map.png"

# %% The whole picture, so that the map covers all of it
result = model(photograph, whole=True)
print(f"{result.label} {100 * result.score:.1f} %, with {100 * result.share:.1f} % of the dense network's work")

# %% The map over the photograph, and the blocks one by one
figure, axes = plt.subplots(1, 2 + len(result.blocks), figsize=(3 * (2 + len(result.blocks)), 3.4))
pixels = np.asarray(photograph)
height, width = pixels.shape[:2]
axes[0].imshow(pixels)
axes[0].set_title(result.label)
axes[1].imshow(pixels)
shown = axes[1].imshow(
    result.ponder_map, cmap="inferno", alpha=0.6, extent=(0, width, height, 0), interpolation="nearest"
)
axes[1].set_title(f"ponder cost {result.ponder_cost:.1f}")
figure.colorbar(shown, ax=axes[1], fraction=0.046)
for number, (block, axis) in enumerate(zip(result.blocks, axes[2:]), start=1):
    axis.imshow(block.ponder_map, cmap="inferno")
    axis.set_title(f"block {number}: {block.units.mean():.1f} units")
for axis in axes:
    axis.axis("off")
figure.tight_layout()
figure.savefig(out, dpi=120)
print(out)
