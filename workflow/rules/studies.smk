# Expensive rows, one rule per study: frugalmct.paper.studies says what each needs and does.
from functools import partial

for study in STUDIES:

    rule:
        name:
            f"study_{study}"
        input:
            unpack(partial(study_inputs, study)),
        output:
            f"results/studies/{study}/{{dataset}}/{{repetition}}.csv",
        log:
            f"results/logs/study_{study}/{{dataset}}/{{repetition}}.log",
        benchmark:
            f"results/benchmarks/study_{study}/{{dataset}}/{{repetition}}.tsv"
        # Long jobs first, as in select.smk.
        priority: 10
        conda:
            "../../envs/core.yaml"
        threads: threads_of(*study_predictors(study))
        params:
            code=partial(study_code, study),
            study=partial(study_name, study),
            settings=partial(study_settings, study),
        message:
            f"Study {study.replace('_', ' ')} of {{wildcards.dataset}}, repetition {{wildcards.repetition}}"
        script:
            "../scripts/run_study.py"
