"""What the server writes for the page, in English: constants, and functions of plain values, by room. A translator
rewrites this folder and assets/js/words."""
