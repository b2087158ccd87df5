"""New databases on a server."""

from urllib.parse import quote
from uuid import uuid4


def new_schema(server: str) -> str:
    """A URL under which all tables are new."""
    from sqlalchemy import create_engine, text

    name = f"test_{uuid4().hex}"
    engine = create_engine(server)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    engine.dispose()
    return f"{server}&options={quote(f'-csearch_path={name}')}"
