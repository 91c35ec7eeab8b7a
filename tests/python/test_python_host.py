"""A posterior calls a torch.nn.Module as it is: any forward, several inputs, no script, no trace, no copy."""

import pickle
import threading

import numpy as np
import pytest
import slimbayes as sb
import torch
import toys
from torch import nn

pytestmark = pytest.mark.filterwarnings("ignore::slimbayes.Note")
X, Y = toys.matrix(120)
ROWS = torch.tensor(X, dtype=torch.float32)


def body(inputs, out=16):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(inputs, out), nn.Tanh())


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right, self.head = body(2), body(1), nn.Linear(32, 1)

    def forward(self, left, right):
        return self.head(torch.cat([self.left(left), self.right(right)], 1))


class Named(TwoInputs):
    def forward(self, *, left, right=None, flags={}):  # noqa: B006  a signature that TorchScript does not know
        return {"aside": left.sum(), "answer": super().forward(left, right)}


class TwoAnswers(nn.Module):
    """Two outputs of one size; the second is the one that counts."""

    def __init__(self):
        super().__init__()
        self.body, self.log_var, self.mu = body(3), nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.log_var(h), self.mu(input=h)


class Branching(nn.Module):
    """Its way depends on each row's values, in Python."""

    def __init__(self):
        super().__init__()
        self.low, self.high, self.head = body(3), body(3), nn.Linear(16, 1)

    def forward(self, x):
        return self.head(torch.stack([self.low(row) if float(row[0]) < 0 else self.high(row) for row in x]))[:, 0]


@pytest.mark.parametrize("method", ["rich-bll", "bll", "last-layer-laplace"])
def test_the_answers_are_those_of_the_scripted_module(method):
    module = nn.Sequential(body(3), nn.Linear(16, 1))
    ours, script = (sb.posterior(each, (X, Y), method) for each in (module, torch.jit.script(module)))
    for name in "mean", "aleatoric_var", "epistemic_var":
        np.testing.assert_allclose(getattr(ours.predict_dist(X), name), getattr(script.predict_dist(X), name), rtol=1e-5, atol=1e-7)
    again = ours.update(X[:5], Y[:5])
    np.testing.assert_allclose(again.predict_dist(X).epistemic_var, script.update(X[:5], Y[:5]).predict_dist(X).epistemic_var, rtol=1e-5)


@pytest.mark.parametrize(("module", "inputs"), [(TwoInputs(), (ROWS[:, :2], X[:, 2:])), (Named(), {"left": ROWS[:, :2], "right": ROWS[:, 2:]}),
                                                (Branching(), ROWS)], ids=["two inputs", "named inputs and outputs", "control flow"])
def test_modules_that_no_script_holds(module, inputs):
    with torch.no_grad():
        given = module(**inputs) if isinstance(inputs, dict) else module(ROWS[:, :2], ROWS[:, 2:]) if isinstance(inputs, tuple) else module(ROWS)
        expected = (given["answer"] if isinstance(given, dict) else given).flatten().numpy()
    bayes = sb.posterior(module, (inputs, Y), layer="head")
    mean, sd = bayes.predict(inputs, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-6)
    assert np.isfinite(sd).all() and np.ptp(bayes.predict_dist(inputs).epistemic_var) > 0
    plain = sb.posterior(module, (inputs, Y), "bll", layer="head").predict_dist(inputs).epistemic_var
    assert (bayes.predict_dist(inputs).epistemic_var >= 0.999 * plain).all(), "rich-bll is never below bll"


def test_the_output_is_that_of_the_named_layer():
    module = TwoAnswers()
    with torch.no_grad():
        expected = module(ROWS)[1].flatten().numpy()
    np.testing.assert_allclose(sb.posterior(module, (X, Y), layer="mu").predict(X), expected, rtol=1e-5, atol=1e-6)


def test_the_features_are_enriched_by_the_gradients_of_the_module():
    """A^T A from gradients that autograd in Python gives, beside the posterior's (R equations 9 and 15)."""
    module = nn.Sequential(body(3, 6), nn.Linear(6, 1)).double()
    bayes = sb.posterior(module, (X, Y), prior="fixed", prior_sd=1.0, noise="mse", ridge=0.0, valid=(X, Y))
    early = [p for p in module[0].parameters()]
    gradients = np.stack([np.concatenate([g.numpy().ravel() for g in torch.autograd.grad(module(row[None]).sum(), early)])
                          for row in torch.tensor(X)])
    with torch.no_grad():
        hidden = module[0](torch.tensor(X)).numpy()
    phi = np.concatenate([hidden, np.ones((len(X), 1))], 1)
    a = np.linalg.lstsq(phi, gradients, rcond=None)[0].T
    noise = bayes.predict_dist(X).aleatoric_var[0]
    prior = np.eye(7) + a.T @ a
    covariance = np.linalg.inv(np.linalg.inv(prior) + phi.T @ phi / noise)
    np.testing.assert_allclose(bayes.predict_dist(X).epistemic_var, np.einsum("ni,ij,nj->n", phi, covariance, phi), rtol=1e-5)


