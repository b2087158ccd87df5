"""A run of two small simulated datasets and one with costs per call, as the workflow makes it, through files;
only what is asked for."""

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd
from helpers import BLOCKS
from per_call_markets import FAST, prompts

from frugalmct.paper.exhibit import STAGES, STUDY, Inputs, load_exhibit, make_exhibit
from frugalmct.paper.stages.baselines import sweep_baselines, sweep_fair_baselines
from frugalmct.paper.stages.call_estimates import RepetitionCalls
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates, learning_for
from frugalmct.paper.stages.per_call import fit_per_call, settings_of, sweep_per_call
from frugalmct.paper.stages.plans import save_plans
from frugalmct.paper.stages.plus import plus_learning, sweep_plus
from frugalmct.paper.stages.routers import sweep_routers
from frugalmct.paper.stages.select import sweep_all
from frugalmct.paper.studies.registry import CALL_STUDIES
from frugalmct.paper.tables import stacked, write_table
from frugalmct.predict import PREDICTORS
from frugalmct.sources import load_market
from frugalmct.splits import split

# Dataset -> the share of its items that leaves about two hundred.
SCALES = {"PASCAL": 0.02, "COCO": 0.0016}
STUDIED = "COCO"
# Every call has its own cost.
CALLED = "prompts"
CALL_BUDGETS = [0.25, 0.6, 1.2, 2.0]
CALL_STAGES = ("per_call", "routers", "call_estimates")
DATASETS = [*SCALES, CALLED]
REPETITIONS = (0, 1)
BUDGETS = [0.01, 3.0, 6.0, 12.0, 30.0]
SEED = 3
SHARED = {"silence": "reject", "seed": SEED}
FOREST = {"predictor": "random_forest", "options": {"trees": 5, "leaf": 10}} | SHARED
DUMMY = {"predictor": "mean", "options": {}} | SHARED
ENDINGS = {
    "markets": "npz", "splits": "npz", "combinations": "json", "estimates": "npz", "plans": "json",
    "call_estimates": "npz",
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    table: Path
    figures: list[Path]
    caption: Path


def shown_by(name: str) -> list[str]:
    return load_exhibit(name).shows(DATASETS, [CALLED])


class SmallRun:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for dataset in SCALES:
            self._stages(dataset)
        self._call_stages()
        # Methods are cached by what they are asked for.
        self.study, self.make = cache(self._study), cache(self._make)

    def file(self, stage: str, dataset: str, repetition: int | None = None) -> Path:
        ending = ENDINGS.get(stage, "csv")
        name = dataset if repetition is None else f"{dataset}/{repetition}"
        path = self.folder / stage / f"{name}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _stages(self, dataset: str) -> None:
        block = BLOCKS[dataset]
        market = load_market(dataset, block, seed=SEED, scale=SCALES[dataset])
        market.save(self.file("markets", dataset))
        for repetition in REPETITIONS:
            parts = split(len(market), seed=SEED + repetition)
            learning = learning_for(dataset, repetition, block, FOREST)
            combination = Combination.fit(market, parts, "SSD", learning)
            estimates = RepetitionEstimates.fit(market, parts, combination, learning)
            plans, metric = estimates.plans(parts, BUDGETS, 0.01), block["metric"]
            train, test = market.subset(parts.whole_train), market.subset(parts.test)
            chosen = sweep_all(test, combination, estimates, plans, metric, repetition, SEED)
            beside = stacked(
                [
                    sweep_baselines(train, test, BUDGETS, metric, repetition, SEED),
                    sweep_fair_baselines(train, test, estimates, BUDGETS, metric, repetition, SEED),
                ]
            )
            for stage, made in (("splits", parts), ("combinations", combination), ("estimates", estimates)):
                made.save(self.file(stage, dataset, repetition))
            save_plans(plans, self.file("plans", dataset, repetition))
            write_table(chosen, self.file("selections", dataset, repetition))
            quick = replace(plus_learning(dataset, repetition, block, SEED), options=FOREST["options"])
            plus = sweep_plus(train, test, BUDGETS, "SSD", quick, repetition)
            write_table(plus, self.file("plus", dataset, repetition))
            write_table(beside, self.file("baselines", dataset, repetition))

    def _call_stages(self) -> None:
        market = prompts(160, SEED)
        market.save(self.file("markets", CALLED))
        for repetition in REPETITIONS:
            parts = split(len(market), seed=SEED + repetition)
            train, test = market.subset(parts.whole_train), market.subset(parts.test)
            settings = settings_of(CALLED, repetition, SEED) | {"options": FAST}
            found = fit_per_call(train, CALL_BUDGETS, "auto", settings)
            others = sweep_routers(train, test, CALL_BUDGETS, settings, repetition)
            parts.save(self.file("splits", CALLED, repetition))
            RepetitionCalls.of(found, test).save(self.file("call_estimates", CALLED, repetition))
            ours = sweep_per_call(found, test, repetition)
            for stage, rows in (("per_call", ours), ("routers", others)):
                write_table(rows, self.file(stage, CALLED, repetition))

    def _study(self, study: str) -> list[str]:
        """Of one dataset of each kind in one repetition, through files as the workflow does it."""
        return [self.studied(study, dataset, kind) for dataset, kind in self.kinds(study).items()]

    @staticmethod
    def kinds(study: str) -> dict[str, str]:
        return {STUDIED: ""} | ({CALLED: "calls."} if study in CALL_STUDIES else {})

    @staticmethod
    def study_module(study: str, kind: str) -> ModuleType:
        return import_module(f"frugalmct.paper.studies.{kind}{study}")

    @staticmethod
    def predictors(module: ModuleType) -> list[str]:
        """The modules of those that a study is configured by here, as the workflow knows them."""
        used = {"learning": [FOREST], "learnings": [FOREST, DUMMY]}
        learnings = [learning for name in module.SETTINGS for learning in used.get(name, [])]
        return [module for one in learnings for module in PREDICTORS.modules(one["predictor"])]

    def studied(self, study: str, dataset: str, kind: str) -> str:
        module = self.study_module(study, kind)
        cell = (dataset, 0)
        files = {
            "market": self.file("markets", dataset),
            "split": self.file("splits", *cell),
            "combination": self.file("combinations", *cell),
            "estimates": self.file("estimates", *cell),
            "plans": self.file("plans", *cell),
            "call_estimates": self.file("call_estimates", *cell),
        }
        known = {
            "budget": 6.0,
            "budgets": [3.0, 6.0],
            "block": BLOCKS[STUDIED],
            "seed": SEED,
            "learning": FOREST,
            "learnings": [FOREST, DUMMY],
            "lacking": {},
            "solver_study": {"items": [20, 50], "time_limit": 20.0},
            "time_limit": 20,
            "prices": BLOCKS[STUDIED]["prices"],
        }
        settings = {name: known[name] for name in module.SETTINGS}
        case = module.Case.load(*cell, {name: files[name] for name in module.NEEDS}, settings)
        path = self.file(f"studies/{study}", *cell)
        write_table(module.run(case), path)
        return str(path)

    def _files_of(self, name: str, need: str) -> list[str]:
        if need == "markets":
            return [str(self.file(need, dataset)) for dataset in shown_by(name)]
        if need in STAGES:
            datasets = [CALLED] if need in CALL_STAGES else SCALES
            return [str(self.file(need, dataset, rep)) for dataset in datasets for rep in REPETITIONS]
        if need.startswith(STUDY):
            return self.study(need.removeprefix(STUDY))
        return [str(self.make(need).table)]

    def _inputs(self, name: str) -> dict[str, list[str]]:
        return {need: self._files_of(name, need) for need in load_exhibit(name).needs}

    @staticmethod
    def settings(name: str) -> dict:
        datasets, called = shown_by(name), {"task": "LLM", "prices": {}}
        known = {
            "datasets": datasets,
            "tasks": {dataset: BLOCKS.get(dataset, called)["task"] for dataset in datasets},
            "prices": {dataset: BLOCKS.get(dataset, called)["prices"] for dataset in datasets},
            "units": dict.fromkeys(datasets, "USD per 10,000 items"),
            "dropped": {dataset: {} for dataset in datasets},
            "predictor": FOREST["predictor"],
            "train_share": 0.5,
            "data": {dataset: "recorded" if dataset == CALLED else "simulated" for dataset in datasets},
        }
        return {key: known[key] for key in ("data", *load_exhibit(name).settings)}

    def build(self, name: str) -> pd.DataFrame:
        """What the exhibit's own `build` gives."""
        return load_exhibit(name).build(Inputs(self._inputs(name)), self.settings(name))

    def _make(self, name: str) -> Made:
        """Its files, as its job writes them."""
        exhibit = load_exhibit(name)
        shown = shown_by(name)
        if exhibit.studies:
            shown = [name for name in (STUDIED, CALLED) if name in shown]
        stems = [name] if exhibit.plot else []
        stems += [f"{name}/{dataset}" for dataset in exhibit.datasets_drawn(shown)]
        figures = [self.folder / "figures" / f"{stem}.{end}" for stem in stems for end in ("svg", "png")]
        made = Made(self.file("tables", name), figures, self.folder / "captions" / f"{name}.rst")
        make_exhibit(
            name,
            self._inputs(name),
            self.settings(name),
            str(made.table),
            list(map(str, figures)),
            str(made.caption),
        )
        return made
