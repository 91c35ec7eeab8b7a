"""Images: classes with probabilities, and a score for foreign images. Run: python images.py"""

import numpy as np

import slimbayes as sb

draw = np.random.default_rng(0)


def squares(count):
    """Grey images of 12 x 12 with a bright square in the upper or the lower half."""
    labels = np.array(["upper", "lower"])[draw.integers(0, 2, count)]
    images = draw.integers(0, 80, (count, 12, 12), dtype=np.uint8)
    for image, label in zip(images, labels):
        top, left = (1 if label == "upper" else 7), draw.integers(0, 8)
        image[top:top + 4, left:left + 4] = 220
    return images, labels


images, labels = squares(600)
model = sb.Classifier("bll", epochs=5).fit(images, labels)  # a trained network with a posterior on its last layer
new, truth = squares(200)
print(f"accuracy {model.score(new, truth):.2f}; p of the first: {model.predict_proba(new)[0].round(3)} for {model.classes_}")

noise = draw.integers(0, 255, (200, 12, 12), dtype=np.uint8)
score = "mutual_information"
near, far = model.ood_scores(new)[score], model.ood_scores(noise)[score]
print(f"{score}: {near.mean():.4f} on squares, {far.mean():.4f} on noise")
