"""The dependencies of the wheel: those versions of torch and pyarrow that it is built with.

pip hides the packages of the environment from the build, but not its folders: the versions are read from there. A wheel links
libtorch and libarrow, whose binary interfaces change with every minor (torch) or major (Arrow) version.
"""

import sysconfig
from importlib import metadata

OTHERS = ["numpy>=1.26", "scikit-learn>=1.6", "tqdm>=4.60"]


def version(package):
    """The version of a package in the environment that the wheel is for, else in the one of the build; None without."""
    here = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    for found in metadata.distributions(name=package, path=here):
        return found.version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def dynamic_metadata(field, settings=None, project=None):
    if field != "dependencies":
        raise ValueError(f"expected the field dependencies; received {field}")
    torch, arrow = version("torch"), version("pyarrow")
    if torch is None:
        raise SystemExit("slimbayes is built against the torch of this environment, and there is none: pip install torch first "
                         "(>= 2.6; a CPU build serves), then pip install .")
    minor = ".".join(torch.split("+")[0].split(".")[:2])
    return [f"torch=={minor}.*", f"pyarrow=={arrow.split('.')[0]}.*", *OTHERS]
