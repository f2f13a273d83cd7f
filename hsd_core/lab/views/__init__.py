"""What a part of a cache is worth: `view_study` measures it, `views_report` says from which length on it pays."""
