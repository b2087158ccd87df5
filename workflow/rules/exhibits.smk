# Tables and figures, one rule per exhibit: frugalmct.paper.exhibits says what each is built from; then the report.


for exhibit in EXHIBITS:

    rule:
        name:
            f"exhibit_{exhibit.name}"
        input:
            [file for need in exhibit.needs for file in wanted_for(exhibit, need)],
        output:
            table=shown(exhibit, [table_of(exhibit.name)])[0],
            figures=shown(exhibit, figures_of(exhibit)),
            caption=f"results/captions/{exhibit.name}.rst",
        log:
            f"results/logs/exhibit_{exhibit.name}.log",
        benchmark:
            f"results/benchmarks/exhibit_{exhibit.name}.tsv"
        conda:
            "../../envs/core.yaml"
        params:
            code=exhibit_code(exhibit),
            exhibit=exhibit.name,
            files={need: files_of(exhibit, need) for need in exhibit.needs},
            settings=exhibit_settings(exhibit),
        message:
            f"Exhibit {exhibit.name.replace('_', ' ')}"
        script:
            "../scripts/make_exhibit.py"


rule write_report:
    input:
        tables=[table_of(exhibit.name) for exhibit in EXHIBITS],
        figures=[file for exhibit in EXHIBITS for file in figures_of(exhibit)],
    output:
        report("results/report.html", category="report"),
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    conda:
        "../../envs/core.yaml"
    params:
        code=package_code(
            "write_report", *(f"frugalmct.paper.exhibits.{exhibit.name}" for exhibit in EXHIBITS)
        ),
        settings=SETTINGS,
        # Read for the times alone: that they differ from run to run makes nothing run again.
        benchmarks="results/benchmarks",
        timings=timings(),
        datasets=DATASETS,
    message:
        "The report"
    script:
        "../scripts/write_report.py"
