# auto-sklearn's Python, tried before anything is learnt with it.


rule try_automl:
    input:
        code=from_here(PACKAGE / "predict" / "auto_sklearn_job.py"),
    output:
        AUTOML_LAUNCHER,
    log:
        "results/logs/try_automl.log",
    benchmark:
        "results/benchmarks/try_automl.tsv"
    conda:
        "../../envs/automl.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        python="python" if CONDA else AUTOML_PYTHON,
    message:
        "The Python of auto-sklearn, tried"
    shell:
        "{params.python:q} {input.code:q} introduce {output:q} > {log:q} 2>&1"
        " || {{ tail -n 1 {log:q} >&2; exit 1; }}"
