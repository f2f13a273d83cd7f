"""Would this draft pay below that target? Answered before anybody rents a GPU.

`fit`: do their tokenizers agree. `forced`: how often the target accepts, over texts. `pair_costs`: passes of both, by
size and by a short measurement. `pair_verdict`: what all of it says.
"""
