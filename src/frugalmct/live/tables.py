"""The ledger's tables and every statement that is sent to them; needs SQLAlchemy (extra `live`)."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    Text,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal_column,
    or_,
    select,
    text,
    union_all,
    update,
)

TABLES = MetaData()

ACCOUNT = Table(
    "frugalmct_account",
    TABLES,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("format", Integer, nullable=False),
    Column("budget", Text, nullable=False),
)
"""One row. In PostgreSQL its lock is what makes writers wait for each other."""

PERIODS = Table(
    "frugalmct_periods",
    TABLES,
    Column("start", Double, primary_key=True, autoincrement=False),
    Column("end", Double),
    Column("money", BigInteger, nullable=False),
    Column("spent", BigInteger, CheckConstraint("spent >= 0"), nullable=False),
    Column("reserved", BigInteger, CheckConstraint("reserved >= 0"), nullable=False),
    Column("item_count", BigInteger, CheckConstraint("item_count >= 0"), nullable=False),
    sqlite_with_rowid=False,
)
"""Running totals, so that looking at what is left costs the same after a million calls as after one."""

CALLS = Table(
    "frugalmct_calls",
    TABLES,
    Column("id", String(200), primary_key=True),
    Column("ticket", String(200), nullable=False),
    Column("service", String(200), nullable=False),
    Column("state", String(12), nullable=False),
    Column("amount", BigInteger, CheckConstraint("amount >= 0"), nullable=False),
    Column("cost", BigInteger, CheckConstraint("cost >= 0")),
    Column("period", Double, nullable=False),
    Column("day", String(10), nullable=False),
    Column("reserved_at", Double, nullable=False),
    Column("closed_at", Double),
    sqlite_with_rowid=False,
)
Index("frugalmct_calls_ticket", CALLS.c.ticket)
Index(
    "frugalmct_calls_open",
    CALLS.c.reserved_at,
    sqlite_where=CALLS.c.state == "reserved",
    postgresql_where=CALLS.c.state == "reserved",
)

NOTES = Table(
    "frugalmct_notes",
    TABLES,
    Column("key", String(200), primary_key=True),
    Column("value", Text, nullable=False),
)
"""Small texts that processes share: sketches of the traffic, breakers."""

LOCK = select(ACCOUNT.c.id).with_for_update()
READ_ACCOUNT = select(ACCOUNT.c.format, ACCOUNT.c.budget)
# Two processes may both find no row to lock, and both make it.
OPEN_ACCOUNT = text(
    f"INSERT INTO {ACCOUNT.name} (id, format, budget) VALUES (:id, :format, :budget) ON CONFLICT DO NOTHING"
)
WRITE_BUDGET = update(ACCOUNT).values(budget=bindparam("new"))

LATEST = select(PERIODS).order_by(PERIODS.c.start.desc()).limit(1)
BEFORE = select(PERIODS).where(PERIODS.c.start < bindparam("start")).order_by(PERIODS.c.start.desc()).limit(1)
OPEN_PERIOD = insert(PERIODS)

_KNOWN = exists().where(CALLS.c.ticket == bindparam("ticket"))
_LAST = select(func.max(PERIODS.c.start)).scalar_subquery()
TAKE = (
    update(PERIODS)
    .where(
        PERIODS.c.start == _LAST,
        or_(PERIODS.c.end.is_(None), PERIODS.c.end > bindparam("now")),
        PERIODS.c.spent + PERIODS.c.reserved + bindparam("amount") <= PERIODS.c.money,
    )
    .values(
        reserved=PERIODS.c.reserved + bindparam("amount"),
        item_count=PERIODS.c.item_count + case((_KNOWN, literal_column("0")), else_=literal_column("1")),
    )
    .returning(
        PERIODS.c.start,
        (PERIODS.c.money - PERIODS.c.spent - PERIODS.c.reserved).label("left"),
        PERIODS.c.item_count,
    )
)
"""Reserves money of the latest period, unless it has ended; an item counts with its ticket's first call."""

RECORD = insert(CALLS).values(
    {column: bindparam(column.name) for column in CALLS.c if column.name not in ("cost", "closed_at")}
)
FIND = select(CALLS).where(CALLS.c.id == bindparam("key"))
_CLOSED: dict[str, Any] = {"state": bindparam("to_state"), "closed_at": bindparam("at")}
CLOSE = (
    update(CALLS)
    .where(CALLS.c.id == bindparam("key"), CALLS.c.state == literal_column("'reserved'"))
    .values(cost=func.coalesce(bindparam("new_cost", type_=BigInteger), CALLS.c.amount), **_CLOSED)
    .returning(CALLS.c.amount, CALLS.c.cost, CALLS.c.period)
)
"""Closes a reservation that is still open."""
CORRECT = update(CALLS).where(CALLS.c.id == bindparam("key")).values(cost=bindparam("new_cost"), **_CLOSED)
MOVE = (
    update(PERIODS)
    .where(PERIODS.c.start == bindparam("period"))
    .values(
        reserved=PERIODS.c.reserved - bindparam("no_longer_reserved"),
        spent=PERIODS.c.spent + bindparam("newly_spent"),
    )
)

