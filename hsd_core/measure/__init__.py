"""One harness for everything that is measured; a command or a study is a short file over it.

    timed.py           cells in turn, a record of a cost
    intervals.py       ratios over texts, medians and means with 95 % intervals
    teacher_forced.py  rows of two levels along a text, last states, first choices
    texts/             what a target writes after many prompts; a run to its end
    rawfile.py         raw results as files
    tables.py          Markdown tables and their cells
    results.py         tables and sentences of raw results, in Markdown files

What is measured is asked of the level: `over_target` (it stands on the target's own work), `views` (it only looks),
`riding` (what rides in a verification of its drafts), `layers`, `fed`, `can_verify`. A system's studies are files
`study.py` in its folder, its commands `command.py` (`cli/depth.py` says what such a file has).
"""
