"""A class: a room that learners join by a code, and whose screens the instructor leads. Everything is in memory."""
