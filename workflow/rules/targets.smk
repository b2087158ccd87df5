# Milestones: `snakemake <name>` makes everything of that name.


rule markets:
    input:
        STAGE_FILES["markets"],
        expand(FILES["split"], dataset=DATASETS, repetition=REPETITIONS),
        # What describes them.
        [
            file
            for exhibit in EXHIBITS
            if set(exhibit.needs) <= {"markets"}
            for file in made_by(exhibit)
        ],


rule selections:
    input:
        STAGE_FILES["selections"],
        STAGE_FILES["per_call"],


rule headlines:
    input:
        expand("results/headlines/{dataset}.txt", dataset=DATASETS),


rule tables:
    input:
        # With their figures, which the same jobs make.
        [file for exhibit in EXHIBITS for file in made_by(exhibit)],


rule figures:
    input:
        rules.tables.input,


rule studies:
    input:
        # Of every dataset, whether it asks for them or not; the report shows those that are asked for.
        [
            file
            for study in STUDIES
            for file in expand(
                f"results/studies/{study}/{{dataset}}/{{repetition}}.csv",
                dataset=[*LABELLED, *(PER_CALL if study in CALL_STUDIES else [])],
                repetition=REPEATED.get(study, [0]),
            )
        ],


rule predictors:
    input:
        [file for exhibit in EXHIBITS if exhibit.name == "predictors" for file in made_by(exhibit)],


rule report:
    input:
        "results/report.html",
