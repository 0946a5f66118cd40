"""
Cluster handwritten digits
==========================

Thirty small dictionaries code every digit by one of their atoms. Digits that often share an atom are alike,
and the graph of these likenesses is cut into ten parts by its eigenvectors. No label is used but to judge
the result.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import sparsemble

X, digits = load_digits(return_X_y=True)

# %%
# The clusters, beside those of K-Means.

clustering = sparsemble.EnsembleSpectralClustering(10, random_state=0, n_threads=2).fit(X)
plain = KMeans(10, n_init=4, random_state=0).fit(X)

print("              accuracy    NMI")
for name, labels in {"K-Means": plain.labels_, "ensemble": clustering.labels_}.items():
    accuracy, information = sparsemble.clustering_accuracy(digits, labels), sparsemble.nmi(digits, labels)
    print(f"{name:<12} {accuracy:>9.1%} {information:>6.2f}")

# %%
# The mean of each cluster, and the digits in it that are not of the class most of them are.

figure, axes = plt.subplots(10, 9, figsize=(7, 7.6), layout="constrained")
for cluster, row in enumerate(axes):
    members = np.flatnonzero(clustering.labels_ == cluster)
    majority = np.bincount(digits[members]).argmax()
    strangers = members[digits[members] != majority]
    shown = [X[members].mean(axis=0), *X[strangers[:8]]]
    for axis in row:
        axis.set_axis_off()
    for axis, picture in zip(row, shown, strict=False):
        axis.imshow(picture.reshape(8, 8), cmap="gray_r")
axes[0, 0].set_title("mean", fontsize=9)
axes[0, 1].set_title("strangers", fontsize=9, loc="left")
plt.show()

# %%
# The similarities, with the digits sorted by cluster: dense within clusters, nearly empty between them.

order = np.argsort(clustering.labels_, kind="stable")
sorted_graph = clustering.affinity_matrix_[order][:, order]
figure, axis = plt.subplots(figsize=(5.5, 5.5), layout="constrained")
axis.spy(sorted_graph > np.quantile(sorted_graph.data, 0.9), markersize=0.1, color="#1f5f8b")
axis.set_title(f"the strongest tenth of {sorted_graph.nnz:,} similarities")
axis.set_xticks([])
axis.set_yticks([])
plt.show()
