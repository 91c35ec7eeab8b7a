"""A table: fit, answers with their uncertainty, a file. Run: python table.py [examples/data/concrete.csv]"""

import pathlib
import sys

import pandas as pd

import slimbayes as sb

path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "data" / "concrete.csv"
frame = pd.read_csv(path)
train, new = frame.iloc[:-30], frame.iloc[-30:]

# "dbk" is one fast method; sb.Regressor() without a name tries several and takes about a minute on this table.
model = sb.Regressor("dbk").fit(train.drop(columns="y"), train["y"])
mean, sd = model.predict(new, return_std=True)
low, high = model.predict_interval(new, level=0.9)
print(pd.DataFrame({"y": new["y"], "mean": mean, "sd": sd, "low": low, "high": high}).head().round(2))

report = model.evaluate(new)  # y is a column of the frame
print(f"rmse {report['rmse']:.2f}, nll {report['nll']:.2f}, coverage {report['coverage']:.2f} (nominal {report['level']:.2f})")

dist = sb.Regressor("gp-exact").fit(train.drop(columns="y"), train["y"]).predict_dist(new)
share = dist.epistemic_var / (dist.epistemic_var + dist.aleatoric_var)
print(f"gp-exact: {share.mean():.0%} of the variance is ignorance, the rest is noise")

model.save("concrete.safetensors")  # the command-line tool opens it too
print("the same bits:", (sb.load("concrete.safetensors").predict(new) == mean).all())
