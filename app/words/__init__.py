"""What the server writes for the page, in English: constants, and functions of plain values, by room. A translator
rewrites this folder and the folders `words` of assets/js."""
