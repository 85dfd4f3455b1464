"""The demo's tables: what they compute from what was measured."""

from driver.measures import Run, Work, order_lines, report_table, table, work_table
from driver.truth import Traffic


def indexing() -> Work:
    return Work(
        "Building the index",
        {
            "single": Run({"analysis": 600_000, "indexing": 400_000}, Traffic(10, 10, 600, 400)),
            "message": Run({"analysis": 60_000, "indexing": 40_000}, Traffic(10, 1, 300, 200)),
            "application": Run({"analysis": 45_000, "indexing": 45_000}, Traffic(10, 1, 150, 50)),
            "light": Run({"analysis": 4_000, "indexing": 1_000}),
        },
    )


def querying() -> Work:
    times = {"single": 1000, "message": 100, "application": 50, "light": 10}
    queries = ("a", "the", "book", "at")
    return Work("Queries", {way: Run(dict.fromkeys(queries, time)) for way, time in times.items()})


def test_columns_align_at_the_right() -> None:
    assert (
        table("x", ["one", "two"], [("row", ["1", "22222"])])
        == "x    one    two\n---------------\nrow    1  22222"
    )


def test_a_work_has_its_parts_its_sum_and_its_traffic() -> None:
    text = work_table(indexing(), {"analysis": ["analysis"], "indexing": ["indexing"]})

    rows = {line.split("  ")[0]: line.split()[-4:] for line in text.splitlines()}
    assert rows["analysis"] == ["600", "60", "45", "4.00"]
    assert rows["all"] == ["1,000", "100", "90", "5.00"]
    assert rows["against single calls"] == ["x", "11.1", "x", "200.0", "x"][-4:]
    assert rows["messages"] == ["10", "1", "1", "-"]
    assert rows["sent (bytes)"] == ["600", "300", "150", "-"]


def test_the_reports_reductions_stand_beside_ours() -> None:
    lines = report_table(indexing(), querying()).splitlines()

    assert lines[2].split()[-4:] == ["−82.9", "%", "−90", "%"]
    assert any(
        line.startswith("bytes: application batches for message batches") and "−60 %" in line
        for line in lines
    )


def test_an_order_that_differs_is_said() -> None:
    work = indexing()
    assert all(line.startswith("  as expected") for line in order_lines(work))

    work.runs["message"] = Run({"analysis": 500_000, "indexing": 0})

    assert order_lines(work)[0] == (
        "  NOT as expected: message batches at least 5 times faster than single calls: 2.0 times"
    )
