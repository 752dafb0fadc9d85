"""`tools/prose.py`: which sentences count, and what may not grow."""

import json
from collections.abc import Iterable
from pathlib import Path

import prose
import prose_pages
import prose_strings
import pytest
from inline_snapshot import snapshot
from sentences import Sentence, of_markdown
from sentences import sentences as split

PLAIN = ["Dumbbell stores each run.", "Where no run finished, the cell is empty.", "What is TCP?"]
PLAIN += ["How does a verdict follow from runs?", "However, flows differ.", "That is why it fails."]
CLAUSES = ["What is stored is a run.", "Whoever reads it runs nothing.", "How it ends is recorded."]
CLAUSES += ["Whether it fits depends on the path.", "Where files are depends on you."]
CLAUSES += ["That there is none takes all of them.", "Which of them is first is drawn."]


@pytest.mark.parametrize("text", PLAIN)
def test_a_noun_a_question_and_a_condition_are_plain(text: str) -> None:
    [sentence] = split(text, "a.md", 1)
    assert not sentence.faults("clauses")


@pytest.mark.parametrize("text", CLAUSES)
def test_a_clause_as_subject_is_found(text: str) -> None:
    [sentence] = split(text, "a.md", 1)
    assert sentence.faults("clauses")


def test_words_of_the_dialect_come_with_the_standard_word() -> None:
    [sentence] = split("It is held to a bound, not to `beside` or beside.", "a.md", 1)
    assert [fault.split('"')[1] for fault in sentence.faults("dialect")] == ["held to", "beside"]
    assert "next to" in sentence.faults("dialect")[1]


def test_markdown_yields_prose_with_its_lines_and_no_code() -> None:
    text = "# What a title is\n\nOne `what is` two. Three\nfour. Five six.\n\n"
    text += "```\nWhat is code.\n```\n\n- An item, with [a link](x.md).\n"
    text += "\n| What a head | is |\n|---|---|\n| A cell. | short |\n"
    sentences = [(sentence.text, sentence.line) for sentence in of_markdown(text, "a.md")]
    assert sentences == snapshot(
        [
            ("One `x` two.", 3),
            ("Three four.", 3),
            ("Five six.", 4),
            ("An item, with a link.", 10),
            ("A cell.", 14),
        ]
    )


def test_values_in_a_row_are_no_sentence() -> None:
    assert not list(split("Reno 1.5, 2.5 and 3.5 Mbit/s.", "a.md", 1))


def test_python_yields_docstrings_of_fields_too_and_messages_of_errors(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        'def a(name):\n    """Do it.\n\n    Parameters\n    ----------\n    name : str\n'
        '        Its name here.\n    """\n'
        '    raise InputError(f"{name} is not " + "valid", valid="a name")\n'
        '\nRATE: int = 1\n"""Rate of it."""\n'
    )
    texts = {(kind, sentence.text) for kind, sentence in prose.of_python(file, "a.py")}
    assert texts == {
        ("docstrings", "Do it."),
        ("docstrings", "Its name here."),
        ("docstrings", "Rate of it."),
        ("errors", "`x` is not valid"),
        ("errors", "a name"),
    }


def test_comments_of_a_c_file_are_prose_without_equations(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "/* SPDX-License-Identifier: MIT */\n/*\n * A law.\n *\n *     w = 1. Then 2.\n *\n"
        " * More of\n * it.\n */\nint a; /* behind code */\n\n"
        "/* What a does. */\n#define A \\\n\t/* It calls \\\n\t * `a` twice. */ \\\n\ta() + a()\n"
        "\t/*\n\t * Not the head.\n\t */\n"
        'char *b = "/* no comment */";\n'
    )
    sentences = [(kind, sentence.text, sentence.line) for kind, sentence in prose.of_c(file, "a.c")]
    assert sentences == snapshot(
        [
            ("head", "A law.", 3),
            ("head", "More of it.", 7),
            ("inside", "What a does.", 12),
            ("inside", "It calls `a` twice.", 14),
            ("inside", "Not the head.", 18),
        ]
    )


def test_comments_of_a_rust_file_are_markdown(tmp_path: Path) -> None:
    file = tmp_path / "a.rs"
    file.write_text(
        "//! A [`Link`] sends. It has\n//! a queue.\n//!\n//! ```text\n//! a picture\n//! ```\n\n"
        "/// What a field holds, in\n/// bytes.\n///\n/// # Errors\n///\n/// A full table.\n"
        "#[derive(Debug)]\nstruct Link; // behind code\n\n"
        "mod inner {\n    //! Head of a module.\n\n    /// Doc of it.\n    // Two kinds here.\n"
        "        // Deeper: another paragraph.\n    //// A rule.\n}\n"
    )
    sentences = [
        (kind, sentence.text, sentence.line) for kind, sentence in prose.of_rust(file, "a.rs")
    ]
    assert sentences == snapshot(
        [
            ("head", "A [`x`] sends.", 1),
            ("head", "It has a queue.", 1),
            ("inside", "What a field holds, in bytes.", 8),
            ("inside", "A full table.", 13),
            ("inside", "Head of a module.", 18),
            ("inside", "Doc of it.", 20),
            ("inside", "Two kinds here.", 21),
            ("inside", "Deeper: another paragraph.", 22),
        ]
    )


def test_markers_code_and_addresses_in_comments_of_rust_are_no_prose(tmp_path: Path) -> None:
    file = tmp_path / "a.rs"
    file.write_text(
        "// SAFETY: the pointer is valid.\n// let mut a = b;\n// if a > b {\n//     a += 1;\n// }\n"
        "// send(a, b);\n\n// Two times (see https://a.b/c/d);\n// two places.\n"
        "\n/// Do it:\n///\n/// ```\n/// let a = of_it();\n/// ```\nfn a() {}\n"
    )
    assert [sentence.text for _, sentence in prose.of_rust(file, "a.rs")] == snapshot(
        ["the pointer is valid.", "Two times (see `x`); two places.", "Do it:"]
    )


