from snakemake.utils import min_version

from frugalmct.config import check_yaml
from frugalmct.job import sentence_only

min_version("9.0")

# Snakemake would not say in which line of a broken file the trouble is.
with sentence_only():
    check_yaml("config.yaml")


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/automl.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/split.smk"
include: "workflow/rules/combine.smk"
include: "workflow/rules/predict.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/study.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        rules.markets.input,
        rules.predictions.input,
        rules.headlines.input,
        rules.tables.input,
        rules.figures.input,
        rules.report.input,
    message:
        "All of results/ is made"
