"""The pictures of results/figures: one look, the same bytes every time, and said of what data they are."""
