"""One harness for everything that is measured; a command or a study is a short file over it.

    timed.py           cells in turn, medians with intervals, a record of a cost
    whole_run.py       a run to its end
    tally.py           ratios over texts with bootstrap intervals
    teacher_forced.py  rows of two levels along a text, last states, first choices
    texts/             what a target writes after many prompts
    results/           raw files, tables, sentences

What is measured is asked of the level: `over_target` (it stands on the target's own work), `views` (it only looks),
`riding` (what rides in a verification of its drafts), `layers`, `fed`, `can_verify`. A system's studies are files
`study.py` in its folder, its commands `command.py` (`cli/depth.py` says what such a file has).
"""
