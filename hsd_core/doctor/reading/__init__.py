"""Texts as counts: `inputs` takes any text; `pasted_text`, `headings` and `figures` find what stands in it; `forms`,
`log_lines`, `engine_logs`, `free_lines` and `table_rows` read lines, `replies` JSON, `scrapes` metrics; `printed` makes
counts of figures, `counts` adds them up.
"""
