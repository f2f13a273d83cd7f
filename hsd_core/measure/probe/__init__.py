"""Measuring a server of another engine (llama.cpp, vLLM, SGLang): the same prompts at several draft lengths.

`server`: asking it, starting one here. `engine_requests`: start commands, and what one reply tells. `length_sweep`: all
lengths, kept after every prompt, and what follows.
"""
