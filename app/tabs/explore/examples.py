"""Example prompts of our own writing: one for each kind of text that drafts well or badly.

Those with `first` stand below the prompt. Their answers, as the model of 135 M parameters writes them, end within the
usual number of tokens and do not go round in circles.
"""

from __future__ import annotations

from typing import Any

EXAMPLES: tuple[dict[str, Any], ...] = (
    {
        "title": "A palindrome",
        "note": "a few lines of code, then what they do",
        "prompt": "Write a Python function that says whether a word is a palindrome.",
        "first": True,
    },
    {
        "title": "A query in SQL",
        "note": "code, and a sentence that says it again",
        "prompt": "Write a SQL query that lists the names of all customers from Lisbon.",
        "first": True,
    },
    {
        "title": "Autumn leaves",
        "note": "a short answer that ends",
        "prompt": "Why do leaves change colour in autumn? Answer in three sentences.",
        "first": True,
    },
    {
        "title": "Photosynthesis",
        "note": "one sentence out of a schoolbook",
        "prompt": "What is photosynthesis? Answer in two sentences.",
        "first": True,
    },
    {
        "title": "Write code",
        "note": "regular, so cheap levels guess well",
        "prompt": "Write a Python function that counts the vowels in a string.",
    },
    {
        "title": "Explain",
        "note": "a short answer that ends",
        "prompt": "Why is the sea salty? Answer in two sentences.",
    },
    {
        "title": "Translate",
        "note": "copies names and numbers",
        "prompt": (
            "Translate into French: The ferry to Oban leaves at a quarter past nine, and the next one not before noon."
        ),
    },
    {
        "title": "Summarise",
        "note": "reuses the words of its source",
        "prompt": (
            "Summarise in two sentences: The town library moved last spring from the old grain store to the railway "
            "station. Since the move, the number of visitors has doubled, mostly because commuters return their books "
            "on the way to work. The grain store now houses a workshop where bicycles are mended free of charge. The "
            "council pays for both with the rent of the station café."
        ),
    },
    {
        "title": "Do the sum",
        "note": "every digit matters; a small model gets it wrong",
        "prompt": (
            "A baker sells 14 loaves at 3 euros and 9 loaves at 4 euros. The flour cost 21 euros. How much is left? "
            "Show each step."
        ),
    },
    {
        "title": "Chat",
        "note": "free text is the hardest to draft",
        "prompt": "My cat watches the washing machine for a whole hour. What might she be thinking?",
    },
    {
        "title": "Repeat this text",
        "note": "an n-gram level should shine",
        "prompt": (
            "Copy this poem twice, word for word: The rain came down on the old grey town, and the lamps were lit on "
            "the hill. The bell rang nine and the streets were fine, and the harbour lay quite still."
        ),
    },
    {
        "title": "Many scripts",
        "note": "partial characters, emoji, right to left; goes in circles",
        "prompt": "Say good morning in Greek, Japanese, Arabic and Hebrew, one per line, and end each line with 🌅.",
    },
)

# Long prompts: a question, and the beginning of a text that is shipped (`long_texts`); characters: of it.
LONG_EXAMPLES: tuple[dict[str, Any], ...] = (
    {
        "name": "constitution",
        "title": "A long text",
        "note": "the beginning of the Constitution of the United States, some 6,000 tokens",
        "ask": "Who may declare war, according to the following text?",
        "file": "assets/prompts/long/texts.jsonl",
        "category": "prose",
        "characters": 27_000,
    },
)
