"""What comes in from the network: what is let in, checked, counted and headed before Gradio sees it.

What could be tried, and what answers it:

Files of this machine, by paths, encoded or not: nothing is served from outside the app's folders. `kit/static.py`
serves `assets` by a list made at the start; recordings, races and results go by names of that list; Gradio's own routes
for files, uploads and proxies are closed (`guard.py`).

Weights, databases or folders of the server, by a stack or a preset: only what the operator offers can be named
(`serve/settings.py`, `check`). Weights are safetensors or GGUF, never pickles, and no code of theirs runs.

Requests that are large, slow, nested or many: bounds apply before anything is parsed, each is refused in one sentence,
and the log stays quiet.

Figures of the server, or a guessed key: `/health` and `/metrics` answer this machine alone, or who has a key of 16
characters or more, which is compared in constant time.

A web page elsewhere that calls in a visitor's name, frames the page, or points a name of its own at it: other origins
may not call, only listed ones may frame, and a local server answers to local names.

A damaged or vast trace, or text that is markup: files are read in a process with bounds and checked against the trace's
own identities. Text is shown as text only, under a strict content security policy.

An MCP client with arguments of wrong kinds, or calls left behind: the tools are the named endpoints and pass the same
checks. A run ends with its call's connection, and only the session that made a call can cancel it.

A learner who wants to lead, or to see answers: every request is looked up by a cookie that no script reads. The
instructor's key is 24 random characters, printed once, in no log. One answer counts per browser.

A learner who guesses the code or the key: from the ninth wrong guess of an address on it waits 2, 4, ... 30 s, and
everybody waits after 60. Whoever is in stays in. Behind one address, one who guesses can hold up the others that long.

The instructor's key in wrong hands: what is sent is parameters of this page alone, at most 32,500 characters. Start the
server again for another key.

Somebody who listens in the room's network: a LAN without certificates is plain HTTP, so cookies and codes can be read.

An engine that is taken down, or kept for oneself: it is another process and starts again, two fatal tries of one
request at most, and the queue is fair.
"""
