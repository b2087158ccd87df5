# All tables and figures to one page.


rule write_report:
    input:
        tables=[*rules.tables.input, "results/tables/label_distribution.csv"],
        figures=rules.figures.input,
        code=package_code("write_report"),
    output:
        report(
            "results/report.html",
            caption="../report/report.rst",
            category="Report",
        ),
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=growing(500),
    params:
        settings=SETTINGS,
        # Read for the times alone: that they differ from run to run makes nothing run again.
        benchmarks="results/benchmarks",
    message:
        "The report"
    script:
        "../scripts/write_report.py"
