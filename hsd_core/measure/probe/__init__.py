"""Measuring a server of another engine (llama.cpp, vLLM, SGLang): the same prompts at several draft lengths.

`start_commands`: how each is started for that. `http_server`: asking it. `one_prompt`: what one reply tells.
`length_sweep`: all lengths, kept after every prompt. `local_server`: one that is started here. `advice`: what follows,
and how good it is.
"""
