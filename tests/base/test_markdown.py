"""Generated Markdown shows what it was given, and nothing of it becomes markup."""

from dumbbell.base import markdown


def test_cells_keep_to_their_columns() -> None:
    rows = [("a|b", "two\n  lines"), ("", "`x`")]
    assert markdown.table(("one", "two"), rows) == (
        "| one | two |\n| --- | --- |\n| a\\|b | two lines |\n|  | `x` |\n"
    )


def test_text_stays_as_it_is_but_for_code() -> None:
    assert markdown.literal("a_b <c> *d*") == r"a\_b \<c> \*d\*"
    assert markdown.prose("`a_b` and a_b") == r"`a_b` and a\_b"
