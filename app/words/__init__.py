"""What the server writes for the page, in English: constants, and functions of plain values, by room. `server.json`
of a language (`assets/text/LANG`) has the sentences that visitors read."""
