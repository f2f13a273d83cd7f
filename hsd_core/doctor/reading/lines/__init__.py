"""Figures out of lines: `figures` by name and unit, `forms` what engines call them, `log_lines` whose they are."""
