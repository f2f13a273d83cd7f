"""From texts to counts: `inputs` takes any text; `pasted_text`, `headings` and `figures` split it up; `forms`,
`log_lines`, `engine_logs`, `free_lines` and `table_rows` read lines, `replies` JSON, `scrapes` metrics; `printed`
derives counts from figures, `counts` adds them up.
"""
