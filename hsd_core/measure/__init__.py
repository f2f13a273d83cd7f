"""One harness for all measurements; a command or a study is a short file over it.

    timed.py           tasks timed in rotating order, the record of a cost
    intervals.py       ratios over texts, medians and means with 95 % intervals
    teacher_forced.py  rows of two levels along a text, last states, first choices
    texts/             a target's outputs after many prompts; a run to its end
    rawfile.py         files of raw results
    tables.py          Markdown tables and their cells
    results.py         tables and sentences from raw results, in Markdown files

How a level is measured follows from its attributes: `over_target` (it needs a target that reads the same text), `views`
(it only reads the target's cache), `window_probes` (probes in the verifications of its drafts), `layers`, `fed`,
`can_verify`. A system's studies are in its `study.py`, its commands in its `command.py` (see `cli/depth.py`).
"""
