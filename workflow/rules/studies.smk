# Expensive rows, one rule per study: frugalmct.paper.studies says what each needs and does.


for study in STUDIES:

    rule:
        name:
            f"study_{study}"
        input:
            **study_inputs(study),
            automl=launcher_of(*study_predictors(study)),
        output:
            f"results/studies/{study}/{{dataset}}/{{repetition}}.csv",
        log:
            f"results/logs/study_{study}/{{dataset}}/{{repetition}}.log",
        benchmark:
            f"results/benchmarks/study_{study}/{{dataset}}/{{repetition}}.tsv"
        conda:
            "../../envs/core.yaml"
        threads: threads_of(*study_predictors(study))
        params:
            code=package_code(
                "run_study", f"frugalmct.paper.studies.{study}", *PLUGINS.get(study, [])
            ),
            study=study,
            settings=partial(study_settings, study),
        message:
            f"Study {study.replace('_', ' ')} of {{wildcards.dataset}}, repetition {{wildcards.repetition}}"
        script:
            "../scripts/run_study.py"
