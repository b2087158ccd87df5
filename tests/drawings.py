"""What stands in a drawing."""

from pathlib import Path
from xml.etree import ElementTree

from matplotlib.figure import Figure
from matplotlib.text import Text

from frugalmct.paper.plotting import save_figure


def texts(svg: Path) -> str:
    return " ".join(ElementTree.parse(svg).getroot().itertext())


def drawn_text(figure: Figure, folder: Path) -> str:
    save_figure(figure, [folder / "drawn.svg"])
    return texts(folder / "drawn.svg")


def words(figure: Figure) -> str:
    """Titles, notes and stamps, without the time that drawing takes; marks of the axes are set only then."""
    return " ".join(text.get_text() for text in figure.findobj(Text))
