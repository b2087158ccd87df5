# Tables and figures, one rule per batch: frugalmct.paper.exhibits says what each is built from; then the report.


for batch, members in BATCHES.items():

    rule:
        name:
            f"exhibits_{batch}"
        input:
            batch_inputs(members),
        output:
            # Those that are up to date stay as they are.
            [update(file) for exhibit in members for file in shown(exhibit)],
            record=update(f"results/made/{batch}.json"),
        log:
            f"results/logs/exhibits_{batch}.log",
        benchmark:
            f"results/benchmarks/exhibits_{batch}.tsv"
        conda:
            "../../envs/core.yaml"
        params:
            code={exhibit.name: exhibit_code(exhibit) for exhibit in members},
            parts=[part_of(exhibit) for exhibit in members],
        message:
            f"Exhibits: {', '.join(exhibit.name.replace('_', ' ') for exhibit in members)}"
        script:
            "../scripts/make_exhibits.py"


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
