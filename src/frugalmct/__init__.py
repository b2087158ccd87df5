"""FrugalMCT: which paid ML services to call for each input, within a budget."""

__version__ = "0.1.0"
