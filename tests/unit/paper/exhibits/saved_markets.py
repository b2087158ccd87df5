"""Markets in files, as an exhibit reads them."""

from pathlib import Path

from frugalmct.market import LabelMarket
from frugalmct.paper.exhibit import Inputs


def saved(folder: Path, *markets: LabelMarket) -> Inputs:
    files = [str(folder / f"{market.name}.npz") for market in markets]
    for market, file in zip(markets, files, strict=True):
        market.save(file)
    return Inputs({"markets": files})
