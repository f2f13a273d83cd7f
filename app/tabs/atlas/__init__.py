"""The Atlas tab: every system of the field that this project knows, a data file each."""
