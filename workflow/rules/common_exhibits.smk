# Which exhibits there are, what each is built from, and what their jobs are given.
from pathlib import Path

from frugalmct.paper.exhibit import STAGES, STUDY
from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.batch import batches

OF_CALLS = ("per_call", "routers", "call_estimates")
# The stages that exhibits read, each with all its files.
STAGE_FILES = {
    stage: expand(FILES[stage], **(EACH_PER_CALL if stage in OF_CALLS else EACH))
    for stage in STAGES
    if stage != "markets"
} | {"markets": expand(FILES["market"], dataset=DATASETS)}
STUDIES_MADE = {study for study, (datasets, _) in STUDIED.items() if datasets}
EXHIBITS = [
    exhibit
    for exhibit in all_exhibits()
    if exhibit.applies(
        {name: DATA[name] for name in exhibit.shows(DATASETS, PER_CALL)}, STUDIES_MADE
    )
]
# What one job makes.
BATCHES = batches(EXHIBITS)
# What exhibits may take from the configuration; of the settings as a whole a change would make them all again.
EXHIBIT_SETTINGS = {
    "data": DATA,
    "datasets": DATASETS,
    "tasks": {name: block["task"] for name, block in BLOCKS.items()},
    "prices": {name: block["prices"] for name, block in BLOCKS.items()},
    "units": {name: block["unit"] for name, block in BLOCKS.items()},
    # Dataset -> services whose answers the release lacks, each with the files that are missing.
    "dropped": {name: block.get("dropped", {}) for name, block in BLOCKS.items()},
    "predictor": PREDICTOR,
    "train_share": SETTINGS["train_share"],
}
PER_DATASET = {"data", "tasks", "prices", "units", "dropped"}


def exhibit_settings(exhibit):
    """Of the settings that it takes, what is of the datasets that it shows."""
    shown_ones = exhibit.shows(DATASETS, PER_CALL)
    taken = {key: EXHIBIT_SETTINGS[key] for key in ("data", *exhibit.settings)}
    for key in PER_DATASET & taken.keys():
        taken[key] = {name: taken[key][name] for name in shown_ones}
    return taken | ({"datasets": shown_ones} if "datasets" in taken else {})


def table_of(name):
    return f"results/tables/{name}.csv"


def files_of(exhibit, need):
    """The files behind one of an exhibit's needs: a stage, a study, or another exhibit's table."""
    if need == "markets":
        return expand(FILES["market"], dataset=exhibit.shows(DATASETS, PER_CALL))
    if need in STAGES:
        return STAGE_FILES[need]
    if need.startswith(STUDY):
        datasets, repetitions = STUDIED[need.removeprefix(STUDY)]
        return expand(
            f"results/{need}/{{dataset}}/{{repetition}}.csv",
            dataset=datasets,
            repetition=repetitions,
        )
    return [table_of(need)] if any(exhibit.name == need for exhibit in EXHIBITS) else []


def figures_of(exhibit):
    """One figure of all datasets, and one of each that is drawn, as SVG and PNG."""
    studied_ones = [list(STUDIED[study][0]) for study in exhibit.studies]
    shown_ones = exhibit.shows(DATASETS, PER_CALL)
    drawn = exhibit.datasets_drawn(studied_ones[0] if studied_ones else shown_ones)
    stems = [exhibit.name] if exhibit.plot else []
    stems += [f"{exhibit.name}/{dataset}" for dataset in drawn]
    return [f"results/figures/{stem}.{ending}" for stem in stems for ending in ("svg", "png")]


def made_by(exhibit):
    return [table_of(exhibit.name), *figures_of(exhibit)]


def batch_inputs(members):
    """What has to be there for a batch's exhibits, from outside of it. Of another exhibit its figures too: while
    one of a new dataset is missing, Snakemake knows nothing of the job that makes both, and would take the table
    for up to date."""
    wanted = []
    for exhibit in members:
        for need in exhibit.needs:
            other = next((other for other in EXHIBITS if other.name == need), None)
            if other not in members:
                wanted += made_by(other) if other else files_of(exhibit, need)
    return list(dict.fromkeys(wanted))


def exhibit_code(exhibit):
    """Its own module, and those that say how the tables it reads are written."""
    tables = [need for need in exhibit.needs if need not in STAGES and not need.startswith(STUDY)]
    modules = [f"frugalmct.paper.exhibits.{name}" for name in (exhibit.name, *tables)]
    return package_code("make_exhibits", *modules)


def part_of(exhibit):
    """An exhibit as its batch's job is given it."""
    return {
        "name": exhibit.name,
        "settings": exhibit_settings(exhibit),
        "files": {need: files_of(exhibit, need) for need in exhibit.needs},
        "table": table_of(exhibit.name),
        "figures": figures_of(exhibit),
        "caption": caption_of(exhibit),
    }


def caption_of(exhibit):
    return f"results/captions/{exhibit.name}.rst"


def shown(exhibit):
    """Its files, marked for `snakemake --report`, with the exhibit's caption, which its job writes."""
    caption = str(Path.cwd() / caption_of(exhibit))
    return [
        file if file.endswith(".png") else report(file, caption=caption, category=exhibit.section)
        for file in made_by(exhibit)
    ] + [caption_of(exhibit)]


def timings():
    """The files with the times of this run's jobs: beside them lie those of datasets that were run earlier."""
    per_dataset = ("read_answers", "make_market", "announce_dataset")
    each = ("split_market", "combine_answers", "estimate_accuracy")
    each += ("select_services", "route_plus", "evaluate_baselines")
    jobs = expand("{rule}/{dataset}", rule=per_dataset, dataset=DATASETS)
    jobs += expand("{rule}/{dataset}/{repetition}", rule=each, **EACH)
    own = ("split_market", "route_per_call", "evaluate_routers")
    jobs += expand("{rule}/{dataset}/{repetition}", rule=own, **EACH_PER_CALL)
    for study, (datasets, repetitions) in STUDIED.items():
        jobs += [f"study_{study}/{name}/{number}" for name in datasets for number in repetitions]
    jobs += [f"exhibits_{batch}" for batch in BATCHES]
    jobs += ["fetch_release"] if FETCHED else []
    jobs += ["try_automl"] if launcher_of(PREDICTOR, *INSTALLED) else []
    return [f"results/benchmarks/{job}.tsv" for job in jobs]
