"""Config files as YAML: readable, and with no key given twice."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from frugalmct.errors import FrugalError
from frugalmct.paper.config.sentences import shown


def check_yaml(path: str | Path) -> None:
    """That a config file is readable YAML with no key given twice, which YAML would silently accept.

    A file that is not there is left to Snakemake, which knows whether it needs it.
    """
    path = Path(path)
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FrugalError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise FrugalError(f"{path}: is not UTF-8 text; save it as UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FrugalError(
            f"{path}{where}: is not valid YAML ({error.problem}); check indentation, brackets and quotes."
        ) from None
    except (yaml.YAMLError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise FrugalError(f"{path}: is not valid YAML ({problem}); correct it.") from None
    if not isinstance(node, yaml.MappingNode):
        raise FrugalError(f"{path}: has no keys at top level; write `key: value` lines, such as `seed: 1`.")
    for line, key in _repeated_keys(node):
        raise FrugalError(f"{path}, line {line}: the key {shown(key)} is given twice; keep one of them.")


def _repeated_keys(top: yaml.Node) -> Iterator[tuple[int, str]]:
    waiting, seen = [top], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in keys:
                        yield key.start_mark.line + 1, key.value
                    keys.add(key.value)
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
