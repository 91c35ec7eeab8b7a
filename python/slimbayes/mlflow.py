"""A flavour of MLflow: models are logged, registered, loaded and served with their uncertainty; needs `pip install mlflow`.

>>> import slimbayes.mlflow
>>> with mlflow.start_run():
...     slimbayes.mlflow.log_model(model, name="price", input_example=frame[:5])
>>> slimbayes.mlflow.load_model("models:/price/1")                                            # the estimator
>>> mlflow.pyfunc.load_model("models:/price/1").predict(frame, params={"level": 0.9})         # a frame: mean, sd, lower, upper

An input example gives the model its signature, which MLflow needs to take `level`.
"""

import os
import sys

__all__ = ["load_model", "log_model", "save_model"]

FLAVOR_NAME = "slimbayes"
_FILE = "model.safetensors"


def _mlflow():
    try:
        import mlflow.models
        import mlflow.pyfunc
    except ImportError as error:
        raise ImportError("slimbayes.mlflow: expected the package mlflow; received a Python without it: pip install mlflow") from error
    return mlflow


def get_default_pip_requirements():
    """The requirements of a logged model, if its caller gives none."""
    import slimbayes

    return [f"slimbayes=={slimbayes.__version__}"]


def get_default_conda_env():
    """The Conda environment of a logged model, if its caller gives none."""
    _mlflow()
    from mlflow.utils.environment import _mlflow_conda_env

    return _mlflow_conda_env(additional_pip_deps=get_default_pip_requirements())


def _signature(model, example):
    """What predict takes and answers, and its parameter `level`."""
    from mlflow.models import infer_signature

    answers = _Predictor(model)
    return infer_signature(example, answers.predict(example), params={"level": answers.level})


def save_model(model, path, *, conda_env=None, code_paths=None, mlflow_model=None, signature=None, input_example=None, pip_requirements=None,
               extra_pip_requirements=None, metadata=None):
    """Writes a fitted estimator as a folder of MLflow, with the flavours `slimbayes` and `python_function`. The arguments are those of
    `mlflow.sklearn.save_model`. The model file in it is that of `save`, which the tool and C++ programs read."""
    mlflow = _mlflow()
    from mlflow.models.model import MLMODEL_FILE_NAME
    from mlflow.models.utils import _save_example
    from mlflow.utils.environment import _validate_env_arguments
    from mlflow.utils.model_utils import _validate_and_copy_code_paths, _validate_and_prepare_target_save_path

    import slimbayes
    from slimbayes._answers import Answers

    if not isinstance(model, Answers):
        raise TypeError(f"slimbayes.mlflow: expected a fitted estimator; received {type(model).__name__}")
    model._check_fitted()
    path = os.fspath(path)
    _validate_env_arguments(conda_env, pip_requirements, extra_pip_requirements)
    _validate_and_prepare_target_save_path(path)
    code = _validate_and_copy_code_paths(code_paths, path)
    saved = mlflow.models.Model() if mlflow_model is None else mlflow_model
    _save_example(saved, input_example, path)
    if signature is None and input_example is not None:
        signature = _signature(model, input_example)
    if signature:  # False: none
        saved.signature = signature
    if metadata is not None:
        saved.metadata = metadata
    model.save(os.path.join(path, _FILE))
    mlflow.pyfunc.add_to_model(saved, loader_module=__name__, data=_FILE, code=code, conda_env="conda.yaml", python_env="python_env.yaml")
    saved.add_flavor(FLAVOR_NAME, data=_FILE, slimbayes_version=slimbayes.__version__, method=model._facts["method"], code=code)
    saved.save(os.path.join(path, MLMODEL_FILE_NAME))
    _write_environment(path, conda_env, pip_requirements, extra_pip_requirements)


def _write_environment(path, conda_env, pip_requirements, extra_pip_requirements):
    """The files that say with which packages the model is served."""
    import yaml
    from mlflow.utils.environment import _process_conda_env, _process_pip_requirements, _PythonEnv

    if conda_env is None:
        conda_env, required, constraints = _process_pip_requirements(get_default_pip_requirements(), pip_requirements, extra_pip_requirements)
    else:
        conda_env, required, constraints = _process_conda_env(conda_env)
    texts = {"conda.yaml": yaml.safe_dump(conda_env, default_flow_style=False), "requirements.txt": "\n".join(required)}
    if constraints:
        texts["constraints.txt"] = "\n".join(constraints)
    for name, text in texts.items():
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write(text)
    _PythonEnv.current().to_yaml(os.path.join(path, "python_env.yaml"))


def log_model(model, name=None, *, registered_model_name=None, **given):
    """Logs a fitted estimator in the active run, or in a new one, and returns MLflow's ModelInfo. `given`: arguments of `save_model` and of
    `mlflow.models.Model.log`, such as `input_example`, `params`, `tags`."""
    mlflow = _mlflow()
    return mlflow.models.Model.log(artifact_path=None, name=name, flavor=sys.modules[__name__], model=model,
                                   registered_model_name=registered_model_name, **given)


def load_model(model_uri, dst_path=None):
    """The estimator of a logged model or of a folder that `save_model` wrote."""
    _mlflow()
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri
    from mlflow.utils.model_utils import _add_code_from_conf_to_system_path, _get_flavor_configuration

    import slimbayes

    path = _download_artifact_from_uri(artifact_uri=os.fspath(model_uri), output_path=dst_path)
    facts = _get_flavor_configuration(model_path=path, flavor_name=FLAVOR_NAME)
    _add_code_from_conf_to_system_path(path, facts)
    return slimbayes.load(os.path.join(path, facts["data"]))


def _load_pyfunc(path):
    """What mlflow.pyfunc.load_model calls with the model file."""
    import slimbayes

    return _Predictor(slimbayes.load(path))


class _Predictor:
    """The python_function of a model: the frame of `predict_frame`."""

    def __init__(self, model):
        self._model = model
        self.level = model._level(None)

    def get_raw_model(self):
        """The estimator."""
        return self._model

    def predict(self, data, params=None):
        """mean, sd, lower and upper of each row; probabilities and label of classes. `params`: the `level` of the interval."""
        return self._model.predict_frame(data, level=(params or {}).get("level"))
