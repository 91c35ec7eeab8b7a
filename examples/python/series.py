"""A time series: forecasts with intervals for two stations. Run: python series.py"""

import numpy as np
import pandas as pd

import slimbayes as sb

draw = np.random.default_rng(0)
parts = []
for station in "north", "south":
    hours = pd.date_range("2024-01-01", periods=24 * 30, freq="h")
    wind = draw.gamma(2, 2, len(hours))
    pm = np.zeros(len(hours))
    for i in range(1, len(hours)):
        pm[i] = 0.9 * pm[i - 1] + 8 - wind[i] + 3 * np.sin(2 * np.pi * i / 24) + draw.normal()
    parts.append(pd.DataFrame({"station": station, "date": hours, "wind": wind, "pm": pm}))
frame = pd.concat(parts, ignore_index=True)

model = sb.Forecaster("dbk", window=24, horizon=3, time="date", group="station", steps=1000).fit(frame, "pm")
print(model.predict_frame(frame, level=0.9)[["station", "forecast_time", "mean", "lower", "upper"]].tail(3))  # the hours after the last rows
report = model.evaluate(frame)
print(f"mae {report['mae']:.2f}; repeating the last value: {report['persistence']['mae']:.2f}")
