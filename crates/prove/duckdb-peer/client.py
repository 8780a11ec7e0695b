"""Runs SQL in DuckDB for the benchmark: one request a line in, one reply a line out, both JSON."""

import decimal
import json
import platform
import sys
import time

import duckdb


def text(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return repr(value)
    # Without an exponent, so that the digits after the point can be counted.
    return format(value, "f") if isinstance(value, decimal.Decimal) else str(value)


def run(connection, sql):
    began = time.perf_counter()
    cursor = connection.execute(sql)
    # Every query ends in a sort or an aggregate, so the work is done; making Python objects is not DuckDB's.
    ms = (time.perf_counter() - began) * 1000
    rows = cursor.fetchall() if cursor.description else []
    types = [str(column[1]) for column in cursor.description or []]
    return {"ms": ms, "types": types, "rows": [[text(value) for value in row] for row in rows]}


def main():
    n_threads = int(sys.argv[1])
    connection = duckdb.connect()
    connection.execute(f"SET threads = {n_threads}")
    shown = "SELECT current_setting('threads'), current_setting('memory_limit')"
    threads, memory = connection.execute(shown).fetchone()
    reply(
        {
            "versions": {"duckdb": duckdb.__version__, "python": platform.python_version()},
            "settings": {"duckdb_threads": threads, "duckdb_memory_limit": memory},
        }
    )
    for line in sys.stdin:
        try:
            reply(run(connection, json.loads(line)["sql"]))
        except duckdb.Error as error:
            reply({"error": str(error)})


def reply(value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
