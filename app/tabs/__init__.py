"""The tabs of the page. A tab is a name in `NAMES` and two folders of that name.

`app/tabs/NAME/view.py` has `TITLE`, which the tab bar shows, `build(play, shipped)`, which adds the tab's components to
the Blocks that is open, and `routes(shipped)`, what its scripts ask for. `assets/js/tabs/NAME/NAME.js` has `mount`,
which fills them. The server, the page without a server and its links go by this list.
"""

NAMES = ("explore", "race", "planner", "learn", "results", "atlas")  # in the order of the tab bar