# The same two steps as one statement each, for PostgreSQL: writers then wait for each other inside the server
# only, not while messages travel.
_TOOK = TAKE.cte("took")
_NEW = {
    name: bindparam(name, type_=CALLS.c[name].type)
    for name in ("id", "ticket", "service", "state", "amount", "day", "reserved_at")
}
_MADE = insert(CALLS).from_select([*_NEW, "period"], select(*_NEW.values(), _TOOK.c.start)).cte("made")
RESERVE_AT_ONCE = select(_TOOK.c.left, _TOOK.c.item_count).add_cte(_MADE)
_CLOSING = CLOSE.cte("closed")
SETTLE_AT_ONCE = (
    update(PERIODS)
    .where(PERIODS.c.start == _CLOSING.c.period)
    .values(reserved=PERIODS.c.reserved - _CLOSING.c.amount, spent=PERIODS.c.spent + _CLOSING.c.cost)
    .returning(_CLOSING.c.cost)
)
STAND_ALONE = text(f"LOCK TABLE {PERIODS.name}, {CALLS.name} IN EXCLUSIVE MODE")
"""For work that replaces rows of periods: statements that hold no other lock wait, and then see it done."""

WRITE_OFF = (
    update(CALLS)
    .where(CALLS.c.state == "reserved", CALLS.c.reserved_at < bindparam("before"))
    .values(state="written off", cost=CALLS.c.amount, closed_at=bindparam("at"))
    .returning(CALLS.c.period, CALLS.c.amount)
)

_FROM_ON = PERIODS.c.start >= bindparam("period")
SUMS_FROM_ON = select(
    func.count().label("periods"),
    func.coalesce(func.sum(PERIODS.c.spent), 0).label("spent"),
    func.coalesce(func.sum(PERIODS.c.reserved), 0).label("reserved"),
    func.coalesce(func.sum(PERIODS.c.item_count), 0).label("item_count"),
).where(_FROM_ON)
DROP_FROM_ON = PERIODS.delete().where(_FROM_ON)
END_BY = (
    update(PERIODS)
    .where(PERIODS.c.start == _LAST, or_(PERIODS.c.end.is_(None), PERIODS.c.end > bindparam("period")))
    .values(end=bindparam("period"))
)

# Of periods that began before: what their calls since then hold, and the items that came since then.
_HELD = select(
    CALLS.c.period,
    func.coalesce(CALLS.c.cost, 0).label("spent"),
    case((CALLS.c.state == "reserved", CALLS.c.amount), else_=0).label("reserved"),
    literal_column("0").label("item_count"),
).where(CALLS.c.period < bindparam("period"), CALLS.c.reserved_at >= bindparam("period"))
_CAME: Select[Any] = (
    select(
        func.min(CALLS.c.period).label("period"),
        literal_column("0").label("spent"),
        literal_column("0").label("reserved"),
        literal_column("1").label("item_count"),
    )
    .group_by(CALLS.c.ticket)
    .having(
        func.min(CALLS.c.period) < bindparam("period"), func.min(CALLS.c.reserved_at) >= bindparam("period")
    )
)
_SINCE = union_all(_HELD, _CAME).subquery()
SUMS_SINCE = select(
    _SINCE.c.period, *(func.sum(_SINCE.c[name]).label(name) for name in ("spent", "reserved", "item_count"))
).group_by(_SINCE.c.period)
TAKE_OUT = (
    update(PERIODS)
    .where(PERIODS.c.start == bindparam("out_of"))
    .values({name: PERIODS.c[name] - bindparam(name) for name in ("spent", "reserved", "item_count")})
)
MOVE_CALLS = (
    update(CALLS)
    .where(or_(CALLS.c.period >= bindparam("since"), CALLS.c.reserved_at >= bindparam("since")))
    .values(period=bindparam("new"))
)

ALL_PERIODS = select(
    func.coalesce(func.sum(PERIODS.c.spent), 0),
    func.coalesce(func.sum(PERIODS.c.item_count), 0),
    select(ACCOUNT.c.budget).scalar_subquery(),
)
_TOTALS = (
    func.count().label("calls"),
    func.coalesce(func.sum(CALLS.c.cost), 0).label("spent"),
    func.coalesce(func.sum(case((CALLS.c.state == "reserved", CALLS.c.amount), else_=0)), 0).label(
        "reserved"
    ),
    *(
        func.coalesce(func.sum(case((CALLS.c.state == state, 1), else_=0)), 0).label(state.replace(" ", "_"))
        for state in ("settled", "released", "written off")
    ),
)
BY_SERVICE = select(CALLS.c.service, *_TOTALS).group_by(CALLS.c.service).order_by(CALLS.c.service)
BY_DAY = select(CALLS.c.day, *_TOTALS).group_by(CALLS.c.day).order_by(CALLS.c.day)
PAGE = select(CALLS).where(CALLS.c.id > bindparam("after")).order_by(CALLS.c.id).limit(bindparam("rows"))
OF_TICKET = select(CALLS).where(CALLS.c.ticket == bindparam("ticket")).order_by(CALLS.c.id)

READ_NOTE = select(NOTES.c.value).where(NOTES.c.key == bindparam("key"))
NOTES_OF = (
    select(NOTES.c.key, NOTES.c.value)
    .where(NOTES.c.key.startswith(bindparam("prefix")))
    .order_by(NOTES.c.key)
)
ADD_NOTE = insert(NOTES)
CHANGE_NOTE = update(NOTES).where(NOTES.c.key == bindparam("which")).values(value=bindparam("new"))