def test_a_huggingface_model_of_random_weights():
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    model = BertForSequenceClassification(BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
                                                     max_position_embeddings=12, num_labels=3))
    draw = torch.Generator().manual_seed(1)
    batch = {"input_ids": torch.randint(1, 50, (60, 9), generator=draw), "attention_mask": (torch.rand(60, 9, generator=draw) < 0.9).long()}
    batch["attention_mask"][:, 0] = 1
    labels = batch["input_ids"][:, 0].numpy() % 3
    bayes = sb.posterior(model, (batch, labels), "last-layer-laplace", layer="classifier")
    p = bayes.predict_proba(batch)
    with torch.no_grad():
        plain = model.eval()(**batch).logits.softmax(-1).numpy()
    assert p.shape == (60, 3) and np.allclose(p.sum(1), 1) and np.corrcoef(p.ravel(), plain.ravel())[0, 1] > 0.98
    assert (sb.posterior(model, (batch, labels), "rich-bll", layer="classifier").predict_dist(batch).mutual_information >= 0).all()


def test_the_module_stays_as_it_is():
    module = TwoInputs().train()
    module.left[0].weight.requires_grad_(False)
    before = {name: (value, value.clone(), value.data_ptr(), value.requires_grad) for name, value in module.named_parameters()}
    bayes = sb.posterior(module, ((ROWS[:, :2], ROWS[:, 2:]), Y))
    bayes.predict((ROWS[:, :2], ROWS[:, 2:]))
    leaves = {each.data_ptr() for each in bayes._network._leaves.values()}
    assert all(value.data_ptr() in leaves for value in module.parameters()), "the posterior would hold a copy"
    for name, value in module.named_parameters():
        old, values, place, trained = before[name]
        assert value is old and torch.equal(value, values) and (value.data_ptr(), value.requires_grad) == (place, trained) and value.grad is None
    assert all(part.training and not part._forward_hooks for part in module.modules())
    assert any("left.0.weight" in str(fact) or "frozen" in str(fact) for fact in sb.posterior(module, ((ROWS[:, :2], ROWS[:, 2:]), Y))._made.notes())


@pytest.mark.parametrize("part", ["0.0", "1"])
def test_a_module_that_was_trained_since_is_refused(part):
    module = nn.Sequential(body(3), nn.Linear(16, 1))
    bayes = sb.posterior(module, (X, Y))
    with torch.no_grad():
        module.get_submodule(part).weight += 0.1
    for ask in bayes.predict, bayes.predict_dist, bayes.ood_scores:
        with pytest.raises(ValueError, match="the module was trained since"):
            ask(X)


class Counting(nn.Module):
    """It writes a buffer in each pass, and has a training flag of its own."""

    def __init__(self):
        super().__init__()
        self.body, self.head, self.noisy = body(3), nn.Linear(16, 1), True
        self.register_buffer("passes", torch.zeros(()))

    def train(self, mode=True):
        self.noisy = mode
        return super().train(mode)

    def forward(self, x):
        self.passes += 1
        return self.head(self.body(x)) + (100 if self.noisy else 0)


def test_what_a_pass_changes_stays_out_of_the_module(tmp_path):
    module = Counting()
    bayes = sb.posterior(module, (X, Y))
    assert module.noisy and module.passes == 0 and abs(bayes.predict(X)).max() < 10
    bayes.save(tmp_path / "p.safetensors")
    assert (sb.load(tmp_path / "p.safetensors", module=module).predict(X) == bayes.predict(X)).all()


