"""The real clock: each lane is a process of its own, with one thread on one core.

    driver (parent) --Draft, Score, Keep, Observe-->  lane's process: builds its levels, runs one request at a time
                    <--Drafted, Scored, ...---------  tokens, and rows where they are looked at

    lane_messages.py    what crosses
    lane_process.py     the process: started as a module, never forked
    spawned_lane.py     the process as its parent has it
    remote_run.py       a level's state in one run, as the driver has it while it is kept there
    lane_pair.py        both lanes on one clock, which goes on while one of them is at work

Rules, choices and the trace stay with the driver, so that nothing is decided twice; a drafter's own choices are made
where it drafts, by the same keys.
"""
