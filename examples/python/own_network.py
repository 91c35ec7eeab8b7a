"""A network of your own: a torch module gets an error bar without training. Run: python own_network.py"""

import numpy as np
import torch

import slimbayes as sb

torch.manual_seed(0)
x = torch.rand(400, 1) * 2 - 1
y = torch.sin(4 * x[:, 0]) + 0.1 * torch.randn(400)
net = torch.nn.Sequential(torch.nn.Linear(1, 50), torch.nn.Tanh(), torch.nn.Linear(50, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
step = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(300):
    step.zero_grad()
    ((net(x[:300])[:, 0] - y[:300]) ** 2).mean().backward()
    step.step()

bayes = sb.posterior(net, (x[:300], y[:300]), valid=(x[300:], y[300:]))  # rich-bll: the gradients of all layers
mean, sd = bayes.predict(x[:5], return_std=True)
print("the module's mean:", np.allclose(mean, net(x[:5]).detach()[:, 0], atol=1e-6), "; sd", sd.round(3))
for at in 0.0, 1.0, 2.0, 4.0:
    dist = bayes.predict_dist(torch.tensor([[at]]))
    print(f"x = {at}: noise sd {dist.aleatoric_var[0] ** 0.5:.3f}, epistemic sd {dist.epistemic_var[0] ** 0.5:.3f}")
bayes = bayes.update(x[300:], y[300:])  # learns the other rows without training
bayes.save("posterior.safetensors")
