import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.plans import load_plans


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the file is not JSON"),
        ("{}", "it holds no list of plans"),
        ("[6]", "a plan is 6 where an object was expected"),
        ('[{"budget": 6, "base": 0}]', "a plan has no 'delta'"),
        ('[{"budget": 6, "base": 0, "delta": 0.01, "price": 1}]', "a plan has unknown fields: 'price'"),
        ('[{"budget": "6", "base": 0, "delta": 0.01}]', "budget is '6'; it must be a number"),
        ('[{"budget": 6, "base": true, "delta": 0.01}]', "base is true; it must be a whole number"),
        ('[{"budget": NaN, "base": 0, "delta": 0.01}]', "NaN is not a JSON number"),
        ('[{"budget": 6, "budget": 7, "base": 0, "delta": 0.01}]', "the key 'budget' is given twice"),
        ("[" * 5000, "nested too deeply"),
    ],
)
def test_malformed_plans_get_a_sentence(tmp_path, content, words):
    path = tmp_path / "plans.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FrugalError) as caught:
        load_plans(path)
    sentence = str(caught.value)
    assert (
        sentence.startswith(f"{path}: ")
        and words in sentence
        and sentence.endswith(f"make it again with `snakemake --force {path}`.")
    )


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"x": {}}', '{"0": {"base": 1}}', '{"01": {}}', "null"])
def test_malformed_combiners_get_a_sentence(tmp_path, content):
    path = tmp_path / "combiners.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(
        FrugalError, match=r"combiners\.json: .*; make it again with `snakemake --force .*`\.$"
    ):
        Combination.load(path)
