"""Every solver at hand chooses services for the same items, few to many."""

from frugalmct.job import job_log
from frugalmct.market import Market
from frugalmct.predictions import Predictions
from frugalmct.strategy import load_plans
from frugalmct.studies.case import plan_at
from frugalmct.studies.solvers import slowest, solver_study
from frugalmct.tables import data_kind, write_table

with job_log(snakemake.log[0]) as log:
    params, market = snakemake.params, Market.load(snakemake.input.market)
    predictions = Predictions.load(snakemake.input.predictions)
    plan = plan_at(load_plans(snakemake.input.plans), predictions.prices, params.budget)
    predicted = predictions.by_base[plan.base]
    table = solver_study(
        market.name, predicted, plan, params.study["items"], params.study["time_limit"], data_kind(market)
    )
    write_table(table, snakemake.output[0])
    log.info("on the most items: %s", ", ".join(slowest(table)))