def test_a_file_knows_its_module(tmp_path):
    module = TwoInputs()
    inputs = ROWS[:, :2], ROWS[:, 2:]
    bayes = sb.posterior(module, (inputs, Y))
    bayes.save(tmp_path / "p.safetensors")
    twin = type("TwoInputs", (TwoInputs,), {"__module__": "elsewhere", "__qualname__": TwoInputs.__qualname__})()
    twin.load_state_dict(module.state_dict())
    for again in sb.load(tmp_path / "p.safetensors", module=twin), pickle.loads(pickle.dumps(bayes)):
        assert (again.predict_dist(inputs).epistemic_var == bayes.predict_dist(inputs).epistemic_var).all()
        assert np.isfinite(again.update(inputs, Y).predict(inputs)).all()
    assert (tmp_path / "p.safetensors").stat().st_size < 60_000
    other = "expected the module that the posterior was made of; received another, or other weights"
    with torch.no_grad():
        twin.head.weight[0, 0] += 1e-3
    with pytest.raises(ValueError, match=other):
        sb.load(tmp_path / "p.safetensors", module=twin)
    relu = TwoInputs()
    relu.load_state_dict(module.state_dict())
    relu.left[1] = nn.ReLU()
    with pytest.raises(ValueError, match=other):
        sb.load(tmp_path / "p.safetensors", module=relu)
    with pytest.raises(ValueError, match="received none: slimbayes.load.path, module=net."):
        sb.load(tmp_path / "p.safetensors")
    script = torch.jit.script(nn.Sequential(body(3), nn.Linear(16, 1)))
    plain = nn.Sequential(body(3), nn.Linear(16, 1))
    sb.posterior(plain, (X, Y)).save(tmp_path / "n.safetensors")
    with pytest.raises(ValueError, match="received a TorchScript module"):
        sb.load(tmp_path / "n.safetensors", module=script)
    sb.posterior(script, (X, Y)).save(tmp_path / "s.safetensors")
    with pytest.raises(ValueError, match="no module for a file that holds one"):
        sb.load(tmp_path / "s.safetensors", module=twin)
    sb.Regressor("ridge").fit(X, Y).save(tmp_path / "r.safetensors")
    with pytest.raises(ValueError, match="holds no posterior around one"):
        sb.load(tmp_path / "r.safetensors", module=twin)


def test_threads_share_a_module():
    """Two posteriors around one module, and the user's own passes, at once."""
    module = nn.Sequential(body(3), nn.Linear(16, 1))
    pair = [sb.posterior(module, (X, Y), method) for method in ("rich-bll", "bll")]
    whole, errors, answered = [bayes.predict_dist(X).epistemic_var for bayes in pair], [], []
    with torch.no_grad():
        expected = module(ROWS)

    def ask(k):
        try:
            for _ in range(20):
                np.testing.assert_allclose(pair[k % 2].predict_dist(X[10:40]).epistemic_var, whole[k % 2][10:40], rtol=1e-5)
                with torch.no_grad():
                    assert torch.equal(module(ROWS), expected)
            answered.append(k)
        except BaseException as error:  # noqa: BLE001  of the thread
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors and sorted(answered) == list(range(6)), errors
    assert all(isinstance(each, nn.Parameter) and each.requires_grad for each in module.parameters())


def test_a_shared_weight_counts():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.first, self.head = nn.Linear(3, 3), nn.Linear(3, 3)
            self.head.weight = self.first.weight

        def forward(self, x):
            return self.head(torch.tanh(self.first(x)))

    labels = np.digitize(Y, [-0.7, 0.3])
    host = sb.posterior(Tied(), (X, labels), layer="head")._network
    assert host.names == ["first.weight", "first.bias"]


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = body(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.head(self.body(x)))


class Raising(nn.Module):
    def __init__(self, error):
        super().__init__()
        self.body, self.head, self.error = body(3), nn.Linear(16, 1), error

    def forward(self, x):
        if len(x) != 8:
            raise self.error
        return self.head(self.body(x))


def softmaxed():
    return nn.Sequential(body(3), nn.Linear(16, 3), nn.Softmax(-1))


LABELS = np.digitize(Y, [-0.7, 0.3])
BAD = {"a module of two inputs, given one": (TwoInputs(), (X, Y), {}, "says: .*missing 1 required positional argument"),
       "inputs of two lengths": (TwoInputs(), ((X[:, :2], X[:50, 2:]), Y), {}, "inputs of one number of rows; received 50 and 120"),
       "a layer that is called twice": (Twice(), (X, LABELS), {"layer": "head"}, "one call of the layer 'head' in a pass; received 2"),
       "probabilities": (softmaxed(), (X, LABELS), {}, "the output to be '1' applied to its inputs"),
       "an error of its own": (Raising(KeyError("lost")), (X, Y), {}, "says: .*lost"),
       "an assertion without a word": (Raising(AssertionError()), (X, Y), {}, "says: AssertionError"),
       "a single number": (Named(), ({"left": ROWS[:, :2], "right": torch.tensor(1.0)}, Y), {"layer": "head"}, "a row each; received a single number"),
       "a script inside": (nn.Sequential(torch.jit.script(body(3)), nn.Linear(16, 1)), (X, Y), {}, "a TorchScript module inside"),
       "no such input": (Named(), ({"other": X}, Y), {"layer": "head"}, "unexpected keyword argument 'other'")}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_refused(case):
    module, data, options, text = BAD[case]
    with pytest.raises(ValueError, match=text):
        sb.posterior(module, data, **options)
    assert not any(part._forward_hooks for part in module.modules())


def test_ctrl_c_in_the_module_ends_it():
    with pytest.raises(KeyboardInterrupt):
        sb.posterior(Raising(KeyboardInterrupt()), (X, Y))
