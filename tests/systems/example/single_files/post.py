"""A scheduler: told the counts whenever a lane has ended what it did, it says which lane starts what."""

from hsd_core.grammar.strategies import Orders, SchedulerKind, Submission


class PostVerify:  # PEARL without its pre-verify: after a rejection the verifier waits for a whole block
    def ended(self, view):
        if view.drafting or view.verifying:
            return Orders()
        if not view.undecided and not view.silent:
            return Orders(view.room)
        draft = 0 if view.silent else view.room
        return Orders(draft, Submission(view.undecided, next=draft > 0))


SCHEDULERS = (SchedulerKind(name="post", order=25, words="post · wait for a block, then as pearl", make=PostVerify),)
