"""What a running engine prints of its speculation, read, turned into a profile and diagnosed.

`reading/`: from vLLM's, llama.cpp's, SGLang's and transformers' outputs to counts. `draft_profile`: acceptance by
position and times, with intervals, and what is missing. Texts and numbers only: no weights, no network.
"""
