"""The kinds of figures: a file each, and its line in this list."""

from typing import Annotated

from pydantic import Field

from dumbbell.figures.kinds.bars import BarsFigure
from dumbbell.figures.kinds.boxes import BoxesFigure
from dumbbell.figures.kinds.cdf import CdfFigure
from dumbbell.figures.kinds.heatmap import HeatmapFigure
from dumbbell.figures.kinds.histories import HistoriesFigure
from dumbbell.figures.kinds.measured import MeasuredFigure
from dumbbell.figures.kinds.overlay import OverlayFigure
from dumbbell.figures.kinds.points import PointsFigure
from dumbbell.figures.kinds.ratios import RatiosFigure
from dumbbell.figures.kinds.rows import RowsFigure
from dumbbell.figures.kinds.scatter import ScatterFigure
from dumbbell.figures.kinds.sizes import SizesFigure
from dumbbell.figures.kinds.tradeoff import TradeoffFigure

FigureSpec = Annotated[
    PointsFigure
    | BarsFigure
    | ScatterFigure
    | BoxesFigure
    | RowsFigure
    | HeatmapFigure
    | RatiosFigure
    | HistoriesFigure
    | OverlayFigure
    | CdfFigure
    | SizesFigure
    | MeasuredFigure
    | TradeoffFigure,
    Field(discriminator="kind"),
]
"""A figure of any kind."""
