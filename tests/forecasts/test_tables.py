"""Real tables: every oddity is a clear line or a note, and nothing is dropped without a word."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from linnet.forecasts.scaling import scaler
from linnet.forecasts.tables import data_table, from_frame, read

FRAME = pd.DataFrame(
    {"a": [1.0, 2.0, 3.0, 4.0], "b": [2, 1, 0, 5], "flag": [True, False, True, True], "y": [0.1, 0.2, 0.3, 0.5]}
)


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npy", "npz", "headless"])
def test_every_format_reads_the_same_numbers(kind, tmp_path):
    path = tmp_path / f"t.{'csv' if kind == 'headless' else kind}"
    values = FRAME.to_numpy(dtype=float)
    if kind == "csv":
        FRAME.to_csv(path, index=False)
    elif kind == "tsv":
        FRAME.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        FRAME.to_parquet(path)
    elif kind == "npy":
        np.save(path, values)
    elif kind == "npz":
        np.savez(path, X=values[:, :3], Y=values[:, 3:])
    else:
        np.savetxt(path, values, delimiter=",")
    found = read(path) if kind == "npz" else read(path, target="y" if kind in ("csv", "tsv", "parquet") else 3)
    assert_allclose(found.inputs, values[:, :3])
    assert_allclose(found.outputs, values[:, 3:])
    if kind in ("csv", "tsv", "parquet"):
        assert found.input_names == ["a", "b", "flag"]


def test_the_last_column_is_the_target_unless_another_is_named(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, index=False)
    assert "the last column, 'y'" in read(path).notes[0]
    assert read(path, target="a,b").output_names == ["a", "b"]
    assert read(path, target="y", drop="flag").notes == ["Left out, as asked: flag."]
    few = read(path, target="y", rows=2)
    assert few.shape == (2, 3, 1)


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (FRAME.assign(name=list("wxyz")), {}, r"column 'name' holds text or dates \('w'\).*--drop name"),
        (FRAME.assign(a=[1.0, np.nan, 3.0, np.nan]), {}, "column 'a' has 2 missing values, the first in line 3"),
        (FRAME.assign(y=1.0), {}, "target 'y' is constant: there is nothing to learn"),
        (FRAME.assign(a=1.0, b=1.0, flag=1.0), {}, "all input columns are constant"),
        (FRAME.iloc[:1], {}, "at least 2 rows to learn from: got 1"),
        (FRAME, {"target": "z"}, "there is no 'z' among a, b, flag, y"),
        (FRAME, {"target": "a,b,flag,y"}, "must leave columns to predict from"),
        (
            FRAME.assign(y=[1, np.nan, 2, 3]),
            {"missing": "mean"},
            "target 'y' has missing values: they cannot be filled",
        ),
        (FRAME, {"missing": "guess"}, "`missing` must be one of error, drop, mean"),
    ],
)
def test_what_is_refused_names_the_column_and_what_to_do(frame, options, message, tmp_path):
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        read(path, **{"target": "y", **options})


def test_gaps_are_dropped_or_filled_only_when_asked():
    frame = FRAME.assign(a=[1.0, np.nan, 3.0, 5.0])
    dropped = data_table(frame[["a", "b"]], frame["y"], missing="drop")
    assert dropped.shape == (3, 2, 1) and "1 of 4 rows have missing values (a)" in dropped.notes[0]
    filled = data_table(frame[["a", "b"]], frame["y"], missing="mean")
    assert filled.inputs[1, 0] == 3.0 and "filled with the means" in filled.notes[0]


def test_constant_and_equal_columns_and_many_targets_are_told_and_kept():
    frame = FRAME.assign(c=7.0, again=FRAME["a"])
    found = data_table(frame[["a", "b", "c", "again"]], np.arange(24.0).reshape(4, 6) ** 2)
    told = " ".join(found.notes)
    assert "kept at zero: c" in told and "again = a" in told and "More targets (6) than rows (4)" in told
    assert found.shape == (4, 4, 6)


def test_what_does_not_fit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "t.npy"
    huge = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(10**7, 10**4))  # sparse: takes no room
    del huge
    with pytest.raises(ValueError, match=r"an array of 10000000 x 10000 in t.npy would take .* GiB.*--rows N"):
        read(path)


def test_an_array_that_does_not_fit_is_refused_by_its_size():
    with pytest.raises(ValueError, match=r"working on a table of 10000000 x 10000 would take .* GiB.*`rows`"):
        data_table(np.broadcast_to(0.5, (10**7, 10**4)), np.zeros(10**7))


def test_strange_files(tmp_path):
    with pytest.raises(ValueError, match="must end in one of"):
        read(tmp_path / "t.xls")
    with pytest.raises(ValueError, match="there is none at"):
        read(tmp_path / "t.csv")
    (tmp_path / "e.csv").write_text("")
    with pytest.raises(ValueError, match="cannot be read as a table"):
        read(tmp_path / "e.csv")
    np.savez(tmp_path / "z.npz", a=np.ones((3, 2)), b=np.ones(2))
    with pytest.raises(ValueError, match="must hold arrays X and Y, or one array: it holds a, b"):
        read(tmp_path / "z.npz")
    with pytest.raises(ValueError, match="the same number of rows: got 3 and 2"):
        data_table(np.ones((3, 2)), np.ones(2))
    with pytest.raises(ValueError, match="occur more than once"):
        data_table(pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), np.arange(3.0))


@pytest.mark.parametrize("choice", ["center", "standardize", "whiten"])
def test_scaling_does_what_it_says(choice):
    X = (
        np.random.default_rng(0).standard_normal((200, 3))
        @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [3.0, 0.0, 10.0]])
        + 5
    )
    X = np.concatenate([X, np.full((200, 1), 2.0)], axis=1)
    done = scaler(X, choice).apply(X)
    assert_allclose(done.mean(axis=0), 0, atol=1e-12)
    if choice == "standardize":
        assert_allclose(done.std(axis=0), [1, 1, 1, 0], atol=1e-12)
        assert_allclose(scaler(X, choice).undo(done), X)
    if choice == "whiten":
        assert_allclose(done.T @ done / 200, np.eye(3), atol=1e-12)
        with pytest.raises(ValueError, match="scaled one by one: these were whitened"):
            scaler(X, choice).undo(X)
    with pytest.raises(ValueError, match="`preprocess` must be one of center, standardize, whiten"):
        scaler(X, "robust")


MIXED = pd.DataFrame(
    {
        "Unnamed: 0": range(6),
        "city": list("abcdef"),
        "when": [f"2019-01-0{day}" for day in range(1, 7)],
        "same": 3.0,
        "size": [1.0, 2.0, 4.0, 8.0, 16.0, 31.0],
        "y": [0.1, 0.2, 0.3, 0.5, 0.7, 0.1],
    }
)


def test_text_dates_counts_and_constants_are_named_together_and_the_command_works(tmp_path):
    path = tmp_path / "t.csv"
    MIXED.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"columns 'city' \('a'\), 'when' \('2019-01-01'\) hold text") as refused:
        read(path)
    asked = re.search(r"--drop (\S+|'[^']*')\)", str(refused.value)).group(1).strip("'")
    assert "counts the rows" in str(refused.value) and "'same' (it is constant)" in str(refused.value)
    table = read(path, drop=asked)
    assert table.input_names == ["size"] and table.output_names == ["y"]
    assert not any("Constant" in note or "counts" in note for note in table.notes)


def test_the_advice_to_drop_keeps_what_was_dropped_and_comes_true():
    """Each advice replaces the option, so it must hold the columns of the one before."""
    count = np.arange(6.0)
    frame = pd.DataFrame(
        {"name": list("uvwxyz"), "row, counted": count, "copy": 2 * count**2, "a": count % 3, "y": count**2}
    )
    drop, options = None, []
    for _ in range(3):
        try:
            said = " ".join(from_frame(frame, target="y", drop=drop).notes)
        except ValueError as refused:
            said = str(refused)
        if (option := re.search(r"--drop ([^)]+)\)", said)) is None:
            break
        drop = option.group(1).strip("'")
        options.append(drop)
    assert options == ["0,1", "0,1,2"]
    assert from_frame(frame, target="y", drop=drop).input_names == ["a"]


def test_names_with_commas_are_dropped_by_number():
    frame = MIXED.rename(columns={"city": "city, country"})
    with pytest.raises(ValueError, match=r"--drop 1,2,0,3\)"):
        from_frame(frame)
    assert from_frame(frame, drop="1,2,0,3").input_names == ["size"]
    with pytest.raises(ValueError, match=r"--drop 2,3,1,4\)"):  # numbers count the target too, wherever it stands
        from_frame(frame[["y", *frame.columns[:-1]]], target="y")
    assert from_frame(frame[["y", *frame.columns[:-1]]], target="y", drop="2,3,1,4").input_names == ["size"]
    assert data_table(frame.iloc[:, :5], frame["y"], drop=["city, country", "when"]).shape == (6, 3, 1)


def test_a_target_of_text_is_not_answered_with_leaving_it_out():
    with pytest.raises(ValueError, match=r"target 'city' .'a'. holds text or dates.*name another") as refused:
        from_frame(MIXED, target="city", drop="when")
    assert "--drop" not in str(refused.value)
    with pytest.raises(ValueError, match="`drop` must not name the target: it names y"):
        from_frame(MIXED, target="y", drop="y")


@pytest.mark.parametrize(
    ("text", "encoding", "note"),
    [
        ("a;b;y\n1,5;2;3\n2,5;1;4\n3,5;7;9\n", "utf-8", "separated by semicolons.*decimal comma"),
        ("a;b;y\n1.001,5;2;3\n2,5;1;4\n3,5;7;9\n", "utf-8", "decimal comma"),
        ("a\tb\ty\n1.5\t2\t3\n2.5\t1\t4\n3.5\t7\t9\n", "utf-8", "separated by tabs"),
        ("a|b|y\n1.5|2|3\n2.5|1|4\n3.5|7|9\n", "utf-8", "separated by bars"),
        ("a,b,y\n1.5,2,3\n2.5,1,4\n3.5,7,9\n", "utf-16", "read as UTF-16"),
        ("a,b,y\n1.5,2,3\n2.5,1,4\n3.5,7,9\n", "utf-8-sig", "^$"),
        ("größe,b,y\n1.5,2,3\n2.5,1,4\n3.5,7,9\n", "latin-1", "read as Latin-1"),
        ("1.5,2,3\n2.5,1,4\n3.5,7,9\n", "utf-8", "The first line .1.5, 2, 3. holds numbers alone"),
    ],
)
def test_the_form_of_a_file_is_recognized_and_said(text, encoding, note, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    table = read(path, target=2)
    first = [1001.5, 2.5, 3.5] if "1.001" in text else [1.5, 2.5, 3.5]
    assert_allclose(table.inputs, np.stack([first, [2, 1, 7]], axis=1))
    assert re.search(note, " ".join(table.notes))
    assert encoding != "latin-1" or table.input_names[0] == "größe"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,2,3,4\n5,6,7,8\n", "more fields in its rows than names in its header: columns would have the wr"),
        ("a,b,y\n1,2,3\n5,6,7,8\n", "4 fields in line 3 and 3 names: every line must have one field"),
        ("a,b,y\n", "has a header and no rows"),
        ("a,b,y\n\n,,\n", "has a header and no rows"),
        ("a,b,y\n1,2,3\n\n1,inf,3\n2,2,5\n", "column 'b' has 1 infinite value, the first in line 4"),
        ("a,b,y\n1,2,3\n\n1,,3\n2,2,5\n", "column 'b' has 1 missing value, the first in line 4"),
        ("a,b,y\n1,2,3\n   \n1,,3\n2,2,5\n", "column 'b' has 1 missing value, the first in line 4"),
        ("a b y\n1 2 3\n", "has one column, 'a b y': no separator was recognized"),
    ],
)
def test_what_a_file_should_not_hold(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read(path)


def test_lines_are_those_of_the_file_even_when_rows_are_drawn(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{i * i % 7},{i % 5}" for i in range(20)]
    rows[13] = "13,,3"
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match="the first in line 15"):
        read(path, rows=19, key=1)


def test_lines_are_those_of_the_file_even_when_rows_with_gaps_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i * i % 7},{i % 5}" for i in range(20)]
    rows[3], rows[13] = ",3", "1e9,2"
    path.write_text("a,y\n" + "\n".join(rows) + "\n")
    assert "'a' holds 1e+09 in line 15" in " ".join(read(path, missing="drop").notes)


def test_blank_lines_change_nothing_but_the_numbers_of_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n\na,flag,y\n1,True,3\n\n2,False,4\n,,\n4,True,9\n\n")
    assert read(path).inputs.tolist() == [[1, 1], [2, 0], [4, 1]]
    path.write_text(path.read_text().replace("4,True", ",True"))
    with pytest.raises(ValueError, match="the first in line 8"):
        read(path)


def test_classes_copies_outliers_and_row_numbers_get_their_sentences():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((90, 3)), np.repeat([0.0, 1.0, 2.0], 30)
    assert "takes 3 whole values (0, 1, 2)" in " ".join(data_table(X, y).notes)
    copied = np.column_stack([X, 1000 * X[:, 0] + 5 * X[:, 1]])
    assert "x3 = y0" in " ".join(data_table(copied, X[:, 0] + 0.005 * X[:, 1]).notes)
    X[7, 1] = 1e18
    assert "'x1' holds 1e+18 in row 7" in " ".join(data_table(X, X[:, 0]).notes)
    counted = data_table(np.column_stack([np.arange(90), random.standard_normal(90)]), random.standard_normal(90))
    assert "x0 counts the rows" in " ".join(counted.notes)
    plain = data_table(random.standard_normal((90, 3)), random.standard_normal(90))
    assert plain.notes == []


@pytest.mark.parametrize("end", ["", ","])
@pytest.mark.parametrize("mark", [",", ";"])
def test_an_empty_field_at_the_end_of_every_line_shifts_nothing(mark, end, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,y{end}\n1,2,3,\n5,6,7,\n2,9,1,\n".replace(",", mark))
    table = read(path)
    assert table.inputs.tolist() == [[1, 2], [5, 6], [2, 9]] and table.outputs.ravel().tolist() == [3, 7, 1]


def test_the_error_about_text_shows_an_entry_that_is_text():
    frame = pd.DataFrame({"a": ["0.5", "1.5", "x" * 100], "b": ["2", "n/a", "3"], "c": [1.0, 2.5, 4.0]})
    with pytest.raises(ValueError, match=r"'a' \('x{39}…'\), 'b' \('n/a'\) hold text"):
        data_table(frame, frame["c"])
