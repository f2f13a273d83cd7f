"""Commands that measure, and that plan with what was measured."""
