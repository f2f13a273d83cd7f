"""Measuring a server of another engine (llama.cpp, vLLM, SGLang): the same prompts at several draft lengths.

`server`: the HTTP client, and starting a server here. `engine_requests`: start commands, and the counts of a reply.
`length_sweep`: all lengths, stored after every prompt, and the advice.
"""
