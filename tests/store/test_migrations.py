"""Steps of the schema that change what is already there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.migrations import APPLICATION_ID, MIGRATIONS
from store_inputs import make_parse, make_record

RECIPES = next(i for i, step in enumerate(MIGRATIONS) if "recipe TEXT" in step[0])


def test_version_staged_before_there_were_recipes_can_still_be_promoted(tmp_path: Path) -> None:
    with SqliteCatalogue(tmp_path / "new.db") as new:
        new.stage(make_record("d"), make_parse(), contents="c")
        (staged,) = new.database.rows("SELECT * FROM staged")
        (version,) = new.database.rows("SELECT * FROM versions")
    *kept, record = staged
    values = json.loads(record)
    del values["recipe"]
    old = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    for step in MIGRATIONS[:RECIPES]:
        for statement in step:
            old.execute(statement)
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {RECIPES}")
    old.execute("INSERT INTO staged VALUES (?, ?, ?, ?)", (*kept, json.dumps(values)))
    old.execute(f"INSERT INTO versions VALUES ({', '.join('?' * len(version))})", version)
    old.close()

    with SqliteCatalogue(tmp_path / "old.db") as upgraded:
        upgraded.promote("d")
        assert upgraded.document("d") == make_record("d")