def test_a_document_fails_only_above_its_goal_and_its_baseline() -> None:
    read = list(split("What is stored is a run. It ends.", "a.md", 7))
    assert prose.measures(read)["clauses"] == 50
    assert not list(prose.failures(read, {"clauses": 50.0}))
    head, blamed = prose.failures(read, {"clauses": 40.0})
    assert head == "clauses 50, at most 40"
    assert "a.md:7: What: What is stored is a run." in blamed


def test_accepting_lowers_the_baseline_and_never_raises_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = {"a.md": list(split("What is stored is a run.", "a.md", 1))}
    monkeypatch.setattr(prose, "documents", lambda: read)
    monkeypatch.setattr(prose, "BASELINE", tmp_path / "prose.json")
    prose.BASELINE.write_text('{"a.md": {"clauses": 40.0, "words": 9.0}}')
    assert prose.main(["--accept"]) == 1
    assert json.loads(prose.BASELINE.read_text()) == {"a.md": {"clauses": 40.0, "words": 6.0}}


def _texts(sentences: Iterable[Sentence]) -> list[tuple[str, int]]:
    return [(sentence.text, sentence.line) for sentence in sentences]


def test_strings_of_rust_are_prose_without_code_and_without_tests() -> None:
    text = (
        '// "a comment is no string"\n#[error("{key} cannot be \\\n    {value} in ns; valid: 1")]\n'
    )
    text += (
        'let quote = \'"\';\nlet name = "initial_window";\nlet raw = r#"what an option does"#;\n'
    )
    text += '#[cfg(test)]\nmod tests {\n    panic!("what a test prints is for us");\n}\n'
    assert _texts(prose_strings.of_rust_strings(text, "a.rs")) == snapshot(
        [("`x` cannot be `x` in ns; valid: 1", 2), ("What an option does", 6)]
    )


def test_adjacent_literals_of_c_are_one_string() -> None:
    text = '#include "cc.h"\n/* "not this one" */\nP(beta, "1/1024", 819, \\\n  "share of the window " \\\n'
    text += '  "that %s keeps", "Linux")\nchar quote = \'"\';\n'
    assert _texts(prose_strings.of_c_strings(text, "a.c")) == snapshot(
        [("Share of the window that `x` keeps", 4)]
    )


def test_help_texts_are_read_with_their_parts() -> None:
    text = 'run = Option(\n    help=f"How {many} runs are made at once, " "by default one."\n)\n'
    assert _texts(prose_strings.of_help(text, "a.py")) == snapshot(
        [("How `x` runs are made at once, by default one.", 2)]
    )


def test_titles_of_toml_are_apart_and_quotations_are_left_out() -> None:
    text = '[[claim]]\ntitle = "How two windows move"\nquote = "what the authors wrote"\n'
    text += "[[finding]]\ntext = '''\nBoth flows share the path. One `x` leads.'''\n"
    read = prose_strings.of_toml(text, "a.toml")
    kinds = [(kind, sentence.text, sentence.line) for kind, sentence in read]
    assert kinds == snapshot(
        [
            ("titles", "How two windows move", 2),
            ("texts", "Both flows share the path.", 6),
            ("texts", "One `x` leads.", 6),
        ]
    )


def test_comments_of_toml_are_read_in_blocks() -> None:
    text = "# The first sentence of a\n# block. What follows is another.\nkey = 1  # not this one\n"
    assert _texts(prose_strings.of_hash_comments(text, "a.toml")) == snapshot(
        [("The first sentence of a block.", 1), ("What follows is another.", 2)]
    )


def test_the_help_of_a_makefile_is_one_text_a_target() -> None:
    text = "help:\n\t@echo 'make test   every test of the project'\n"
    text += "\t@echo '           and one line more'\n\t@echo 'make clean   remove all'\n"
    assert _texts(prose_strings.of_makefile(text, "Makefile")) == snapshot(
        [("Every test of the project and one line more", 1)]
    )


def test_comments_and_strings_of_a_script_are_read() -> None:
    text = '"use strict";\n\n// What a run has,\n// in short.\nconst NAME = "one"; // behind code\n'
    text += 'show("What a page shows");\nshow(`${runs.map((run) => `${run}s`)} of all runs`);\n'
    read = prose_pages.of_script(text, "a.js")
    kinds = [(kind, sentence.text, sentence.line) for kind, sentence in read]
    assert kinds == snapshot(
        [
            ("comments", "What a run has, in short.", 3),
            ("texts", "What a page shows", 6),
            ("texts", "`x` of all runs", 7),
        ]
    )


def test_visible_texts_of_a_template_are_read() -> None:
    text = "{# The list of\n   runs. #}\n<style>.what is this { }</style>\n"
    text += '<p title="What a hint tells">See <a href="x">all\nruns</a> of <code>x y</code>: {{ count }}.</p>\n'
    text += '<td>{% if a > b %}No runs here{% else %}Some runs{% endif %}</td>{{ "no run is there" if c }}\n'
    read = prose_pages.of_template(text, "a.j2")
    kinds = [(kind, sentence.text, sentence.line) for kind, sentence in read]
    assert kinds == snapshot(
        [
            ("comments", "The list of runs.", 1),
            ("texts", "No run is there", 6),
            ("texts", "What a hint tells", 4),
            ("texts", "See all runs of `x`: `x`.", 4),
            ("texts", "No runs here", 6),
            ("texts", "Some runs", 6),
        ]
    )
